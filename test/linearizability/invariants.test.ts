// The rules, checked on short histories written by hand.
import { expect } from 'chai'
import { fromLine, toLine, type Event } from './history.ts'
import { violations, type Violation } from './invariants.ts'
import { kinds } from './tenures.ts'
import type { Transaction } from './transaction-log.ts'

const LOCK = '/lock'
const node = (n: number, name = 'x-') => `${LOCK}/${name}${String(n).padStart(10, '0')}`

/**
 * The times of one contender's steps. Transaction 10 * made creates its node, and transaction 10 * deleted + 5 deletes
 * it.
 */
interface Story {
  requested: number
  granted?: number
  /** When the session got its last reply before the grant. Default: the moment of the grant. */
  replied?: number
  /** The node whose deletion an event reported after that reply. */
  reported?: number
  lost?: number
  releasing?: number
  released?: number
  made: number
  /** When the session created another node for the same attempt. It is deleted one moment before the first one. */
  alsoMade?: number
  deleted?: number
  /** The session that deleted the node. Default: its owner. */
  deletedBy?: bigint
  name?: string
  /** Default: the transaction that creates the node. */
  token?: bigint
}

/** Session n has node n. The server's clock is the clock of the events. */
function judge(stories: readonly Story[], { kind = kinds.queue, patience = 1000 } = {}): string[] {
  const events: Event[] = []
  const log: Transaction[] = []
  for (const [i, story] of stories.entries()) {
    const [id, session, path] = [`attempt ${i}`, BigInt(i), kind.contender.test('') ? LOCK : node(i, story.name)]
    const created = BigInt(10 * story.made)
    const { token = created } = story
    const zxidAt = (moment: number) => BigInt(10 * moment + 9)
    events.push({ at: 0, is: 'connected', session }, { at: story.requested, is: 'requested', id, lock: LOCK, session })
    if (story.granted !== undefined) {
      const lastZxid = zxidAt(story.replied ?? story.granted)
      const lastDeletion =
        story.reported === undefined ? {} : { lastDeletion: { path: node(story.reported), after: lastZxid } }
      events.push({ at: story.granted, is: 'granted', id, node: path, token, lastZxid, ...lastDeletion })
    }
    if (story.lost !== undefined) events.push({ at: story.lost, is: 'lost', id })
    if (story.releasing !== undefined) events.push({ at: story.releasing, is: 'releasing', id })
    if (story.released !== undefined)
      events.push({ at: story.released, is: 'released', id, lastZxid: zxidAt(story.released), isOver: false })
    const by = story.deletedBy ?? session
    const lives = (path: string, made: number, deleted: number | undefined) => {
      log.push({ zxid: BigInt(10 * made), at: made, session, type: 1, changes: [{ is: 'created', path }] })
      if (deleted === undefined) return
      const zxid = BigInt(10 * deleted + 5)
      log.push({ zxid, at: deleted, session: by, type: 2, changes: [{ is: 'deleted', path }] })
    }
    lives(path, story.made, story.deleted)
    if (story.alsoMade !== undefined) lives(node(100 + i, story.name), story.alsoMade, (story.deleted ?? 0) - 1)
  }
  log.sort((a, b) => Number(a.zxid - b.zxid))
  const evidence = { locks: new Map([[LOCK, kind]]), events, log, wallClockOffset: 0, patience, grace: 50 }
  return violations(evidence).map(({ rule }) => rule)
}

const holds = (from: number, to: number): Story => ({
  requested: from - 2,
  made: from - 1,
  granted: from,
  releasing: to,
  deleted: to,
  released: to + 1,
})

