// Waiters of a TicketMutex when tickets, events and connections end in unusual ways.
import { expect } from 'chai'
import { aclOf, connect, type Client } from '../../../src/index.ts'
import { opcodes, perms } from '../../../src/protocol/index.ts'
import { TicketMutex, type Held, type LockOptions } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { settle, VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { failureOf } from '../../support/settled.ts'

interface Contender {
  client: Client
  path: string
  held: Promise<Held>
  stop: AbortController
  isHolding: boolean
}

describe('a waiter of a TicketMutex', () => {
  let clock: VirtualClock
  let server: Server
  let clients: Client[]

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ clock, listen: false })
    clients = []
  })
  afterEach(async () => {
    await clock.until(Promise.all(clients.map(client => client.settled())))
    expect(server.snapshot().sessions.flatMap(({ ephemerals }) => ephemerals)).to.deep.equal([])
    await clock.until(Promise.all(clients.map(client => client.close())))
    await server.close()
  })

  async function open(dial = server.dial): Promise<Client> {
    const client = await clock.until(connect(server.connectString, { dial, clock }))
    clients.push(client)
    return client
  }

  const tickets = () => server.snapshot().sessions.flatMap(({ ephemerals }) => ephemerals)

  /** Lets all frames pass. */
  const turns = async () => {
    for (let i = 0; i < 30; i++) await settle()
  }

  async function join(client: Client, options: LockOptions = {}): Promise<Contender> {
    const before = new Set(tickets())
    const stop = new AbortController()
    const held = new TicketMutex(client, '/lock', options).acquire({ signal: stop.signal })
    const contender = { client, path: '', held, stop, isHolding: false }
    contender.held.then(
      () => (contender.isHolding = true),
      () => undefined,
    )
    await turns()
    contender.path = tickets().find(path => !before.has(path)) ?? ''
    return contender
  }

  async function queueUp(size: number): Promise<[Contender, Contender, ...Contender[]]> {
    const contenders: Contender[] = []
    for (let i = 0; i < size; i++) contenders.push(await join(await open()))
    return contenders as [Contender, Contender, ...Contender[]]
  }

  const release = async ({ held }: Contender) => clock.until((await clock.until(held)).release())

  it('does not hold the lock when its predecessor gives up, because another client still holds it', async () => {
    const [first, second, third] = await queueUp(3)
    await first.client.delete(second.path)
    await turns()
    expect(third?.isHolding).to.equal(false)
    await release(first)
    await turns()
    expect(third?.isHolding).to.equal(true)
    await release(third as Contender)
    await release(second)
  })

  it('does not hold the lock when two waiters before it give up one after the other', async () => {
    const [first, second, third, fourth] = await queueUp(4)
    for (const each of [third, second]) {
      each?.stop.abort(new Error('cancelled'))
      await turns()
    }
    expect(fourth?.isHolding).to.equal(false)
    await release(first)
    await release(fourth as Contender)
  })

  it('draws another ticket at once if another client deletes its own', async () => {
    const [first, second] = await queueUp(2)
    await first.client.delete(second.path)
    await turns()
    expect(tickets()).to.have.length(2).and.not.include(second.path)
    await release(first)
    await release(second)
  })

  it('draws another ticket if one transaction deletes its own and its predecessor’s', async () => {
    const [first, second] = await queueUp(2)
    await first.client.multi([{ delete: second.path }, { delete: first.path }])
    const held = await clock.until(second.held)
    expect(held.path).not.to.equal(second.path)
    await release(second)
  })

  it('loses the lock with the next frame if the transaction deletes its predecessor first', async () => {
    const [first, second] = await queueUp(2)
    const ownEvent = server.faults.hold('event', { nth: 2, session: second.client.sessionId })
    await first.client.multi([{ delete: first.path }, { delete: second.path }])
    const held = await clock.until(second.held)
    expect([held.path, held.signal.aborted]).to.deep.equal([second.path, false])
    ownEvent.release()
    await turns()
    expect(held.signal.aborted).to.equal(true)
    await clock.until(held.release())
  })

  it('does not hold the lock while the watch on its own ticket is being set again', async () => {
    const [first] = await queueUp(1)
    const faultyDial = new FaultyDial(server.dial)
    const second = await join(await open(faultyDial.dial))
    const sent = faultyDial.holdRequest(opcodes.getData)
    await first.client.setData(second.path, 'other data')
    await clock.until(sent)
    await first.client.multi([{ delete: second.path }, { delete: first.path }])
    await turns()
    expect(second.isHolding).to.equal(false)
    faultyDial.deliver()
    const held = await clock.until(second.held)
    expect(held.path).not.to.equal(second.path)
    await release(second)
  })

  it('does not trust the order of events across a reconnect', async () => {
    const [first, client] = [await join(await open()), await open()]
    // The client sets its watches again in the order in which it first watched their nodes. So the predecessor's event
    // comes first.
    await clock.until(client.exists(first.path, { watch: () => undefined }))
    const second = await join(client)
    const { sessionId } = client
    const refused = server.faults.hold('connect', { session: sessionId })
    server.dropConnections()
    await clock.until(refused.triggered)
    await clock.until(first.client.whenConnected())
    await first.client.multi([{ delete: second.path }, { delete: first.path }])
    const rival = await join(first.client)
    const ownEvent = server.faults.hold('event', { nth: 2, session: sessionId })
    refused.release()
    await clock.until(ownEvent.triggered)
    await turns()
    expect([rival.isHolding, second.isHolding]).to.deep.equal([true, false])
    ownEvent.release()
    await release(rival)
    await release(second)
  })

  it('rejects with NOAUTH if it may not read the ticket before its own', async () => {
    const acl = [aclOf('world', 'anyone', perms.all & ~perms.read)]
    // Otherwise the ACL of the first contender would be that of the directory too.
    const [observer, holder, client] = [await open(), await open(), await open()]
    await clock.until(new TicketMutex(observer, '/lock').use(() => undefined))
    const first = await join(holder, { acl })
    expect(await failureOf(clock.until(new TicketMutex(client, '/lock').acquire()))).to.have.property('code', 'NOAUTH')
    await release(first)
  })

  it('keeps its watch when another contender of its session gives up', async () => {
    const [first] = await queueUp(2)
    const client = await open()
    const stop = new AbortController()
    const leaving = failureOf(new TicketMutex(client, '/lock').acquire({ signal: stop.signal }))
    await turns()
    const last = await join(client)
    stop.abort(new Error('cancelled'))
    await clock.until(leaving)
    await turns()
    await release(first)
    await turns()
    expect(last.isHolding).to.equal(false)
    const [second] = tickets().sort()
    await client.delete(second ?? '')
    await release(last)
  })

  it('is granted the lock also if its session has a persistent watch on all tickets', async () => {
    const [first, second, third] = await queueUp(3)
    for (const { client } of [second, third as Contender]) {
      const watcher = await clock.until(client.addWatch('/lock', { recursive: true }))
      void (async () => {
        for await (const event of watcher) void event
      })()
    }
    const fourth = await join(second.client)
    for (const each of [first, second, third as Contender, fourth]) await release(each)
  })

  it('ignores a number in the directory that is larger than that of its ticket', async () => {
    const [first, second] = await queueUp(2)
    await first.client.setData(first.path.slice(0, first.path.lastIndexOf('/')), '2000000000')
    const third = await join(await open())
    expect([second.isHolding, third.isHolding]).to.deep.equal([false, false])
    for (const each of [first, second, third]) await release(each)
  })

  it('draws another ticket if another client deletes its own, which it may not read', async () => {
    const acl = [aclOf('world', 'anyone', perms.all & ~perms.read)]
    const observer = await open()
    await clock.until(new TicketMutex(observer, '/lock').use(() => undefined))
    const [first, second] = [await join(observer), await join(await open(), { acl })]
    await clock.until(observer.delete(second.path))
    await release(first)
    const held = await clock.until(second.held)
    expect(held.path).not.to.equal(second.path)
    await release(second)
  })
})
