// Every recipe on a server that behaves as ClickHouse Keeper does: it resumes no session, and closes the connection at an
// operation that it lacks.
import { expect } from 'chai'
import { supervise, ZooKeeperError, type Client, type Dial } from '../../src/index.ts'
import { Cache, Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { pause } from '../../src/runtime/pause.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { constructions } from './constructions.ts'

/** The last version without most operations of ZooKeeper 3.5 and 3.6, the first one with them, and the first with containers. */
const versions = ['25.8', '25.12', '26.7']

/** Sessions that end at an operation before all is known: one for each operation that the server lacks and a recipe needs. */
const MOST_SESSIONS = 7

describe('on ClickHouse Keeper', () => {
  let virtual: VirtualServer

  const start = async (keeper: string) => {
    virtual = await VirtualServer.start({ keeper, client: { random: seededRandom(1) } })
  }

  /** Returns how many sessions the task needed. */
  const sessionsOf = async (
    task: (client: Client, signal: AbortSignal) => Promise<unknown>,
    dial = virtual.server.dial,
  ): Promise<number> => {
    let sessions = 0
    await virtual.until(
      supervise(virtual.server.connectString, { ...virtual.options, dial }, (client, signal) => {
        if (++sessions > MOST_SESSIONS) throw new Error('the task is never done')
        return task(client, signal)
      }),
      { within: 600_000 },
    )
    return sessions
  }

  afterEach(() => virtual.close())

  for (const version of versions) {
    for (const [name, { options: given, make, use }] of Object.entries(constructions))
      it(`${version}: ${name} works`, async () => {
        await start(version)
        await sessionsOf((client, signal) => {
          signal.throwIfAborted()
          return use(make(client, given as never, '/recipe') as never, client)
        })
      })

    it(`${version}: Cache works`, async () => {
      await start(version)
      await sessionsOf(async (client, signal) => {
        for (const name of ['a', 'b', 'c']) await client.ensurePath(`/tree/${name}`)
        await using cache = new Cache(client, '/tree')
        await cache.ready
        await client.setData('/tree/a', 'new')
        await Promise.all(['b', 'c'].map(name => client.delete(`/tree/${name}`)))
        const isNew = () => String(cache.get('/tree/a')?.data) === 'new' && cache.get('/tree/c') === undefined
        while (!isNew()) {
          signal.throwIfAborted()
          await pause(virtual.clock, 10, signal)
        }
      })
    })

    it(`${version}: several reads in one request have the errors of those that fail`, async () => {
      await start(version)
      await sessionsOf(async client => {
        const results = await client.multiRead([{ getChildren: '/' }, { getData: '/missing' }])
        const codes = results.map(each => (each instanceof ZooKeeperError ? each.code : 'read'))
        expect(codes).to.deep.equal(['read', 'NONODE'])
      })
    })

    it(`${version}: what the server lacks is known to later sessions of the process, and to no other server`, async () => {
      await start(version)
      const task = (client: Client) => new Mutex(client, '/locks/a').use(() => undefined)
      const [first, second] = [await sessionsOf(task), await sessionsOf(task)]
      expect([first > 1, second]).to.deep.equal([version !== '26.7', 1])
      await virtual.server.close()
      virtual.server = await Server.start({ listen: false, clock: virtual.clock })
      await sessionsOf(client => client.create('/jobs', '', { mode: 'container' }))
      expect(virtual.server.snapshot().nodes.get('/jobs')?.kind).to.deep.equal({ is: 'container' })
    })

    it(`${version}: a session is closed on its only connection, once a session of the process was replaced`, async () => {
      await start(version)
      const { server } = virtual
      let connections = 0
      const dial: Dial = (address, handler) => (connections++, server.dial(address, handler))
      await sessionsOf(client => client.exists('/a'), dial)
      // The first close finds out that no connection can have the session.
      expect(connections).to.equal(2)
      await sessionsOf(client => client.exists('/a'), dial)
      expect(connections).to.equal(3)
      expect(virtual.server.snapshot().sessions).to.deep.equal([])
    })

    it(`${version}: a cancelled watch ends no session once that is known`, async () => {
      await start(version)
      const cancel = async (client: Client) => {
        await client.exists('/a')
        const { signal, abort } = aborting()
        await client.getData('/', { watch: () => undefined, signal })
        abort()
        await client.settled()
        await client.exists('/a')
      }
      await sessionsOf(cancel)
      expect(await sessionsOf(cancel)).to.equal(1)
    })
  }
})

function aborting(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
