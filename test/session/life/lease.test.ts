import { expect } from 'chai'
import fc from 'fast-check'
import { readClocks } from '../../../src/runtime/clock.ts'
import { remaining, SessionLease } from '../../../src/session/life/lease.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const timestamp = fc.record({ now: fc.integer({ min: 0, max: 1e9 }), wall: fc.integer({ min: 0, max: 1e9 }) })
const timeout = fc.integer({ min: 1, max: 1e6 })
const ms = fc.integer({ min: 0, max: 1e7 })

describe('the remaining time of a lease', () => {
  it('is the timeout minus the time that passed by either clock', () => {
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 5, wall: 70 })).to.equal(100)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 45, wall: 110 })).to.equal(60)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 6, wall: 150 }), 'the machine was suspended').to.equal(20)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 35, wall: 0 }), 'the wall clock was set back').to.equal(70)
    expect(remaining({ now: 5, wall: 70 }, 100, { now: 105, wall: 170 })).to.equal(0)
  })

  it('is between 0 and the timeout, and never more than by the monotonic clock alone', () => {
    fc.assert(
      fc.property(timestamp, timeout, ms, fc.integer(), (since, t, passed, jump) => {
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
      fc.property(timestamp, timeout, ms, ms, (since, t, some, more) => {
        const at = (passed: number) => remaining(since, t, { now: since.now + passed, wall: since.wall + passed })
        expect(at(some + more)).to.be.at.most(at(some))
      }),
    )
  })
})

