import { expect } from 'chai'
import { ClockJumps } from '../../src/runtime/clock-jumps.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

class Listener {
  jumps = 0

  expireIfDue(): void {
    this.jumps++
  }
}

describe('the jumps of a clock', () => {
  let clock: VirtualClock
  let jumps: ClockJumps
  let listeners: [Listener, Listener]

  beforeEach(() => {
    clock = new VirtualClock()
    jumps = ClockJumps.of(clock)
    listeners = [new Listener(), new Listener()]
    for (const each of listeners) jumps.add(each)
  })
  const counts = () => listeners.map(each => each.jumps)

  it('are reported to all listeners within a second, each once', async () => {
    await clock.advance(10_500)
    clock.jumpWall(600_000)
    await clock.advance(500)
    expect(counts()).to.deep.equal([1, 1])
    await clock.advance(10_000)
    expect(counts()).to.deep.equal([1, 1])
  })

  it('are reported if many small steps add up to one, as on a machine whose wall clock is too fast', async () => {
    for (let i = 0; i < 30; i++) {
      clock.jumpWall(10)
      await clock.advance(1000)
    }
    expect(counts()).to.deep.equal([2, 2])
  })

  it('are reported after the wall clock was set back, counted from there', async () => {
    clock.jumpWall(-3_600_000)
    await clock.advance(1000)
    expect(counts()).to.deep.equal([0, 0])
    clock.jumpWall(1000)
    await clock.advance(1000)
    expect(counts()).to.deep.equal([1, 1])
  })

  it('are counted from the moment when the first listener is added, not from an earlier one', async () => {
    for (const each of listeners) jumps.remove(each)
    clock.jumpWall(600_000)
    jumps.add(listeners[0])
    await clock.advance(5000)
    expect(counts()).to.deep.equal([0, 0])
  })

  it('need one timer for all listeners, and none when the last one is removed', () => {
    expect(clock.pendingTimers).to.equal(1)
    jumps.remove(listeners[0])
    jumps.remove(listeners[0])
    expect(clock.pendingTimers).to.equal(1)
    jumps.remove(listeners[1])
    expect(clock.pendingTimers).to.equal(0)
  })

  it('are one object for each clock', () => {
    expect(ClockJumps.of(clock)).to.equal(jumps)
    expect(ClockJumps.of(new VirtualClock())).not.to.equal(jumps)
  })

  it('are watched again when a listener is added, if the runtime has dropped the timer', async () => {
    clock.stall(5000)
    const dropped = clock.pendingTimers
    jumps.add(new Listener())
    expect([dropped, clock.pendingTimers]).to.deep.equal([1, 1])
    clock.jumpWall(600_000)
    await clock.advance(1000)
    expect(counts()).to.deep.equal([1, 1])
  })
})
