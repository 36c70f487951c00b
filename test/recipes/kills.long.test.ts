// The next waiter gets the lock in time when processes, servers or sessions end or nodes are deleted. A server ends a
// session after its timeout plus two ticks without a request, at the latest.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import type { Client } from '../../src/index.ts'
import { join, opcodes } from '../../src/protocol/index.ts'
import type { Held } from '../../src/recipes/index.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'
import { kinds, type Kind } from './locks/exclusive-kinds.ts'
import { SHORT_ATTEMPTS, Sessions } from './sessions.ts'

/** The holder's session timeout, ms. */
const T = 2000
/** The server's tickTime, ms. */
const TICK = 250
/** The session timeout of the waiters, ms: it must outlast a restart of the server. */
const WAITER_TIMEOUT = 30_000

describe('a lock of every kind', function () {
  this.timeout(60_000)
  const sessions = new Sessions()
  let server: ApacheZooKeeper
  let observer: Client
  let root: string
  let run = 0
  const holders: ChildProgram[] = []

  before(async () => {
    // The server deletes empty containers soon.
    server = await startApacheZooKeeper({
      config: { tickTime: TICK, maxSessionTimeout: WAITER_TIMEOUT },
      jvm: ['-Dznode.container.checkIntervalMs=100'],
    })
  })
  after(() => server.close())
  beforeEach(async () => {
    observer = await open()
    root = `/killed-${++run}`
    await observer.ensurePath(root)
  })
  afterEach(async () => {
    await Promise.all(holders.splice(0).map(holder => holder[Symbol.asyncDispose]()))
    await sessions.settled()
    const left = await Promise.all(kinds.map(kind => lockOf(kind, observer).contenders()))
    await sessions.close()
    expect(left.flat()).to.deep.equal([])
    expect(await server.watchCount()).to.equal(0)
  })

  const open = (sessionTimeout = WAITER_TIMEOUT) =>
    sessions.open(server.connectString, { sessionTimeout, ...SHORT_ATTEMPTS })
  const lockOf = ({ Lock }: Kind, client: Client) => new Lock(client, `${root}/${Lock.name}`)

  /**
   * Queues one session for each kind of lock and resolves when all wait. Each promise resolves with the hold and the
   * time of the grant.
   */
  async function waiters() {
    const granted: Promise<{ held: Held; at: number }>[] = []
    for (const kind of kinds) {
      const watches = await server.watchCount()
      const client = await open()
      granted.push(
        lockOf(kind, client)
          .acquire()
          .then(held => ({ held, at: performance.now() })),
      )
      await until(async () => (await server.watchCount()) > watches)
    }
    return granted
  }

  /** Expects that every waiter gets its lock within the timeout and two ticks. */
  async function expectGrants(granted: readonly Promise<{ held: Held; at: number }>[], since: number, timeout = T) {
    for (const { held, at } of await Promise.all(granted)) {
      expect(at - since, held.path).to.be.below(timeout + 2 * TICK + LOAD_ALLOWANCE)
      expect(held.signal.reason, held.path).to.equal(undefined)
      await held.release()
    }
  }

  /**
   * Deletes a subtree in one transaction, the newest nodes first. If a holder's node were deleted before the node of a
   * waiter that looks ahead, the waiter would be granted the lock and lose it at once.
   */
  async function deleteAtOnce(path: string) {
    const paths = [path]
    for (const parent of paths) {
      for (const name of (await observer.getChildren(parent)).children) paths.push(join(parent, name))
    }
    const nodes = await Promise.all(paths.map(async node => ({ node, stat: await observer.exists(node) })))
    // One transaction creates the two directories of a TicketMutex.
    const czxid = ({ stat }: (typeof nodes)[number]) => Number(stat?.czxid ?? 0)
    nodes.sort((a, b) => czxid(b) - czxid(a) || b.node.length - a.node.length)
    await observer.multi(nodes.map(({ node }) => ({ delete: node })))
  }

  /** Starts a process that holds a lock of every kind. */
  async function startHolder(): Promise<ChildProgram> {
    const script = fileURLToPath(new URL('holder-process.ts', import.meta.url))
    const args = ['--import', 'tsx', script, server.connectString, String(T), root]
    const holder = new ChildProgram(args)
    holders.push(holder)
    await until(() => holder.out !== '')
    return holder
  }

  it('is granted to the waiter when the holder’s process is killed', async () => {
    const holder = await startHolder()
    const granted = await waiters()
    await holder[Symbol.asyncDispose]()
    await expectGrants(granted, performance.now())
  })

  it('is granted to the waiter when the holder’s process and the server are killed and the server restarts', async () => {
    const holder = await startHolder()
    const granted = await waiters()
    await Promise.all([holder[Symbol.asyncDispose](), server.kill()])
    await server.start()
    await expectGrants(granted, performance.now())
  })

  it('stays with its holder when the server is killed and restarted', async () => {
    const client = await open()
    const all = await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = await waiters()
    await server.kill()
    await server.start()
    const since = performance.now()
    for (const held of all) {
      expect((await observer.retry(() => observer.exists(held.path)))?.czxid).to.equal(held.token)
      expect(held.signal.reason, held.path).to.equal(undefined)
      await held.release()
    }
    await expectGrants(granted, since, WAITER_TIMEOUT)
  })

  it('is granted to the waiter when the holder’s session is ended', async () => {
    const client = await open(T)
    await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = await waiters()
    await expireSession(server, client.sessionId, client.sessionPassword)
    await expectGrants(granted, performance.now())
  })

  it('is considered lost by a disconnected holder before the waiter gets it', async () => {
    const faultyDial = new FaultyDial()
    const client = await sessions.open(server.connectString, { sessionTimeout: T / 2, dial: faultyDial.dial })
    const all = await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = (await waiters()).map(async (granting, i) => {
      const { held } = await granting
      expect(all[i]?.validFor(), held.path).to.equal(0)
      expect(held.token > (all[i]?.token ?? held.token)).to.equal(true)
      return held
    })
    faultyDial.refuse()
    for (const held of await Promise.all(granted)) await held.release()
    faultyDial.accept()
    await Promise.all(all.map(held => held.release()))
  })

  it('is granted to the waiter when the holder’s node is deleted', async () => {
    const client = await open()
    const all = await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = await waiters()
    await Promise.all(all.map(({ path }) => observer.delete(path)))
    await expectGrants(granted, performance.now())
  })

  it('is granted to a waiter whose own node was deleted', async () => {
    const client = await open()
    const all = await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = await waiters()
    for (const kind of kinds.filter(({ isQueue }) => isQueue)) {
      const [, waiter] = await lockOf(kind, observer).contenders()
      await observer.delete(waiter?.path ?? '')
    }
    await Promise.all(all.map(held => held.release()))
    await expectGrants(granted, performance.now())
  })

  it('is granted to the waiter when all nodes are deleted', async () => {
    const client = await open()
    const all = await Promise.all(kinds.map(kind => lockOf(kind, client).acquire()))
    await client.settled()
    const granted = await waiters()
    await deleteAtOnce(root)
    const since = performance.now()
    await expectGrants(granted, since)
    await Promise.all(all.map(held => held.release()))
  })

  it('has increasing tokens even if its empty directory was deleted and sequence numbers restart', async () => {
    const client = await open()
    for (const kind of kinds) {
      const above = `${root}/above-${kind.Lock.name}`
      const lock = new kind.Lock(client, `${above}/lock`)
      const tokens: bigint[] = []
      const numbers: string[] = []
      for (let round = 0; round < 3; round++) {
        const held = await lock.acquire()
        tokens.push(held.token)
        numbers.push(held.path.slice(-10))
        await held.release()
        const directoryExists = async () => (await observer.exists(kind.isQueue ? `${above}/lock` : above)) !== null
        if (kind.directoryRequest === opcodes.createContainer) await until(async () => !(await directoryExists()))
        else expect(await directoryExists()).to.equal(true)
      }
      expect(tokens, kind.Lock.name).to.deep.equal([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)))
      expect(new Set(numbers).size).to.equal(kind.directoryRequest === opcodes.createContainer ? 1 : 3)
    }
  })

  it('can always be acquired while its directory is deleted and recreated', async () => {
    const clients = await sessions.openMany(4, server.connectString)
    let passes = 0
    const acquireAll = async (client: Client) => {
      for (let round = 0; round < 10; round++)
        for (const kind of kinds) {
          await lockOf(kind, client).use(() => passes++)
          await observer.delete(`${root}/${kind.Lock.name}`).catch(() => undefined)
        }
    }
    await Promise.all(clients.map(acquireAll))
    expect(passes).to.equal(4 * 10 * kinds.length)
  })
})