describe('a lease', () => {
  let clock: VirtualClock
  let expiries: number
  let lease: SessionLease

  beforeEach(() => {
    clock = new VirtualClock()
    expiries = 0
    lease = new SessionLease(clock, () => expiries++)
  })

  it('has no remaining time before it starts, and does not expire', async () => {
    expect(lease.remaining()).to.equal(0)
    lease.expireIfDue()
    await clock.advance(1e6)
    expect(expiries).to.equal(0)
    expect(lease.signal.aborted).to.equal(false)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('expires once, on time, even if it is checked often', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(99)
    expect(expiries).to.equal(0)
    await clock.advance(1)
    expect(expiries).to.equal(1)
    expect(lease.signal.aborted).to.equal(true)
    for (let i = 0; i < 3; i++) lease.expireIfDue()
    await clock.advance(1000)
    expect(expiries).to.equal(1)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('counts from the time at which the answered packet was sent', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(40)
    const sentAt = readClocks(clock)
    await clock.advance(30)
    lease.renew(sentAt)
    expect(lease.remaining()).to.equal(70)
    await clock.advance(69)
    expect(expiries).to.equal(0)
    await clock.advance(1)
    expect(expiries).to.equal(1)
  })

  it('is not shortened by a late reply to an early packet', async () => {
    const early = readClocks(clock)
    await clock.advance(10)
    lease.start(readClocks(clock), 100)
    lease.renew(early)
    expect(lease.remaining()).to.equal(100)
  })

  it('uses one timer, even if it is renewed often', async () => {
    lease.start(readClocks(clock), 100)
    for (let i = 0; i < 500; i++) {
      await clock.advance(1)
      lease.renew(readClocks(clock))
      expect(clock.pendingTimers).to.equal(1)
    }
    expect(expiries).to.equal(0)
  })

  it('is renewed with a new signal after it expired, and may expire again', async () => {
    lease.start(readClocks(clock), 100)
    const { signal } = lease
    await clock.advance(100)
    lease.renew(readClocks(clock))
    expect(lease.signal).not.to.equal(signal)
    expect([signal.aborted, lease.signal.aborted]).to.deep.equal([true, false])
    await clock.advance(100)
    expect(expiries).to.equal(2)
    expect(lease.signal.aborted).to.equal(true)
  })

  it('is not renewed by a reply to a packet that was sent too long ago', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(10)
    const sentAt = readClocks(clock)
    await clock.advance(200)
    lease.renew(sentAt)
    expect(lease.expired).to.equal(true)
    expect(lease.remaining()).to.equal(0)
  })

  it('is not renewed after end()', async () => {
    lease.start(readClocks(clock), 100)
    const reason = new Error('closed')
    lease.end(() => reason)
    expect(clock.pendingTimers).to.equal(0)
    expect(lease.signal.reason).to.equal(reason)
    lease.renew(readClocks(clock))
    lease.expireIfDue()
    await clock.advance(1000)
    expect(lease.remaining()).to.equal(0)
    expect(expiries).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('has a reason that names the session timeout after it expired', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(100)
    expect(lease.signal.reason).to.have.property('code', 'CONNECTIONLOSS')
    expect(lease.signal.reason)
      .to.have.property('message')
      .that.includes('no server has confirmed the session for 100 ms')
  })

  it('asks to be checked again when it expires', async () => {
    lease.start(readClocks(clock), 10_000)
    expect(lease.expireIfDue()).to.equal(10_000)
    await clock.advance(9700)
    expect(lease.expireIfDue()).to.equal(300)
    await clock.advance(300)
    expect(lease.expireIfDue()).to.equal(Infinity)
  })

  it('has one timer again after it expired and was renewed', async () => {
    lease.start(readClocks(clock), 100)
    await clock.advance(100)
    lease.renew(readClocks(clock))
    expect(clock.pendingTimers).to.equal(1)
    lease.start(readClocks(clock), 100)
    expect(clock.pendingTimers).to.equal(1)
  })

  it('has no timer after a check that found it expired', () => {
    lease.start(readClocks(clock), 100)
    const { now, wall } = readClocks(clock)
    expect(lease.expireIfDue({ now, wall: wall + 100 })).to.equal(Infinity)
    expect(expiries).to.equal(1)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('keeps its signal if it is renewed before it expires', async () => {
    const { signal } = lease
    lease.start(readClocks(clock), 100)
    await clock.advance(50)
    lease.renew(readClocks(clock))
    expect(lease.signal).to.equal(signal)
  })

  describe('of a session that holds something', () => {
    const T = 10_000
    /** Answers a packet that is sent now, after `ms` milliseconds. */
    const answered = async (ms: number) => {
      const sentAt = readClocks(clock)
      await clock.advance(ms)
      lease.renew(sentAt)
      return sentAt
    }
    const byLeader = async (isWrite: boolean, ms = 10) => lease.renewByLeader(await answered(ms), isWrite)
    /** The time at which the lease starts. */
    const start = () => clock.now() + lease.remaining() - T - begun
    let begun: number

    beforeEach(async () => {
      begun = clock.now()
      lease.start(readClocks(clock), T)
      lease.hold()
      await clock.advance(10)
    })

    it('starts at the handshake, as soon as a write that was sent after it is answered', async () => {
      expect(lease.remaining()).to.equal(0)
      await byLeader(false)
      expect(lease.remaining()).to.equal(0)
      await byLeader(true)
      expect(start()).to.equal(0)
    })

    it('starts at the handshake also by a write that was sent with it, and not by a read', () => {
      const sentAt = readClocks(clock)
      lease.start(sentAt, T)
      lease.renew(sentAt)
      lease.renewByLeader(sentAt, false)
      expect([lease.remaining(), lease.confirmedFor() > 0]).to.deep.equal([0, false])
      lease.renewByLeader(sentAt, true)
      expect([lease.remaining(), lease.confirmedFor() > 0]).to.deep.equal([T, true])
    })

    it('starts at a packet when a sync, sent more than a quarter of T after its answer, and then a write are answered', async () => {
      const sentAt = clock.now()
      await byLeader(true)
      await answered(10)
      await clock.advance(T / 4 - 10)
      await byLeader(false)
      await byLeader(true)
      expect(start(), 'too early for a ping of the leader').to.equal(0)
      await clock.advance(T / 4)
      await byLeader(false)
      expect(start(), 'no majority').to.equal(0)
      await byLeader(true)
      expect(start()).to.equal(sentAt - begun)
    })

    it('asks for the next proof a quarter of T after the first write, also if that write was one of several in a packet', async () => {
      const sentAt = await answered(10)
      lease.renewByLeader(sentAt, true)
      lease.renew(sentAt)
      expect(lease.mustAskAt - clock.now()).to.be.within(T / 4, 0.3 * T)
    })

    it('does not start later by a write that was sent before the sync was answered', async () => {
      await byLeader(true)
      await answered(10)
      await clock.advance(T / 2)
      const sentAt = readClocks(clock)
      await byLeader(false)
      lease.renewByLeader(sentAt, true)
      expect(start()).to.equal(0)
    })

    it('is renewed by writes alone, and the first one stands for the sync', async () => {
      for (let i = 0; i < 100; i++) {
        await byLeader(true)
        await clock.advance(200)
        expect(lease.remaining()).to.be.above(T / 3)
      }
      expect(lease.mustAskAt).to.be.above(clock.now() - T)
    })

    it('counts nothing of an earlier connection', async () => {
      await byLeader(true)
      const { now: sentAt } = await answered(10)
      await clock.advance(T / 3)
      await byLeader(false)
      const reconnectedAt = clock.now()
      lease.start(readClocks(clock), T)
      await byLeader(false)
      expect(start()).to.equal(0)
      await byLeader(true)
      expect(start())
        .to.equal(reconnectedAt - begun)
        .and.not.to.equal(sentAt - begun)
    })

    it('ends when the leader has confirmed nothing for T, although a server answers', async () => {
      await byLeader(true)
      for (let i = 0; i < 9; i++) await answered(1000)
      expect(lease.expired).to.equal(false)
      await answered(1000)
      expect([lease.expired, expiries]).to.deep.equal([true, 1])
      expect(lease.signal.reason)
        .to.have.property('message')
        .that.includes('no leader has confirmed the session for 10000 ms')
    })

    it('is that of the last answered packet again when the session holds nothing', async () => {
      lease.hold()
      await answered(10)
      lease.release()
      expect(lease.remaining()).to.equal(0)
      lease.release()
      expect(start()).to.equal(10)
    })

    for (const holds of [1, 2, 5])
      it(`that has ended without the leader begins again at the last of ${holds} releases, if a server has answered`, async () => {
        for (let i = 1; i < holds; i++) lease.hold()
        await byLeader(true)
        const { signal } = lease
        for (let i = 0; i < 10; i++) await answered(1000)
        for (let i = 1; i < holds; i++) {
          lease.release()
          expect([lease.expired, lease.remaining()], `release ${i}`).to.deep.equal([true, 0])
        }
        lease.release()
        expect([lease.expired, lease.remaining() > T / 2]).to.deep.equal([false, true])
        expect([signal.aborted, lease.signal.aborted]).to.deep.equal([true, false])
        await clock.advance(lease.remaining())
        expect([lease.expired, expiries]).to.deep.equal([true, 2])
      })

    it('that has ended does not begin again at a release if no server has answered either', async () => {
      await byLeader(true)
      await clock.advance(T)
      lease.release()
      expect([lease.expired, lease.signal.aborted, clock.pendingTimers]).to.deep.equal([true, true, 0])
    })

    it('has one timer, which is due when it ends', async () => {
      await byLeader(true)
      expect(clock.pendingTimers).to.equal(1)
      await clock.advance(lease.remaining())
      expect(expiries).to.equal(1)
      expect(clock.pendingTimers).to.equal(0)
    })
  })

  describe('whose owner checks it', () => {
    it('has no timer of its own', () => {
      lease.start(readClocks(clock), 100)
      lease.hasExternalTimer = true
      expect(clock.pendingTimers).to.equal(0)
      lease.start(readClocks(clock), 100)
      expect(clock.pendingTimers).to.equal(0)
    })

    it('expires when a check finds that its time is over', async () => {
      lease.hasExternalTimer = true
      lease.start(readClocks(clock), 100)
      await clock.advance(150)
      expect(expiries).to.equal(0)
      lease.expireIfDue()
      expect(expiries).to.equal(1)
    })

    it('has a timer again when its owner stops, and keeps that one', async () => {
      lease.hasExternalTimer = true
      lease.start(readClocks(clock), 100)
      for (let i = 0; i < 2; i++) {
        lease.hasExternalTimer = false
        expect(clock.pendingTimers).to.equal(1)
      }
      await clock.advance(100)
      expect(expiries).to.equal(1)
    })

    it('has no timer when its owner stops before it starts, or after it expired or ended', async () => {
      const stop = () => {
        lease.hasExternalTimer = true
        lease.hasExternalTimer = false
        return clock.pendingTimers
      }
      expect(stop()).to.equal(0)
      lease.start(readClocks(clock), 100)
      await clock.advance(100)
      expect(stop()).to.equal(0)
      lease.end(() => new Error('closed'))
      expect(stop()).to.equal(0)
    })
  })
})
