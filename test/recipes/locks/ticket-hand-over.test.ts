// Hand-overs of a TicketMutex in virtual time: behind waiters that left in unusual ways, and their requests and bytes.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../../src/index.ts'
import { opcodes, ReplyHeader, RequestHeader, xids } from '../../../src/protocol/index.ts'
import { TicketMutex, type ContenderNode, type Held } from '../../../src/recipes/index.ts'
import { DistantServer, type Contender, type Recipe } from '../round-trips.ts'

const recipe: Recipe = client => {
  const lock = new TicketMutex(client, '/lock')
  return options => lock.acquire(options)
}
const ones = (length: number) => Array.from({ length }, () => 1)

describe('a hand-over of a TicketMutex', () => {
  let distant: DistantServer
  /** The requests of all clients, except pings, and the notifications and bytes that they received. */
  let traffic: { requests: number[]; notifications: number; bytes: number }

  const count = ({ from, first, bytes }: ObservedFrame) => {
    if (first) return
    if (from === 'client') {
      const { type } = RequestHeader.decode(bytes)
      if (type !== opcodes.ping) traffic.requests.push(type)
      return
    }
    const { xid } = ReplyHeader.decode(bytes)
    if (xid === xids.notification) traffic.notifications++
    if (xid !== xids.ping) traffic.bytes += 4 + bytes.length
  }

  beforeEach(async () => {
    traffic = { requests: [], notifications: 0, bytes: 0 }
    distant = await DistantServer.at(count)
  })
  afterEach(async () => {
    const left = [distant.server.snapshot().watches, distant.ephemerals]
    await distant.close()
    expect(left).to.deep.equal([[], []])
  })

  const pick = (contenders: readonly Contender[], ...which: number[]): Contender[] =>
    which.map(i => contenders[i] ?? expect.fail(`there is no contender ${i}`))

  /** Lets contenders release the lock as soon as they have it. Returns the round trips of each hand-over. */
  async function releaseAtOnce(contenders: readonly Contender[]): Promise<number[]> {
    const taken: number[] = []
    for (const [i, { held }] of contenders.entries()) {
      const begun = distant.now()
      const releasing = (await distant.until(held)).release()
      const next = contenders[i + 1]
      if (next === undefined) await distant.until(releasing)
      else {
        await distant.until(next.held)
        taken.push(distant.now() - begun)
      }
    }
    return taken
  }

  for (const size of [2, 3, 100])
    it(`takes one round trip from holder to holder if ${size} holders release the lock at once`, async function () {
      this.timeout(60_000)
      expect(await releaseAtOnce(await distant.queueUp(recipe, size))).to.deep.equal(ones(size - 1))
    })

  for (const [who, size, gone] of [
    ['a waiter', 4, [1]],
    ['some waiters', 7, [1, 3, 4]],
    ['all waiters but the last', 100, Array.from({ length: 98 }, (_, i) => i + 1)],
  ] as const)
    for (const order of ['in the order of the queue', 'in reverse order'])
      it(`takes one round trip, at once, two round trips after ${who} gave up ${order}`, async function () {
        this.timeout(60_000)
        const contenders = await distant.queueUp(recipe, size)
        for (const { stop } of pick(contenders, ...(order === 'in reverse order' ? gone.toReversed() : gone)))
          stop.abort()
        await distant.pass(2)
        const left = contenders.filter((_, i) => !gone.some(each => each === i))
        expect(await releaseAtOnce(left)).to.deep.equal(ones(left.length - 1))
      })

  for (const [what, remove] of [
    ['the nodes of waiters were deleted', (ticket, client) => void client.delete(ticket.path)],
    ['the sessions of waiters expired', ticket => distant.server.expireSession(ticket.session)],
  ] satisfies [string, (ticket: ContenderNode, client: Client) => unknown][])
    it(`takes one round trip two round trips after ${what}`, async () => {
      const contenders = await distant.queueUp(recipe, 6)
      const [observer = expect.fail('there is no contender')] = pick(contenders, 0)
      const tickets = await distant.until(new TicketMutex(observer.client, '/lock').contenders())
      for (const i of [1, 3, 4]) remove(tickets[i] ?? expect.fail(`there is no ticket ${i}`), observer.client)
      await distant.pass(2)
      expect(await releaseAtOnce(pick(contenders, 0, 2, 5))).to.deep.equal([1, 1])
      // Those whose sessions live have queued again.
      for (const { held } of pick(contenders, 1, 3, 4))
        await distant.until(held.then(each => each.release()).catch(() => undefined))
    })

  it('costs no more requests behind a waiter that gave up while others were before it', async () => {
    const contenders = await distant.queueUp(recipe, 6)
    const [, second, third] = contenders
    third?.stop.abort()
    await distant.pass(4)
    await distant.until((await contenders[0].held).release())
    await distant.pass(4)
    traffic.requests = []
    await distant.until((await second.held).release())
    await distant.pass(4)
    // The fifth contender learns from the directory that the fourth one, which holds the lock now, was next.
    expect(traffic.requests).to.deep.equal([opcodes.multi, opcodes.getData])
    for (const { held } of contenders.slice(3)) await distant.until(held.then(each => each.release()))
  })

  it('begins with the same requests for any number of waiters that gave up before', async () => {
    const costs = []
    for (const size of [4, 40]) {
      const contenders = await distant.queueUp(recipe, size)
      const [holder, last] = pick(contenders, 0, size - 1)
      for (const each of contenders) if (each !== holder && each !== last) each.stop.abort()
      await distant.pass(200)
      traffic.requests = []
      const [next] = await distant.queueUp(recipe, 1)
      await distant.pass(200)
      costs.push([...traffic.requests])
      for (const each of [holder, last, next])
        if (each !== undefined) await distant.until(each.held.then(held => held.release()))
    }
    expect(costs[1]).to.deep.equal(costs[0])
  })

  it('costs the same requests, notifications and bytes in a short queue and in a long one', async function () {
    this.timeout(60_000)
    const { getData, setWatches, create2, multi, delete: remove, removeWatches } = opcodes
    const client = await distant.open()
    const lock = new TicketMutex(client, '/lock')
    // The directory then has the number of a ticket as its data, and the session knows the directory.
    await distant.until(lock.use(() => undefined))
    const cost = async (step: () => unknown) => {
      Object.assign(traffic, { requests: [], notifications: 0, bytes: 0 })
      step()
      await distant.pass(4)
      return structuredClone(traffic)
    }
    const costs = []
    for (const size of [6, 60]) {
      const [first, second, ...others] = await distant.queueUp(recipe, size)
      let last: Promise<Held> | undefined
      const join = await cost(() => (last = lock.acquire()))
      const giveUp = await cost(() => others[2]?.stop.abort())
      // The first holder has no watch on its own ticket, because it did not wait.
      await distant.until((await first.held).release())
      await distant.pass(2)
      const handOver = await cost(async () => (await second.held).release())
      costs.push({ join, giveUp, handOver })
      for (const held of [...others.map(each => each.held), last])
        await distant.until(held?.then(each => each.release()).catch(() => undefined) ?? Promise.resolve())
    }
    const [short, long] = costs
    expect(long).to.deep.equal(short)
    expect(short?.join.requests).to.deep.equal([create2, getData, setWatches, getData])
    expect(short?.join.notifications).to.equal(0)
    // Two waiters watch another ticket, and read the directory: the next one once, the one after it twice.
    expect(short?.giveUp.requests).to.have.members([
      ...[remove, removeWatches, removeWatches],
      ...[getData, getData, getData, getData, getData],
    ])
    expect(short?.giveUp.notifications).to.equal(3)
    // The next holder sends nothing, and the one after it reads the directory. Both are notified, and so is the
    // releaser, which watches its own ticket.
    expect(short?.handOver.requests).to.deep.equal([multi, getData])
    expect(short?.handOver.notifications).to.equal(3)
  })
})
