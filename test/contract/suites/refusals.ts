// Where more than one thing is wrong: which of them the server says.
import { expect } from 'chai'
import { aclOf, digest } from '../../../src/index.ts'
import { errnos, operations, type ACL, type ServerErrorCode } from '../../../src/protocol/index.ts'
import type { WireSession } from '../../support/wire-session.ts'
import { chapter, errOf, openACL } from '../suite.ts'

type Say = (session: WireSession, at: (path: string) => string) => Promise<number>

const create =
  (path: string, { flags = 0, acl = openACL }: { flags?: number; acl?: readonly ACL[] | null } = {}): Say =>
  (session, at) =>
    errOf(session, operations.create2, { path: at(path), data: '', acl, flags })
const remove =
  (path: string, version = -1): Say =>
  (session, at) =>
    errOf(session, operations.delete, { path: at(path), version })
const setData =
  (path: string, version = -1): Say =>
  (session, at) =>
    errOf(session, operations.setData, { path: at(path), data: '', version })
const setACL =
  (path: string, acl: readonly ACL[] | null, version = -1): Say =>
  (session, at) =>
    errOf(session, operations.setACL, { path: at(path), acl, version })
const check =
  (path: string, version = -1): Say =>
  (session, at) =>
    errOf(session, operations.check, { path: at(path), version })
const read =
  (name: 'getData' | 'getChildren' | 'getChildren2', path: string): Say =>
  (session, at) =>
    errOf(session, operations[name] as typeof operations.getData, { path: at(path), watch: true })

const noACL: readonly ACL[] = []
const badACL = [aclOf('nonsense', 'x')]

