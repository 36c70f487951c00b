// `zkwire import` while requests and replies are lost, and while another client writes to the nodes of the input.
import { expect } from 'chai'
import { openACL, perms, type Client } from '../../../src/index.ts'
import { type Server, type Fault, type FaultKind, type ServerOptions } from '../../../src/server/index.ts'
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { trackSettled } from '../../support/settled.ts'
import { VirtualEnsemble } from '../../support/virtual-ensemble.ts'
import { VirtualServer } from '../../support/virtual-server.ts'
import { inProcess } from './in-process.ts'

const lines = [{ path: '/a', data: 'new' }, { path: '/a/b', data: 'new' }, { path: '/a/c', data: 'new' }, { nodes: 3 }]
const input = lines.map(line => `${JSON.stringify(line)}\n`)

/** What an import has printed, and the nodes that it leaves. */
interface Result {
  out: string
  status: number
  nodes: string[]
}

interface World {
  server: Server
  clock: VirtualClock
  /** Another client. */
  zk: Client
}

/** Imports into /a, of which /a/c and /a/gone exist already. */
async function importInto(
  args: readonly string[],
  disturb: (world: World) => unknown = () => undefined,
  options: ServerOptions = {},
): Promise<Result> {
  await using virtual = await VirtualServer.start(options)
  const { server, clock } = virtual
  const zk = await virtual.open()
  for (const path of ['/a', '/a/c', '/a/gone']) await clock.until(zk.create(path, 'old'))
  await clock.until(zk.setACL('/a/c', [...openACL, ...openACL]))
  const { run } = await inProcess(server)
  disturb({ server, clock, zk })
  const importing = run(['import', ...args], { input, clock })
  const hasEnded = trackSettled(importing)
  // The program loads its modules in real time, so the end of the import is not bound to a virtual time.
  while (!hasEnded()) await clock.advance(10)
  const { status, out } = await importing
  server.faults.clear()
  const { nodes } = server.snapshot()
  const below = [...nodes].filter(([path]) => path !== '/').map(([path, { data }]) => `${path} ${String(data)}`)
  return { status, out, nodes: below }
}

const kinds: readonly Exclude<FaultKind, 'event'>[] = [
  ...(['exists', 'create', 'multi', 'setData', 'getACL', 'setACL'] as const),
  ...(['sync', 'getChildren', 'delete'] as const),
]

describe('zkwire import', () => {
  for (const how of ['--skip', '--overwrite', '--mirror'])
    for (const fault of ['drop', 'ignore'] as const)
      it(`${how} does the same if ${fault === 'drop' ? 'a reply' : 'a request'} is lost, whichever it is`, async () => {
        const expected = await importInto([how])
        expect(expected.status).to.equal(0)
        let count = 0
        for (const kind of kinds)
          for (let [nth, goesOn] = [1, true]; goesOn; nth++) {
            let planned: Fault | undefined
            const result = await importInto([how], ({ server }) => (planned = server.faults[fault](kind, { nth })))
            expect(result, `${kind} ${nth}`).to.deep.equal(expected)
            goesOn = await (planned as Fault).triggered.then(
              () => true,
              () => false,
            )
            if (goesOn) count++
          }
        expect(count, 'lost frames').to.be.at.least(4)
      })

  for (const how of ['--skip', '--overwrite'])
    it(`${how} gives up if a write is lost ten times`, async () => {
      let lost = 0
      const result = await importInto([how], ({ server: { faults } }) => {
        const lose = () => {
          const { triggered } = faults.ignore(how === '--skip' ? 'create' : 'multi')
          void triggered.then(
            () => {
              lost++
              lose()
            },
            () => undefined,
          )
        }
        lose()
      })
      expect([result.status, lost]).to.deep.equal([69, 10])
    })

  const foreign: Readonly<Record<string, (zk: Client) => Promise<unknown>>> = {
    'creates a node of the input': zk => zk.create('/a/b', 'foreign'),
    'deletes a node of the input': zk => zk.delete('/a/c'),
    'deletes one and creates another': zk => zk.multi([{ delete: '/a/c' }, { create: '/a/b', data: 'foreign' }]),
  }
  const left: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
    '--skip': {
      'creates a node of the input': ['/a old', '/a/b foreign', '/a/c old', '/a/gone old'],
      'deletes a node of the input': ['/a old', '/a/b new', '/a/gone old'],
      'deletes one and creates another': ['/a old', '/a/b foreign', '/a/c new', '/a/gone old'],
    },
  }
  for (const how of ['--skip', '--overwrite', '--mirror'])
    for (const [what, write] of Object.entries(foreign))
      it(`${how} plans a batch again if another client ${what} after it was planned`, async () => {
        const result = await importInto([how], ({ server, zk }) => {
          const planned = server.faults.hold('exists', { nth: 3 })
          void planned.triggered.then(async () => {
            await write(zk)
            planned.release()
          })
        })
        const all = ['/a new', '/a/b new', '/a/c new']
        const expected = left[how]?.[what] ?? (how === '--mirror' ? all : [...all, '/a/gone old'])
        expect(result.nodes).to.deep.equal(expected)
        expect(result.status).to.equal(0)
      })

  it('--mirror deletes a node that another client creates last, although the server of the import lags behind', async () => {
    const ensemble = await VirtualEnsemble.start()
    const { leader, others, clock, server } = ensemble
    const [follower] = others
    const zk = await ensemble.openAt([leader])
    for (const path of ['/a', '/a/b', '/a/c']) await ensemble.until(zk.create(path, 'old'))
    // The last reply before the mirror reads the tree.
    const reading = follower.faults.hold('getACL', { nth: 3 })
    void reading.triggered.then(async () => {
      follower.lag(500)
      await zk.create('/a/gone', 'foreign')
      reading.release()
    })
    const { run } = await inProcess({ connectString: follower.connectString, dial: server.dial })
    const importing = run(['import', '--mirror'], { input, clock })
    const hasEnded = trackSettled(importing)
    while (!hasEnded()) await clock.advance(10)
    expect((await importing).out).to.equal('create 0, overwrite 3, skip 0, remove 1, keep 0\n')
    expect((await ensemble.until(zk.getChildren('/a'))).children).to.have.members(['b', 'c'])
    await ensemble.close()
  })

  for (const version of ['3.8.0', '3.9.2'])
    it(`--skip leaves a node alone that it may not read, on a server of version ${version}`, async () => {
      const hide = ({ zk }: World) => zk.setACL('/a/c', [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }])
      const { status, nodes } = await importInto(['--skip'], hide, { version })
      expect([status, nodes]).to.deep.equal([0, ['/a old', '/a/b new', '/a/c old', '/a/gone old']])
    })
})
