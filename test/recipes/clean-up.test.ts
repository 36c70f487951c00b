// What must go, goes: also when the view is closed, the server is busy, or the caller waits in the wrong place.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { HerdMutex, LockError, Mutex, ReadWriteLock, type Held } from '../../src/recipes/index.ts'
import { Server, VirtualClock } from '../../src/server/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { failureOf, outcomeOf } from '../support/outcome.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'

describe('the clean-up of a lock', () => {
  const sessions = new Sessions()
  const path = '/clean-up'
  let server: ApacheZooKeeper
  let observer: Client

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    observer = await connect(server.connectString)
    await observer.ensurePath(path)
  })
  afterEach(async () => {
    await sessions.settled()
    const { children } = await observer.getChildren(path)
    await sessions.close()
    await observer.deleteRecursive(path)
    await observer.close()
    expect(children, 'nodes left behind').to.deep.equal([])
  })

  it('goes on when the view that took the lock is closed, for a holder and for a waiter', async () => {
    const client = await sessions.open(server.connectString)
    const [view, waitingView] = [client.chroot('/'), client.chroot('/')]
    const held = await new Mutex(view, path).acquire()
    const waiting = new Mutex(waitingView, path).acquire()
    await until(async () => (await observer.getChildren(path)).children.length === 2)
    await Promise.all([view.close(), waitingView.close()])
    await held.release()
    await (await waiting).release()
  })

  it('waits until the client may ask for anything again', async () => {
    const client = await sessions.open(server.connectString, { maxPending: 3 })
    const held = await new Mutex(client, path).acquire()
    const busy = Array.from({ length: 3 }, () => client.sync('/'))
    await Promise.all([held.release(), ...busy])
  })

  describe('that the server refuses for a while, in virtual time', () => {
    const T = 30_000
    let clock: VirtualClock
    let embedded: Server
    let client: Client

    beforeEach(async () => {
      clock = new VirtualClock()
      embedded = await Server.start({ listen: false, clock })
      client = await connect(embedded.connectString, { dial: embedded.dial, clock, sessionTimeout: T })
    })
    afterEach(async () => {
      await clock.until(client.close())
      await embedded.close()
    })

    for (const hidden of [['getData'], ['getData', 'exists']] as const)
      it(`leaves no node that one may not read, by ${hidden.join(' and ')}, when the answer to its create is lost`, async () => {
        for (const kind of hidden) embedded.faults.replace(kind, 'NOAUTH', { times: Infinity })
        const lost = embedded.faults.drop('create', { nth: 3 })
        const outcome = await clock.until(outcomeOf(new Mutex(client, path).acquire()))
        await lost.met
        if (hidden.length > 1) expect(outcome).to.have.property('code', 'NOAUTH')
        else await clock.until((outcome as Held).release())
        await clock.until(client.settled())
        expect([...embedded.snapshot().nodes.keys()].filter(each => each.startsWith(`${path}/`))).to.deep.equal([])
      })

    it('leaves no read node that may not be looked at when a downgrade fails for that', async () => {
      const { writeLock } = new ReadWriteLock(client, path)
      const held = await clock.until(writeLock.acquire())
      embedded.faults.replace('exists', 'NOAUTH')
      expect(await clock.until(failureOf(held.downgrade()))).to.have.property('code', 'NOAUTH')
      expect(embedded.snapshot().sessions[0]?.ephemerals).to.deep.equal([held.path])
      await clock.until(held.release())
    })

    it('has the pause before it tries again end with the session', async () => {
      const held = await new Mutex(client, path).acquire()
      embedded.faults.replace('delete', 'THROTTLEDOP', { times: Infinity })
      const releasing = held.release()
      await clock.advance(3000)
      await client.close()
      await embedded.close()
      expect(clock.pendingTimers, 'timers left behind').to.equal(0)
      await releasing
    })

    it('has the pause of who watches his node end when the lock is released', async () => {
      embedded.faults.replace('exists', 'THROTTLEDOP', { times: Infinity })
      const timersBefore = clock.pendingTimers
      const held = await new Mutex(client, path).acquire({ watchOwnNode: true })
      await clock.advance(3000)
      expect(clock.pendingTimers).to.equal(timersBefore + 1)
      await held.release()
      expect(clock.pendingTimers, 'timers left behind').to.equal(timersBefore)
    })
  })

  it('does not hold up settled(), which may be waited for under the lock', async () => {
    const client = await sessions.open(server.connectString)
    await new Mutex(client, path).use(() => client.settled())
  })

  it('leaves alone a waiter on a node whose watches somebody else removes', async () => {
    const [holder, client] = [await sessions.open(server.connectString), await sessions.open(server.connectString)]
    const held = await new Mutex(holder, path).acquire()
    const waiting = new Mutex(client, path).acquire()
    await until(async () => {
      await client.sync(path)
      return client.checkWatches(held.path).then(
        () => true,
        () => false,
      )
    })
    await client.removeWatches(held.path).catch(() => undefined)
    await held.release()
    await (await waiting).release()
  })

  it('is not trusted to a dialect whose pattern does not find its own nodes', async () => {
    const client = await sessions.open(server.connectString)
    const dialect = { prefix: 'y-', pattern: /x-(\d+)$/ }
    expect(() => new Mutex(client, path, { dialect }))
      .to.throw(LockError)
      .with.property('code', 'UNSUPPORTED')
  })

  it('minds no pattern that remembers where it stood', async () => {
    const clients = await sessions.many(4, server.connectString)
    const dialect = { prefix: (uuid: string) => `${uuid}-mine-`, pattern: /-mine-(\d+)$/g }
    let inside = 0
    const pass = (client: Client) =>
      new HerdMutex(client, path, { dialect }).use(async () => {
        expect(++inside).to.equal(1)
        await client.exists('/')
        inside--
      })
    await Promise.all(clients.map(pass))
  })
})
