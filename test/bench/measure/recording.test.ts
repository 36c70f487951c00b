import { expect } from 'chai'
import { recordAll, type Recording } from '../../../bench/measure/recording.ts'
import { roundTripsOf } from '../../../bench/measure/round-trips.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import { connect } from '../../../src/index.ts'
import { sharedServer } from '../../support/shared-server.ts'

describe('a recording of one release on a real server', function () {
  this.timeout(60_000)

  let connectString: string
  let recordings: Map<string, Recording>
  before(async () => {
    ;({ connectString } = await sharedServer())
    const locks = scenarios.filter(({ kind }) => kind === 'lock')
    recordings = new Map((await recordAll(locks, connectString)).map(each => [each.scenario, each]))
    expect([...recordings.keys()]).to.deep.equal(locks.map(({ name }) => name))
  })

  const happened = (scenario: string, what: string) =>
    (recordings.get(scenario)?.happenings ?? []).filter(({ is }) => is === what)

  it('starts with a request of the holder, and shows that the first waiter gets the lock', () => {
    for (const name of ['herd', 'mutex', 'look-ahead', 'ticket', 'write', 'write-herd', 'reentrant']) {
      const { happenings, actor } = recordings.get(name) as Recording
      expect(happenings[0], name).to.include({ who: 0, is: 'request' })
      expect(actor).to.equal(0)
      expect(happened(name, 'mark').map(({ who }) => who)).to.deep.equal([1])
    }
  })

  it('shows that all waiters of a herd are notified and list, but only the next waiter of a queue is notified', () => {
    const waiters = Array.from({ length: 11 }, (_, i) => i + 1)
    for (const name of ['herd', 'write-herd', 'ephemeral'])
      expect(
        happened(name, 'event').map(({ who }) => who),
        name,
      ).to.have.members(waiters)
    const listed = happened('herd', 'answer').filter(({ op }) => op === 'getChildren2')
    expect(listed.map(({ who }) => who)).to.have.members(waiters)
    for (const name of ['mutex', 'write'])
      expect(
        happened(name, 'event').map(({ who }) => who),
        name,
      ).to.deep.equal([1])
  })

  it('shows that a release also notifies the waiter behind the next holder, which then lists, if waiters look ahead', () => {
    for (const name of ['look-ahead', 'ticket', 'reentrant'])
      expect(
        happened(name, 'event').map(({ who }) => who),
        name,
      ).to.have.members([1, 2])
    const lists = happened('look-ahead', 'request').filter(({ op }) => op === 'getChildren2')
    expect(lists.map(({ who }) => who)).to.deep.equal([2])
    // That of a TicketMutex reads a number instead.
    expect(happened('ticket', 'request').map(({ who, op }) => `${who} ${op}`)).to.deep.equal(['0 multi', '2 getData'])
  })

  it('shows how many round trips it takes until the next session has the lock', () => {
    const counts = ['look-ahead', 'mutex', 'herd', 'write', 'ephemeral'].map(name => [
      name,
      roundTripsOf(recordings.get(name) ?? expect.fail(name)),
    ])
    expect(Object.fromEntries(counts)).to.deep.equal({ 'look-ahead': 1, mutex: 2, herd: 2, write: 2, ephemeral: 3 })
    expect(roundTripsOf({ happenings: [], actor: 0 })).to.equal(undefined)
  })

  it('counts no round trip for a request that the next session sent without waiting for its answer', () => {
    const happening = (who: number, is: 'event' | 'request' | 'answer' | 'mark', op: string) => ({
      ...{ at: 0, who, is, op, says: '', bytes: 0 },
    })
    const happenings = [
      ...[happening(0, 'request', 'delete'), happening(1, 'event', 'event')],
      ...[happening(1, 'request', 'getChildren'), happening(1, 'answer', 'getChildren')],
      ...[happening(1, 'request', 'delete'), happening(1, 'mark', ''), happening(1, 'answer', 'delete')],
    ]
    expect(roundTripsOf({ happenings, actor: 0 })).to.equal(2)
  })

  it('shows that all readers are admitted', () => {
    for (const name of ['readers', 'rw-herd'])
      expect(new Set(happened(name, 'mark').map(({ who }) => who)).size).to.equal(12)
  })

  it('is sorted by time, and has a request for each reply', () => {
    for (const { scenario, happenings } of recordings.values()) {
      const times = happenings.map(({ at }) => at)
      expect(times, scenario).to.deep.equal(times.toSorted((a, b) => a - b))
      expect(happened(scenario, 'answer'), scenario).to.have.length(happened(scenario, 'request').length)
    }
  })

  it('leaves nothing behind', async () => {
    await using client = await connect(connectString)
    const { children } = await client.getChildren('/')
    expect(children.filter(name => name.startsWith('zkwire-bench'))).to.deep.equal([])
  })
})
