// Waiters that look ahead, when contenders leave in unusual ways.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex, type Held } from '../../../src/recipes/index.ts'
import { Server, type FaultKind } from '../../../src/server/index.ts'
import { settle, VirtualClock } from '../../../src/testing/virtual-clock.ts'

describe('a waiter that looks ahead', () => {
  let clock: VirtualClock
  let server: Server
  let clients: Client[]

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ clock })
    clients = []
  })
  afterEach(async () => {
    await clock.until(Promise.all(clients.map(client => client.close())))
    await server.close()
  })

  async function queueUp(size: number) {
    const contenders: {
      client: Client
      path: string
      held: Promise<Held>
      stop: AbortController
      isHolding: boolean
    }[] = []
    for (let i = 0; i < size; i++) {
      const client = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
      clients.push(client)
      const stop = new AbortController()
      const held = new Mutex(client, '/lock', { lookAhead: true }).acquire({ signal: stop.signal })
      const contender = { client, path: '', held, stop, isHolding: false }
      held.then(
        () => (contender.isHolding = true),
        () => undefined,
      )
      await turns()
      contender.path = (await nodes()).at(-1) ?? ''
      contenders.push(contender)
    }
    return contenders as [(typeof contenders)[0], ...typeof contenders]
  }

  const nodes = async () => {
    const names = (await (clients[0] as Client).getChildren('/lock')).children
    return names.sort((a, b) => a.slice(-10).localeCompare(b.slice(-10))).map(name => `/lock/${name}`)
  }
  /** Returns a function that counts the replies to an operation from now on, in all sessions. */
  function countOf(operation: FaultKind): () => number {
    let count = 0
    const wait = async (): Promise<void> => {
      await server.faults.delay(operation, 0).triggered
      count++
      await wait()
    }
    wait().catch(() => undefined)
    return () => count
  }
  /** Lets all frames pass. */
  const turns = async () => {
    for (let i = 0; i < 20; i++) await settle()
  }

  it('does not hold the lock when its predecessor gives up, because another client still holds it', async () => {
    const [first, second, third] = await queueUp(3)
    second?.stop.abort()
    await turns()
    expect(third?.isHolding).to.equal(false)
    await (await first.held).release()
    await turns()
    expect(third?.isHolding).to.equal(true)
  })

  it('queues again if one transaction deletes its own node and its predecessor', async () => {
    const [first, second] = await queueUp(2)
    await first.client.multi([{ delete: second?.path ?? '' }, { delete: first.path }])
    await turns()
    const held = await clock.until(second?.held as Promise<Held>)
    expect(held.path).not.to.equal(second?.path)
    expect(held.signal.aborted).to.equal(false)
    await clock.until(held.release())
  })

  it('loses the lock with the next frame if the transaction deletes its predecessor first', async () => {
    const [first, second] = await queueUp(2)
    const ownEvent = server.faults.hold('event', { nth: 2, session: second?.client.sessionId ?? 0n })
    await first.client.multi([{ delete: first.path }, { delete: second?.path ?? '' }])
    const held = await clock.until(second?.held as Promise<Held>)
    expect(held).to.have.property('path', second?.path)
    expect(held.signal.aborted).to.equal(false)
    ownEvent.release()
    await turns()
    expect(held.signal.aborted).to.equal(true)
    await clock.until(held.release())
  })

  it('lists the queue after its own node has changed, because the watch on it is used up', async () => {
    const [first, second] = await queueUp(2)
    await first.client.setData(second?.path ?? '', 'other data')
    await turns()
    await first.client.multi([{ delete: second?.path ?? '' }, { delete: first.path }])
    await turns()
    const held = await clock.until(second?.held as Promise<Held>)
    expect(held.path).not.to.equal(second?.path)
    await clock.until(held.release())
  })

  it('lists the queue after a reconnect, because the order of the events is lost', async () => {
    const [first, second] = await queueUp(2)
    const connects = second?.client.stats.connects ?? NaN
    server.dropConnections()
    await clock.until(second?.client.sync('/').catch(() => second.client.whenConnected()) ?? Promise.resolve())
    await clock.until(first.client.whenConnected())
    await turns()
    expect(second?.client.stats.connects).to.equal(connects + 1)
    const lists = server.faults.delay('getChildren', 0)
    await clock.until((await first.held).release())
    const held = await clock.until(second?.held as Promise<Held>)
    await clock.until(lists.triggered)
    await clock.until(held.release())
  })

  it('pauses if the server says again and again that a node of the list does not exist', async () => {
    const [first] = await queueUp(1)
    const client = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
    clients.push(client)
    const lists = countOf('getChildren')
    server.faults.replace('getData', 'NONODE', { session: client.sessionId, times: Infinity })
    const waiting = new Mutex(client, '/lock', { lookAhead: true }).acquire()
    await clock.advance(10_000)
    expect(lists()).to.be.within(10, 40)
    server.faults.clear()
    await clock.until((await first.held).release())
    await clock.until((await clock.until(waiting)).release())
  })
})
