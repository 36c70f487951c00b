// The error that a server returns for a request with more than one mistake.
import { expect } from 'chai'
import { aclOf, digest } from '../../../src/index.ts'
import { errnos, operations, type ACL, type ServerErrorCode } from '../../../src/protocol/index.ts'
import type { WireSession } from '../../support/wire-session.ts'
import { errOf, openACL, suite } from '../suite.ts'

type Send = (session: WireSession, at: (path: string) => string) => Promise<number>

const create =
  (path: string, { flags = 0, acl = openACL }: { flags?: number; acl?: readonly ACL[] | null } = {}): Send =>
  (session, at) =>
    errOf(session, operations.create2, { path: at(path), data: '', acl, flags })
const remove =
  (path: string, version = -1): Send =>
  (session, at) =>
    errOf(session, operations.delete, { path: at(path), version })
const setData =
  (path: string, version = -1): Send =>
  (session, at) =>
    errOf(session, operations.setData, { path: at(path), data: '', version })
const setACL =
  (path: string, acl: readonly ACL[] | null, version = -1): Send =>
  (session, at) =>
    errOf(session, operations.setACL, { path: at(path), acl, version })
const check =
  (path: string, version = -1): Send =>
  (session, at) =>
    errOf(session, operations.check, { path: at(path), version })
const read =
  (name: 'getData' | 'getChildren' | 'getChildren2', path: string): Send =>
  (session, at) =>
    errOf(session, operations[name] as typeof operations.getData, { path: at(path), watch: true })

const noACL: readonly ACL[] = []
const badACL = [aclOf('nonsense', 'x')]

