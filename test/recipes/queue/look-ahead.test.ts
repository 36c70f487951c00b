// Waiters that look ahead, when contenders leave in unusual ways.
import { expect } from 'chai'
import { connect, perms, type Client } from '../../../src/index.ts'
import { Mutex, ReadWriteLock, revoke, type Held, type MutexOptions } from '../../../src/recipes/index.ts'
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

  interface Contender {
    client: Client
    path: string
    held: Promise<Held>
    stop: AbortController
    isHolding: boolean
  }

  async function open(): Promise<Client> {
    const client = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
    clients.push(client)
    return client
  }

  async function queue(client: Client, options?: MutexOptions): Promise<Contender> {
    const stop = new AbortController()
    const held = new Mutex(client, '/lock', options).acquire({ signal: stop.signal })
    const contender = { client, path: '', held, stop, isHolding: false }
    held.then(
      () => (contender.isHolding = true),
      () => undefined,
    )
    await turns()
    contender.path = (await nodes()).at(-1) ?? ''
    return contender
  }

  async function queueUp(size: number) {
    const contenders: Contender[] = []
    for (let i = 0; i < size; i++) contenders.push(await queue(await open()))
    return contenders as [Contender, Contender, Contender, ...Contender[]]
  }

  const release = async ({ held }: Contender) => clock.until((await clock.until(held, { within: 60_000 })).release())

  /** Deletes the nodes of two contenders in one transaction, that of the waiter first. */
  const deleteBoth = (waiter: Contender, holder: Contender) =>
    holder.client.multi([{ delete: waiter.path }, { delete: holder.path }])

  /** Fails unless the contender, whose node was deleted, has queued again and holds the lock with another node. */
  async function expectNewNode(contender: Contender): Promise<void> {
    const held = await clock.until(contender.held, { within: 60_000 })
    expect(held.path).not.to.equal(contender.path)
    expect(held.signal.aborted).to.equal(false)
    await clock.until(held.release())
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
    second.stop.abort()
    await turns()
    expect(third.isHolding).to.equal(false)
    await (await first.held).release()
    await turns()
    expect(third.isHolding).to.equal(true)
  })

  it('queues again if one transaction deletes its own node and its predecessor', async () => {
    const [first, second] = await queueUp(2)
    await first.client.multi([{ delete: second.path }, { delete: first.path }])
    await turns()
    const held = await clock.until(second.held)
    expect(held.path).not.to.equal(second.path)
    expect(held.signal.aborted).to.equal(false)
    await clock.until(held.release())
  })

  it('loses the lock with the next frame if the transaction deletes its predecessor first', async () => {
    const [first, second] = await queueUp(2)
    const ownEvent = server.faults.hold('event', { nth: 2, session: second.client.sessionId })
    await first.client.multi([{ delete: first.path }, { delete: second.path }])
    const held = await clock.until(second.held)
    expect(held).to.have.property('path', second.path)
    expect(held.signal.aborted).to.equal(false)
    ownEvent.release()
    await turns()
    expect(held.signal.aborted).to.equal(true)
    await clock.until(held.release())
  })

  it('lists the queue after its own node has changed, because the watch on it is used up', async () => {
    const [first, second] = await queueUp(2)
    await first.client.setData(second.path, 'other data')
    await turns()
    await deleteBoth(second, first)
    await turns()
    await expectNewNode(second)
  })

  it('looks ahead again after its own node has changed: it does not list when its predecessor releases', async () => {
    const [first, second] = await queueUp(2)
    await revoke(first.client, second.path)
    await turns()
    const lists = countOf('getChildren')
    await release(first)
    await release(second)
    expect(lists()).to.equal(0)
  })

  it('does not hold the lock when the data of its predecessor changes', async () => {
    const [first, second] = await queueUp(2)
    for (let i = 0; i < 3; i++) {
      await revoke(second.client, first.path)
      await turns()
      expect(second.isHolding).to.equal(false)
    }
    await release(first)
    await release(second)
  })

  it('queues again after its node was deleted, and the watches of that node do not give it the lock', async () => {
    const [first, second, third] = await queueUp(3)
    await first.client.delete(second.path)
    await turns()
    await release(first)
    await turns()
    expect([second.isHolding, third.isHolding]).to.deep.equal([false, true])
    await release(third)
    await expectNewNode(second)
  })

  it('queues again if another client deletes the directory, in any order of the nodes', async () => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
    ]) {
      const contenders = await queueUp(3)
      const paths = order.map(i => ({ delete: contenders[i]?.path ?? '' }))
      await contenders[0].client.multi([...paths, { delete: '/lock' }])
      await turns()
      const releaseAll = contenders.slice(1).map(async ({ held }) => (await held).release())
      await clock.until(Promise.all(releaseAll), { within: 60_000 })
      expect(await nodes()).to.deep.equal([])
    }
  })

  for (const isDeleted of [true, false])
    it(`relies on the events of persistent watches on its node and its predecessor’s, ${isDeleted ? 'which are both deleted' : 'which releases'}`, async () => {
      const [first, second] = await queueUp(2)
      for (const { path } of [first, second]) await second.client.addWatch(path)
      // Uses up the first watches, so that the next ones share the persistent watches.
      await revoke(first.client, second.path)
      await revoke(first.client, first.path)
      await turns()
      if (isDeleted) {
        await deleteBoth(second, first)
        await turns()
        await expectNewNode(second)
      } else {
        const lists = countOf('getChildren')
        await release(first)
        await release(second)
        expect(lists()).to.equal(0)
      }
    })

  const unreadable = [{ perms: perms.all & ~perms.read, id: { scheme: 'world', id: 'anyone' } }]

  for (const size of [1, 2])
    it(`lists the queue if it may not read its own node behind ${size} others, because the server sends no events of that node`, async () => {
      const others: Contender[] = await queueUp(size)
      const last = others.at(-1) ?? expect.fail('nobody is queued')
      const second = await queue(await open(), { acl: unreadable })
      for (const each of others) if (each !== last) await release(each)
      await deleteBoth(second, last)
      await turns()
      await expectNewNode(second)
      const third = await queue(await open(), { acl: unreadable })
      await release(third)
    })

  for (const size of [0, 1])
    it(`rejects with NOAUTH if it may not read its predecessor, with ${size} others before that`, async () => {
      await (await open()).ensurePath('/lock')
      const others: Contender[] = []
      for (let i = 0; i < size; i++) others.push(await queue(await open()))
      const hidden = await queue(await open(), { acl: unreadable })
      const { held } = await queue(await open())
      expect(await clock.until(held.catch((error: unknown) => error))).to.have.property('code', 'NOAUTH')
      for (const each of [...others, hidden]) await release(each)
    })

  it('keeps the watch on its own node if a waiter of the same session, which watched that node too, gives up', async () => {
    const [first, second] = await queueUp(2)
    const behind = await queue(second.client)
    behind.stop.abort()
    await turns()
    await deleteBoth(second, first)
    await turns()
    await expectNewNode(second)
  })

  it('leaves no watch if it gives up in the middle of the queue', async () => {
    const contenders = await queueUp(4)
    contenders[2].stop.abort()
    await turns()
    const watching = server.snapshot().watches.filter(({ session }) => session === contenders[2].client.sessionId)
    expect(watching).to.deep.equal([])
    for (const each of contenders) if (each !== contenders[2]) await release(each)
  })

  it('gets the lock from the list if its predecessor releases before the list has arrived', async () => {
    const [first, second, third] = await queueUp(3)
    const list = server.faults.hold('getChildren', { session: third.client.sessionId })
    await release(first)
    await list.triggered
    await release(second)
    await turns()
    expect(third.isHolding).to.equal(false)
    list.release()
    await release(third)
  })

  it('reads nothing more if the list that shows its predecessor arrives together with the event of that node’s end', async () => {
    const [first, second, third] = await queueUp(3)
    const list = server.faults.hold('getChildren', { session: third.client.sessionId })
    await release(first)
    await list.triggered
    await release(second)
    await turns()
    const reads = countOf('getData')
    list.release()
    await turns()
    expect(third.isHolding).to.equal(true)
    expect(reads()).to.equal(0)
    await release(third)
  })

  for (const lookAhead of [true, undefined])
    it(`is not before a writer that is downgraded if its names match readers too, with lookAhead: ${lookAhead}`, async () => {
      const writer = await new ReadWriteLock(await open(), '/lock').writeLock.acquire()
      const dialect = { prefix: (uuid: string) => `_c_${uuid}-__WRIT__`, pattern: /__(?:READ|WRIT)__(\d{10})$/ }
      const second = await queue(await open(), { dialect, lookAhead })
      const reader = await clock.until(writer.downgrade())
      await turns()
      expect(second.isHolding).to.equal(false)
      await clock.until(reader.release())
      await release(second)
    })

  it('lists the queue after a reconnect, because the order of the events is lost', async () => {
    const [first, second] = await queueUp(2)
    const connects = second.client.stats.connects
    server.dropConnections()
    await clock.until(second.client.sync('/').catch(() => second.client.whenConnected()))
    await clock.until(first.client.whenConnected())
    await turns()
    expect(second.client.stats.connects).to.equal(connects + 1)
    const lists = server.faults.delay('getChildren', 0)
    await clock.until((await first.held).release())
    const held = await clock.until(second.held)
    await clock.until(lists.triggered)
    await clock.until(held.release())
  })

  it('pauses if the server says again and again that a node of the list does not exist', async () => {
    const [first, second] = await queueUp(2)
    const client = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
    clients.push(client)
    const lists = countOf('getChildren')
    server.faults.replace('getData', 'NONODE', { session: client.sessionId, times: Infinity })
    const waiting = new Mutex(client, '/lock').acquire()
    await clock.advance(10_000)
    expect(lists()).to.be.within(10, 40)
    server.faults.clear()
    await release(first)
    await release(second)
    await clock.until((await clock.until(waiting)).release())
  })

  it('trusts no watch of an earlier node, because names return in a directory that was created again', async () => {
    const dialect = { prefix: 'x-', pattern: /^x-(\d{10})$/ }
    const [first, second] = [await queue(await open(), { dialect }), await queue(await open(), { dialect })]
    const creating = server.faults.hold('create', { session: second.client.sessionId })
    await first.client.multi([{ delete: second.path }, { delete: first.path }, { delete: '/lock' }])
    const rival = await queue(await open(), { dialect })
    expect(rival.path).to.equal(first.path)
    creating.release()
    await turns()
    expect([rival.isHolding, second.isHolding]).to.deep.equal([true, false])
    await release(rival)
    await release(second)
    await clock.until((await first.held).release())
  })

  it('loses the lock at once if its node is deleted after the list that shows it first', async () => {
    const [first, second] = await queueUp(2)
    server.dropConnections()
    await clock.until(
      Promise.all([first, second].map(({ client }) => client.sync('/').catch(() => client.whenConnected()))),
    )
    await turns()
    const list = server.faults.hold('getChildren', { session: second.client.sessionId })
    await release(first)
    await clock.until(list.triggered)
    await first.client.delete(second.path)
    list.release()
    const held = await clock.until(second.held)
    expect([held.path, held.signal.aborted]).to.deep.equal([second.path, true])
    await clock.until(held.release())
  })
})
