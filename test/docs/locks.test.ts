// What docs/locks.md says: its code runs, and its table of costs is measured.
import { expect } from 'chai'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex } from '../../src/recipes/index.ts'
import { opcodes, ReplyHeader, RequestHeader } from '../../src/protocol/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

/** What one client asks for, pings and the taking back of watches left out. */
class Requests {
  count = 0
  /** How often something was asked after something was answered. */
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

  it('has a row in the table of costs for each lock that is measured', () => {
    expect(rows.map(([, name]) => name)).to.have.members(Object.keys(Locks))
  })

  for (const [, name, acquire, roundTrips, release, handedOver, told] of rows)
    it(`says what ${name} costs`, async () => {
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
      if (holder === undefined || first === undefined) throw new Error('nobody is there')
      await new Lock(holder, path).use(() => undefined)

      first.reset()
      const held = await new Lock(holder, path).acquire()
      expect({ acquire: first.count, roundTrips: first.roundTrips }).to.deep.equal({
        acquire: Number(acquire),
        roundTrips: Number(roundTrips),
      })

      // A herd's holder takes back the watch that its list has left.
      await holder.settled()
      let watches = await server.watchCount()
      const granted: string[] = []
      const passing = []
      for (const [i, client] of waiters.entries()) {
        passing.push(new Lock(client, path).acquire().then(next => (granted.push(String(i)), next)))
        await until(async () => (await server.watchCount()) === watches + 1)
        watches++
      }
      for (const each of counted) each.reset()
      await held.release()
      expect(first.count, 'release').to.equal(Number(release))
      const next = await Promise.race(passing)
      const nth = Number(granted[0]) + 1
      expect(counted[nth]?.count, 'handed over').to.equal(Number(handedOver))
      const waiting = waiters.length
      await until(
        () => counted.slice(1).reduce((sum, each) => sum + each.notifications, 0) >= (told === 'N' ? waiting : 1),
      )
      expect(counted.slice(1).filter(({ notifications }) => notifications > 0)).to.have.length(
        told === 'N' ? waiting : 1,
      )
      await next.release()
      await Promise.all(passing.map(async each => (await each).release()))
      await holder.deleteRecursive(path)
    })

  after(async () => {
    const zk = await connect((await sharedServer()).connectString)
    for (const path of ['/locks', '/election', '/barriers']) await zk.deleteRecursive(path)
    await zk.close()
  })
})
