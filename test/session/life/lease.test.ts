import { expect } from 'chai'
import fc from 'fast-check'
import { readClocks } from '../../../src/runtime/clock.ts'
import { remaining, Lease } from '../../../src/session/life/lease.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const moment = fc.record({ now: fc.integer({ min: 0, max: 1e9 }), wall: fc.integer({ min: 0, max: 1e9 }) })
const timeout = fc.integer({ min: 1, max: 1e6 })
const ms = fc.integer({ min: 0, max: 1e7 })

describe('what is left of a lease', () => {
  it('is the whole at first, and less by what either clock says has passed', () => {
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 5, wall: 70 })).to.equal(100)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 45, wall: 110 })).to.equal(60)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 6, wall: 150 }), 'the machine was suspended').to.equal(20)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 35, wall: 0 }), 'the calendar was set back').to.equal(70)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 105, wall: 170 })).to.equal(0)
  })

  it('is never negative, never more than the timeout, never more than by the monotonic clock alone', () => {
    fc.assert(
      fc.property(moment, timeout, ms, fc.integer(), (since, t, passed, jump) => {
        const now = { now: since.now + passed, wall: since.wall + passed + jump }
        const rest = remaining(since, t, now)
        expect(rest).to.be.within(0, t)
        expect(rest).to.be.at.most(Math.max(0, t - passed))
        if (jump <= 0) expect(rest).to.equal(Math.max(0, t - passed))
      }),
    )
  })

  it('shrinks as time passes', () => {
    fc.assert(
      fc.property(moment, timeout, ms, ms, (since, t, some, more) => {
        const at = (passed: number) => remaining(since, t, { now: since.now + passed, wall: since.wall + passed })
        expect(at(some + more)).to.be.at.most(at(some))
      }),
    )
  })
})

describe('a lease', () => {
  let clock: VirtualClock
  let lapses: number
  let lease: Lease

  beforeEach(() => {
    clock = new VirtualClock()
    lapses = 0
    lease = new Lease(clock, () => lapses++)
  })

  it('that has not begun is worth nothing, and does not lapse', async () => {
    expect(lease.remaining()).to.equal(0)
    lease.check()
    await clock.advance(1e6)
    expect(lapses).to.equal(0)
    expect(lease.signal.aborted).to.equal(false)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('lapses once, on time, however often it is looked at', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(99)
    expect(lapses).to.equal(0)
    await clock.advance(1)
    expect(lapses).to.equal(1)
    expect(lease.signal.aborted).to.equal(true)
    for (let i = 0; i < 3; i++) lease.check()
    await clock.advance(1000)
    expect(lapses).to.equal(1)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('is counted from when what was answered had been sent', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(40)
    const sentAt = readClocks(clock)
    await clock.advance(30)
    lease.renew(sentAt)
    expect(lease.remaining()).to.equal(70)
    await clock.advance(69)
    expect(lapses).to.equal(0)
    await clock.advance(1)
    expect(lapses).to.equal(1)
  })

  it('is not shortened by a late answer to an early packet', async () => {
    const early = readClocks(clock)
    await clock.advance(10)
    lease.start(readClocks(clock), 100)
    lease.renew(early)
    expect(lease.remaining()).to.equal(100)
  })

  it('takes one timer, however often it is renewed', async () => {
    lease.start(readClocks(clock), 100)
    for (let i = 0; i < 500; i++) {
      await clock.advance(1)
      lease.renew(readClocks(clock))
      expect(clock.pendingTimers).to.equal(1)
    }
    expect(lapses).to.equal(0)
  })

  it('comes back with a new signal, and may lapse again', async () => {
    lease.start(readClocks(clock), 100)
    const { signal } = lease
    await clock.advance(100)
    lease.renew(readClocks(clock))
    expect(lease.signal).not.to.equal(signal)
    expect([signal.aborted, lease.signal.aborted]).to.deep.equal([true, false])
    await clock.advance(100)
    expect(lapses).to.equal(2)
    expect(lease.signal.aborted).to.equal(true)
  })

  it('does not come back by an answer to what was sent too long ago', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(10)
    const sentAt = readClocks(clock)
    await clock.advance(200)
    lease.renew(sentAt)
    expect(lease.expired).to.equal(true)
    expect(lease.remaining()).to.equal(0)
  })

  it('that is over stays so', async () => {
    lease.start(readClocks(clock), 100)
    const reason = new Error('closed')
    lease.end(() => reason)
    expect(lease.signal.reason).to.equal(reason)
    lease.renew(readClocks(clock))
    lease.check()
    await clock.advance(1000)
    expect(lease.remaining()).to.equal(0)
    expect(lapses).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })
})