/** The nodes are /closed, which has a child and grants no permission; /open, which has a child; and /ephemeral. */
const rows: readonly [code: ServerErrorCode, title: string, send: Send][] = [
  ['BADARGUMENTS', 'create: unknown flags', create('/closed/child', { flags: 7, acl: noACL })],
  [
    'BADARGUMENTS',
    'create: a path without a parent',
    (session, at) => create('', { acl: noACL })(session, () => at('').slice(1)),
  ],
  ['INVALIDACL', 'create: an empty ACL, and no parent', create('/nothing/a', { acl: noACL })],
  ['INVALIDACL', 'create: no ACL', create('/a', { acl: null })],
  ['INVALIDACL', 'create: an ACL with an unknown scheme, and the node exists', create('/open', { acl: badACL })],
  ['NONODE', 'create: no parent', create('/nothing/a')],
  ['NONODE', 'create: no parent, and an invalid name', create('/nothing/..')],
  ['NOAUTH', 'create: no permission, and the node exists', create('/closed/child')],
  ['NOAUTH', 'create: no permission, and an invalid name', create('/closed/.')],
  ['BADARGUMENTS', 'create: an invalid name', create('/open/.')],
  ['BADARGUMENTS', 'create: an empty name', create('/open/')],
  ['NODEEXISTS', 'create: the node exists', create('/open')],
  ['NOCHILDRENFOREPHEMERALS', 'create: the parent is ephemeral', create('/ephemeral/a')],
  ['NONODE', 'delete: no parent, and a wrong version', remove('/nothing/a', 5)],
  ['NOAUTH', 'delete: no permission, and no node', remove('/closed/nothing')],
  ['NONODE', 'delete: no node, and a wrong version', remove('/nothing', 5)],
  ['BADVERSION', 'delete: a wrong version, and the node has children', remove('/open', 5)],
  ['NOTEMPTY', 'delete: the node has children', remove('/open')],
  ['NOTEMPTY', 'delete: no permission to read, and the node has children', remove('/closed')],
  ['NONODE', 'setData: no node, and a wrong version', setData('/nothing', 5)],
  ['NOAUTH', 'setData: no permission, and a wrong version', setData('/closed', 5)],
  ['BADVERSION', 'setData: a wrong version', setData('/open', 5)],
  ['BADARGUMENTS', 'setData: an invalid path', setData('/open/')],
  ['INVALIDACL', 'setACL: an empty ACL, and no node', setACL('/nothing', noACL)],
  ['INVALIDACL', 'setACL: an unknown scheme, and no permission', setACL('/closed', badACL, 5)],
  ['INVALIDACL', 'setACL: no ACL', setACL('/open', null)],
  ['NONODE', 'setACL: no node, and a wrong version', setACL('/nothing', openACL, 5)],
  ['NOAUTH', 'setACL: no permission, and a wrong version', setACL('/closed', openACL, 5)],
  ['BADVERSION', 'setACL: a wrong version', setACL('/open', openACL, 5)],
  ['NONODE', 'check: no node, and a wrong version', check('/nothing', 5)],
  ['NOAUTH', 'check: no permission to read, and a wrong version', check('/closed', 5)],
  ['BADVERSION', 'check: a wrong version', check('/open', 5)],
  ...(['getData', 'getChildren', 'getChildren2'] as const).flatMap((name): [ServerErrorCode, string, Send][] => [
    ['NONODE', `${name}: no node`, read(name, '/nothing')],
    ['NOAUTH', `${name}: no permission`, read(name, '/closed')],
    ['NONODE', `${name}: an invalid path`, read(name, '/open/')],
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
  ['NOAUTH', 'getACL: no permission', (session, at) => errOf(session, operations.getACL, { path: at('/closed') })],
  ['NONODE', 'getACL: no node', (session, at) => errOf(session, operations.getACL, { path: at('/nothing') })],
  [
    'NOAUTH',
    'getAllChildrenNumber: no permission',
    (session, at) => errOf(session, operations.getAllChildrenNumber, { path: at('/closed') }),
  ],
  [
    'NONODE',
    'getAllChildrenNumber: no node',
    (session, at) => errOf(session, operations.getAllChildrenNumber, { path: at('/nothing') }),
  ],
  [
    'NOWATCHER',
    'removeWatches: no watch',
    (session, at) => errOf(session, operations.removeWatches, { path: at('/open'), type: 3 }),
  ],
  [
    'NOWATCHER',
    'checkWatches: no watch',
    (session, at) => errOf(session, operations.checkWatches, { path: at('/open'), type: 3 }),
  ],
  [
    'MARSHALLINGERROR',
    'removeWatches: an unknown type',
    (session, at) => errOf(session, operations.removeWatches, { path: at('/open'), type: 9 }),
  ],
  [
    'MARSHALLINGERROR',
    'addWatch: an unknown mode',
    (session, at) => errOf(session, operations.addWatch, { path: at('/open'), mode: 9 }),
  ],
]

export const errors = suite('errors', it => {
  it('are returned in the server’s order if a request has several mistakes', async world => {
    const { zk } = world
    const session = await world.session()
    const owner = [aclOf('digest', digest('ann', 'secret'))]
    await zk.addAuth('digest', 'ann:secret')
    for (const path of ['/open', '/open/child', '/closed', '/closed/child']) await zk.create(path)
    await zk.create('/ephemeral', '', { mode: 'ephemeral' })
    await zk.setACL('/closed', owner)
    const results: string[] = []
    // A server with ZOOKEEPER-2623 closes the connection after a check outside a multi.
    const here = rows.filter(([, title]) => !title.startsWith('check: ') || !world.has('ZOOKEEPER-2623'))
    for (const [, title, send] of here) {
      const err = await send(session, path => world.at(path))
      results.push(`${Object.entries(errnos).find(([, errno]) => errno === err)?.[0] ?? err} ${title}`)
    }
    expect(results).to.deep.equal(here.map(([code, title]) => `${code} ${title}`))
    expect((await zk.getChildren('/')).children, 'nothing has changed').to.have.members(['open', 'closed', 'ephemeral'])
  })
})
