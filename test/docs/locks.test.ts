// Checks docs/locks.md: runs its code, and measures its table of costs.
import { expect } from 'chai'
import type { PeersResult } from '../../bench/peers/result.ts'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex, type Lock } from '../../src/recipes/index.ts'
import { opcodes, ReplyHeader, RequestHeader, SetWatches, xids } from '../../src/protocol/index.ts'
import { DistantServer, type Recipe } from '../recipes/round-trips.ts'
import { Sessions } from '../recipes/sessions.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

/** Counts the requests of one client, except pings and the removal of watches. */
class Requests {
  count = 0
  /** Number of requests that follow a reply. */
  roundTrips = 0
  notifications = 0
  #wasAnswered = true

  readonly observe = ({ from, first, bytes }: ObservedFrame): void => {
    if (first) return
    if (from === 'client') {
      const { type } = RequestHeader.decode(bytes)
      if (type === opcodes.ping || type === opcodes.removeWatches || type === opcodes.checkWatches) return
      this.count++
      if (this.#wasAnswered) this.roundTrips++
      this.#wasAnswered = false
    } else if (ReplyHeader.decode(bytes).xid === -1) this.notifications++
    else this.#wasAnswered = true
  }

  reset(): void {
    this.count = this.roundTrips = this.notifications = 0
    this.#wasAnswered = true
  }
}

class TextbookMutex extends Mutex {
  constructor(client: Client, path: string) {
    super(client, path, { lookAhead: false })
  }
}

const page = readDocument('docs/locks.md')
const rows = [...page.matchAll(/^\| (`.+`) \| (\d) \| (\d) \| (\d) \| (\d) \| (\d|N) \| O\(/gm)]
const queueRows = [...page.matchAll(/^\| (`.+`) \| (\d \+ \d) \| (\d \+ \d), (\d) round trips? \| (\d \+ \d) \|/gm)]
const grantRows = [...page.matchAll(/^\| (`.+`|Curator's `.+`) ((?:\| \d ){5})\| (\d) \|$/gm)]
const Locks: Readonly<Record<string, new (client: Client, path: string) => Lock>> = {
  '`Mutex`': Mutex,
  '`Mutex`, `lookAhead: false`': TextbookMutex,
  '`TicketMutex`': TicketMutex,
  '`HerdMutex`': HerdMutex,
  '`EphemeralMutex`': EphemeralMutex,
}
/** The length of a RequestHeader, before the body. */
const HEADER_BYTES = 8
const digitsIn = (cells = ''): number[] => [...cells.matchAll(/\d/g)].map(Number)
/** The watches of each further waiter; default: one. */
const watchesOf: Readonly<Record<string, number[]>> = { '`Mutex`': [2, 3, 3], '`TicketMutex`': [2, 3, 3] }

describe('docs/locks.md', () => {
  testCodeBlocks('docs/locks.md', [
    /token \d+, valid for a while\nTIMEOUT/,
    /queued waits for 1/,
    /\/locks\/many\/stock_lock_0000000001/,
    /after a delay\nat once/,
    /1000\ntrue\ntwice/,
    /true/,
    /null\n5/,
    /from and to/,
    /host-1 leads/,
    /through/,
  ])

  it('has a row in the table of costs for each measured lock', () => {
    expect(rows.map(([, name]) => name)).to.have.members(Object.keys(Locks))
  })

  for (const [, name = '', acquire, roundTrips, release, handedOver, notified] of rows)
    it(`lists the measured costs of ${name}`, async () => {
      const server = await sharedServer()
      const Lock = Locks[name] ?? expect.fail(name)
      const path = `/costs-of-${Lock.name}`
      const counted: Requests[] = []
      await using sessions = new Sessions()
      const open = () => {
        const requests = new Requests()
        counted.push(requests)
        return sessions.open(server.connectString, { onFrame: requests.observe })
      }
      const clients: Client[] = await Promise.all([open(), open(), open(), open()])
      const [holder, ...waiters] = clients
      const [first] = counted
      if (holder === undefined || first === undefined) throw new Error('no client is connected')
      await new Lock(holder, path).use(() => undefined)

      first.reset()
      const held = await new Lock(holder, path).acquire()
      expect({ acquire: first.count, roundTrips: first.roundTrips }).to.deep.equal({
        acquire: Number(acquire),
        roundTrips: Number(roundTrips),
      })

      // The holder of a herd lock removes the watch that its list has set.
      await holder.settled()
      let watches = await server.watchCount()
      const granted: string[] = []
      const acquisitions = []
      for (const [i, client] of waiters.entries()) {
        acquisitions.push(new Lock(client, path).acquire().then(next => (granted.push(String(i)), next)))
        watches += watchesOf[name]?.[i] ?? 1
        await until(async () => (await server.watchCount()) === watches)
      }
      for (const each of counted) each.reset()
      await held.release()
      expect(first.count, 'release').to.equal(Number(release))
      const next = await Promise.race(acquisitions)
      const nth = Number(granted[0]) + 1
      expect(counted[nth]?.count, 'handed over').to.equal(Number(handedOver))
      const expected = notified === 'N' ? waiters.length : Number(notified)
      await until(() => counted.slice(1).reduce((sum, each) => sum + each.notifications, 0) >= expected)
      expect(counted.slice(1).filter(({ notifications }) => notifications > 0)).to.have.length(expected)
      await next.release()
      await Promise.all(acquisitions.map(async each => (await each).release()))
      await holder.deleteRecursive(path)
    })

  it('lists the costs of contenders in a queue for the locks that are made for many waiters', () => {
    expect(queueRows.map(([, name]) => name)).to.deep.equal(['`Mutex`', '`Mutex`, `lookAhead: false`', '`TicketMutex`'])
  })

  it('lists the work of the server for a grant of each of them, and of a grant of Curator as it was measured', () => {
    expect(grantRows.slice(0, -1).map(([, name]) => name)).to.deep.equal(queueRows.map(([, name]) => name))
    const { cells } = JSON.parse(readDocument('docs/peers.json')) as PeersResult
    const { join, release } = cells.findLast(({ recipe }) => recipe === 'c-mutex')?.phases ?? expect.fail('c-mutex')
    const [requests, , , , notifications] = digitsIn(grantRows.at(-1)?.[2])
    expect(requests).to.equal(join.tally.framesSent + release.tally.framesSent)
    expect(notifications).to.equal(join.tally.notifications + release.tally.notifications)
  })

  for (const [, name = '', join, handOver, roundTrips, giveUp] of queueRows)
    for (const size of [10, 100])
      it(`lists the measured costs of ${name} in a queue of ${size}`, async function () {
        this.timeout(30_000)
        let [requests, writes, lists, watches, notifications] = [0, 0, 0, 0, 0]
        const onFrame = ({ from, first, bytes }: ObservedFrame) => {
          if (first) return
          if (from === 'server' && ReplyHeader.decode(bytes).xid === xids.notification) notifications++
          if (from === 'server') return
          const { type } = RequestHeader.decode(bytes)
          if (type === opcodes.ping) return
          requests++
          if (type === opcodes.create2 || type === opcodes.delete || type === opcodes.multi) writes++
          if (type === opcodes.getChildren2) lists++
          // The last byte of a read asks for a watch.
          if (type === opcodes.getData && bytes.at(-1) === 1) watches++
          if (type === opcodes.setWatches) watches += SetWatches.decode(bytes.subarray(HEADER_BYTES)).dataWatches.length
        }
        const work: number[][] = []
        await using distant = await DistantServer.at(onFrame)
        const lockOf = (client: Client) => new (Locks[name] ?? expect.fail(name))(client, '/lock')
        const recipe: Recipe = client => {
          const lock = lockOf(client)
          return options => lock.acquire(options)
        }
        const costOf = async (begin: () => unknown) => {
          ;[requests, writes, lists, watches, notifications] = [0, 0, 0, 0, 0]
          await begin()
          await distant.pass(4)
          work.push([requests, writes, lists, watches, notifications])
          return `${requests} + ${notifications}`
        }
        const [first, second, third, ...others] = await distant.queueUp(recipe, size)
        // The first holder did not wait, and so has no watch on its own node.
        await distant.until((await distant.until(first.held)).release())
        await distant.pass(2)
        const client = await distant.open()
        // The first call of a session for a TicketMutex reads the name of its directory.
        await distant.until(lockOf(client).tryAcquire())
        const last = recipe(client)
        expect(await costOf(() => void last().catch(() => undefined)), 'join').to.equal(join)
        expect(await costOf(() => others[3]?.stop.abort()), 'give-up').to.equal(giveUp)
        const holder = await second.held
        let taken = 0
        const release = async () => (taken = await distant.count(() => holder.release(), third?.held))
        expect(await costOf(release), 'hand-over').to.equal(handOver)
        expect(taken, 'round trips').to.equal(Number(roundTrips))
        const [joined = [], , handedOver = []] = work
        const [, , listed, taking] = grantRows.find(([, each]) => each === name) ?? expect.fail(`no row ${name}`)
        expect(joined.map((count, i) => count + (handedOver[i] ?? NaN))).to.deep.equal(digitsIn(listed))
        expect(Number(taking)).to.equal(taken)
      })

  after(async () => {
    const zk = await connect((await sharedServer()).connectString)
    for (const path of ['/locks', '/election', '/barriers']) await zk.deleteRecursive(path)
    await zk.close()
  })
})