describe('a rule for histories', () => {
  const breaks = (rule: Violation['rule'], ...all: Parameters<typeof judge>) => expect(judge(...all)).to.include(rule)
  const isFine = (...all: Parameters<typeof judge>) => expect(judge(...all)).to.deep.equal([])

  it('accepts two contenders that hold the lock one after the other', () => isFine([holds(10, 20), holds(30, 40)]))

  it('accepts 50,000 holds in a row, as many as a soak run has', () =>
    isFine(Array.from({ length: 50_000 }, (_, i) => holds(10 * i + 10, 10 * i + 15))))

  it('rejects an attempt that is neither granted nor refused, and a grant that is not released', () => {
    breaks('settles once', [{ requested: 1, made: 2, deleted: 3 }])
    breaks('settles once', [{ requested: 1, made: 2, granted: 3, releasing: 4, deleted: 5 }])
    breaks('settles once', [{ requested: 1, made: 2, granted: 3, deleted: 5 }])
  })

  it('rejects two contenders that believe at the same time that they hold the lock', () => {
    const first = { ...holds(10, 20), releasing: 30, released: 31 }
    const next = { ...holds(25, 40), made: 12 }
    breaks('belief overlap', [first, next])
    isFine([{ ...first, lost: 24 }, next])
  })

  it('accepts a grant after an event that reported the end of the last contender ahead, and of no other', () => {
    const first = holds(10, 20)
    const next = { ...holds(25, 40), made: 12, replied: 15 }
    breaks('justified grant', [first, next])
    isFine([first, { ...next, reported: 0 }])
    const holder = { ...holds(10, 30), releasing: 24 }
    const gaveUp = { requested: 8, made: 11, deleted: 20 }
    breaks('justified grant', [holder, gaveUp, { ...next, reported: 1 }])
  })

  it('excuses a holder whose node another session deleted, but only for the grace period', () => {
    const removed = { ...holds(10, 20), releasing: 60, released: 61, deletedBy: 99n }
    isFine([removed, { ...holds(25, 80), made: 12 }])
    breaks('belief overlap', [
      { ...removed, releasing: 90, released: 91 },
      { ...holds(25, 95), made: 12 },
    ])
  })

  it('lets readers share a lock, but not with a writer', () => {
    const [read, write] = ['a-__READ__', 'a-__WRIT__']
    const together = [holds(10, 50), { ...holds(20, 40) }]
    isFine(
      together.map(story => ({ ...story, name: read })),
      { kind: kinds.readWrite },
    )
    breaks(
      'justified grant',
      together.map((story, i) => ({ ...story, name: i === 0 ? read : write })),
      { kind: kinds.readWrite },
    )
    breaks(
      'belief overlap',
      together.map((story, i) => ({ ...story, name: i === 1 ? read : write })),
      { kind: kinds.readWrite },
    )
  })

  it('rejects more concurrent holders than the semaphore has permits', () => {
    const name = 'leases/x-'
    const three = [holds(10, 50), holds(20, 50), holds(30, 50)].map(story => ({ ...story, name }))
    isFine(three, { kind: kinds.semaphore(3) })
    breaks('belief overlap', three, { kind: kinds.semaphore(2) })
    breaks('justified grant', three, { kind: kinds.semaphore(2) })
  })

  it('rejects tokens that decrease with time, and grants out of order', () => {
    const late = { ...holds(30, 40), made: 5, requested: 25 }
    breaks('real-time order', [holds(10, 20), late], { kind: kinds.singleNode })
    breaks('token order', [holds(10, 20), { ...holds(30, 40), token: 1n }])
    breaks('first come, first served', [{ ...holds(30, 40), made: 5 }, { ...holds(10, 20) }])
  })

  it('rejects a contender that does not take its turn within the allowed time', () => {
    breaks('lost wake-up', [holds(10, 20), { ...holds(200, 210), made: 12 }], { patience: 100 })
    isFine([holds(10, 20), { ...holds(200, 210), made: 12 }], { patience: 300 })
  })

  it('takes the nodes that a holder of several permits created before the granted one for held', () => {
    const name = 'leases/x-'
    const options = { kind: kinds.semaphore(3), patience: 100 }
    isFine([{ ...holds(10, 210), name, alsoMade: 8 }], options)
    breaks('lost wake-up', [{ ...holds(10, 210), name, alsoMade: 11 }], options)
  })

  it('rejects a node that is left at the end, and a release that is recorded before the delete', () => {
    breaks('leaked node', [{ requested: 1, made: 2 }])
    breaks('leaked node', [{ ...holds(10, 20), deleted: 25 }])
  })

  it('applies to events that were written as lines and read back unchanged', () => {
    const event: Event = { at: 1.5, is: 'granted', id: 'a1', node: '/a', token: 2n ** 60n, lastZxid: -1n }
    expect(fromLine(toLine(event))).to.deep.equal(event)
  })
})
