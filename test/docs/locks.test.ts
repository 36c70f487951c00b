// Checks docs/locks.md: runs its code, and measures its table of costs.
import { expect } from 'chai'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex } from '../../src/recipes/index.ts'
import { opcodes, ReplyHeader, RequestHeader } from '../../src/protocol/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

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

const rows = [...readDocument('docs/locks.md').matchAll(/^\| `(\w+)` \| (\d) \| (\d) \| (\d) \| (\d) \| (1|N) \|/gm)]
const Locks = { Mutex, TicketMutex, HerdMutex, EphemeralMutex }

describe('docs/locks.md', () => {
  testCodeBlocks('docs/locks.md', [
    /token \d+, valid for a while\nTIMEOUT/,
    /\/locks\/many\/stock_lock_0000000001/,
    /1000\ntrue\ntwice/,
    /true/,
    /null/,
    /from and to/,
    /host-1 leads/,
    /through/,
  ])

  it('has a row in the table of costs for each measured lock', () => {
    expect(rows.map(([, name]) => name)).to.have.members(Object.keys(Locks))
  })

  for (const [, name, acquire, roundTrips, release, handedOver, notified] of rows)
    it(`lists the measured costs of ${name}`, async () => {
      const server = await sharedServer()
      const Lock = Locks[name as keyof typeof Locks]
      const path = `/costs-of-${name}`
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
        await until(async () => (await server.watchCount()) === watches + 1)
        watches++
      }
      for (const each of counted) each.reset()
      await held.release()
      expect(first.count, 'release').to.equal(Number(release))
      const next = await Promise.race(acquisitions)
      const nth = Number(granted[0]) + 1
      expect(counted[nth]?.count, 'handed over').to.equal(Number(handedOver))
      const waiting = waiters.length
      await until(
        () => counted.slice(1).reduce((sum, each) => sum + each.notifications, 0) >= (notified === 'N' ? waiting : 1),
      )
      expect(counted.slice(1).filter(({ notifications }) => notifications > 0)).to.have.length(
        notified === 'N' ? waiting : 1,
      )
      await next.release()
      await Promise.all(acquisitions.map(async each => (await each).release()))
      await holder.deleteRecursive(path)
    })

  after(async () => {
    const zk = await connect((await sharedServer()).connectString)
    for (const path of ['/locks', '/election', '/barriers']) await zk.deleteRecursive(path)
    await zk.close()
  })
})