/** There are: /closed, of which nobody may do anything, with a child; /open, with a child; /ephemeral. */
const rows: readonly [said: ServerErrorCode, what: string, ask: Say][] = [
  ['BADARGUMENTS', 'create: flags that nobody knows', create('/closed/child', { flags: 7, acl: noACL })],
  [
    'BADARGUMENTS',
    'create: a path that has no parent',
    (session, at) => create('', { acl: noACL })(session, () => at('').slice(1)),
  ],
  ['INVALIDACL', 'create: a list for nobody, below nothing', create('/nothing/a', { acl: noACL })],
  ['INVALIDACL', 'create: no list at all', create('/a', { acl: null })],
  ['INVALIDACL', 'create: a list of who cannot be known, where there is a node', create('/open', { acl: badACL })],
  ['NONODE', 'create: below nothing', create('/nothing/a')],
  ['NONODE', 'create: below nothing, by a name that is none', create('/nothing/..')],
  ['NOAUTH', 'create: where one may not, and there is a node', create('/closed/child')],
  ['NOAUTH', 'create: where one may not, by a name that is none', create('/closed/.')],
  ['BADARGUMENTS', 'create: by a name that is none', create('/open/.')],
  ['BADARGUMENTS', 'create: by no name', create('/open/')],
  ['NODEEXISTS', 'create: where there is a node', create('/open')],
  ['NOCHILDRENFOREPHEMERALS', 'create: below an ephemeral node', create('/ephemeral/a')],
  ['NONODE', 'delete: below nothing', remove('/nothing/a', 5)],
  ['NOAUTH', 'delete: where one may not, and there is no node', remove('/closed/nothing')],
  ['NONODE', 'delete: no node', remove('/nothing', 5)],
  ['BADVERSION', 'delete: of another version, and there are children', remove('/open', 5)],
  ['NOTEMPTY', 'delete: what has children', remove('/open')],
  ['NOTEMPTY', 'delete: what may not be read, and has children', remove('/closed')],
  ['NONODE', 'setData: no node', setData('/nothing', 5)],
  ['NOAUTH', 'setData: where one may not, of another version', setData('/closed', 5)],
  ['BADVERSION', 'setData: of another version', setData('/open', 5)],
  ['BADARGUMENTS', 'setData: by a path that is none', setData('/open/')],
  ['INVALIDACL', 'setACL: a list for nobody, of no node', setACL('/nothing', noACL)],
  ['INVALIDACL', 'setACL: who cannot be known, where one may not', setACL('/closed', badACL, 5)],
  ['INVALIDACL', 'setACL: no list at all', setACL('/open', null)],
  ['NONODE', 'setACL: no node', setACL('/nothing', openACL, 5)],
  ['NOAUTH', 'setACL: where one may not, of another version', setACL('/closed', openACL, 5)],
  ['BADVERSION', 'setACL: of another version', setACL('/open', openACL, 5)],
  ['NONODE', 'check: no node', check('/nothing', 5)],
  ['NOAUTH', 'check: where one may not read, of another version', check('/closed', 5)],
  ['BADVERSION', 'check: of another version', check('/open', 5)],
  ...(['getData', 'getChildren', 'getChildren2'] as const).flatMap((name): [ServerErrorCode, string, Say][] => [
    ['NONODE', `${name}: no node`, read(name, '/nothing')],
    ['NOAUTH', `${name}: where one may not`, read(name, '/closed')],
    ['NONODE', `${name}: by a path that is none`, read(name, '/open/')],
  ]),
  [
    'NONODE',
    'exists: no node',
    (session, at) => errOf(session, operations.exists, { path: at('/nothing'), watch: false }),
  ],
  [
    'BADARGUMENTS',
    'exists: a zero byte',
    (session, at) => errOf(session, operations.exists, { path: at('/\0'), watch: false }),
  ],
  ['NOAUTH', 'getACL: where one may not', (session, at) => errOf(session, operations.getACL, { path: at('/closed') })],
  ['NONODE', 'getACL: no node', (session, at) => errOf(session, operations.getACL, { path: at('/nothing') })],
  [
    'NOAUTH',
    'getAllChildrenNumber: where one may not',
    (session, at) => errOf(session, operations.getAllChildrenNumber, { path: at('/closed') }),
  ],
  [
    'NONODE',
    'getAllChildrenNumber: no node',
    (session, at) => errOf(session, operations.getAllChildrenNumber, { path: at('/nothing') }),
  ],
  [
    'NOWATCHER',
    'removeWatches: none there',
    (session, at) => errOf(session, operations.removeWatches, { path: at('/open'), type: 3 }),
  ],
  [
    'NOWATCHER',
    'checkWatches: none there',
    (session, at) => errOf(session, operations.checkWatches, { path: at('/open'), type: 3 }),
  ],
  [
    'MARSHALLINGERROR',
    'removeWatches: of a type that nobody knows',
    (session, at) => errOf(session, operations.removeWatches, { path: at('/open'), type: 9 }),
  ],
  [
    'MARSHALLINGERROR',
    'addWatch: of a mode that nobody knows',
    (session, at) => errOf(session, operations.addWatch, { path: at('/open'), mode: 9 }),
  ],
]

export const refusals = chapter('refusals, the first that applies', it => {
  it('each', async world => {
    const { zk } = world
    const session = await world.session()
    const owner = [aclOf('digest', digest('ann', 'secret'))]
    await zk.addAuth('digest', 'ann:secret')
    for (const path of ['/open', '/open/child', '/closed', '/closed/child']) await zk.create(path)
    await zk.create('/ephemeral', '', { mode: 'ephemeral' })
    await zk.setACL('/closed', owner)
    const said: string[] = []
    for (const [, what, ask] of rows) {
      const err = await ask(session, path => world.at(path))
      said.push(`${Object.entries(errnos).find(([, errno]) => errno === err)?.[0] ?? err} ${what}`)
    }
    expect(said).to.deep.equal(rows.map(([code, what]) => `${code} ${what}`))
    expect((await zk.getChildren('/')).children, 'nothing is done').to.have.members(['open', 'closed', 'ephemeral'])
  })
})
