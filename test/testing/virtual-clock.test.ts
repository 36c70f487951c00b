import { expect } from 'chai'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

describe('a virtual clock', () => {
  let clock: VirtualClock
  let begun: number
  let fired: string[]
  const at = (ms: number, name: string, then?: () => void) =>
    clock.setTimeout(() => {
      fired.push(`${name} ${clock.now() - begun}`)
      then?.()
    }, ms)

  beforeEach(() => {
    clock = new VirtualClock()
    begun = clock.now()
    fired = []
  })

  it('fires what is due in the order of its time, and what is due at once in the order in which it was set', async () => {
    for (const [ms, name] of [
      [30, 'c'],
      [10, 'a'],
      [20, 'b'],
      [10, 'A'],
      [30, 'C'],
    ] as const)
      at(ms, name)
    await clock.advance(29)
    expect(fired).to.deep.equal(['a 10', 'A 10', 'b 20'])
    await clock.advance(1)
    expect(fired.slice(3)).to.deep.equal(['c 30', 'C 30'])
    expect(clock.now() - begun).to.equal(30)
  })

  it('fires what is set meanwhile, if it is due by then; never in the turn that set it', async () => {
    at(10, 'a', () => at(0, 'b', () => at(10, 'c', () => at(1, 'd'))))
    await clock.advance(21)
    expect(fired).to.deep.equal(['a 10', 'b 11', 'c 21'])
    expect(clock.pendingTimers).to.equal(1)
  })

  it('lets all that follows from one timer happen before the next', async () => {
    at(10, 'a', () => {
      void (async () => {
        for (let i = 0; i < 100; i++) await Promise.resolve()
        fired.push('all that follows')
      })()
    })
    at(10, 'b')
    await clock.advance(10)
    expect(fired).to.deep.equal(['a 10', 'all that follows', 'b 10'])
  })

  it('fires no timer that was cleared, whichever of many', async () => {
    const timers = Array.from({ length: 50 }, (_, i) => at(10 * (i % 7), `${i}`))
    timers.forEach((timer, i) => i % 3 === 0 || clock.clearTimeout(timer))
    clock.clearTimeout(timers[1])
    clock.clearTimeout(undefined)
    expect(clock.pendingTimers).to.equal(17)
    await clock.advance(100)
    expect(fired.map(each => Number(each.split(' ')[0])).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 17 }, (_, i) => 3 * i),
    )
    timers.forEach(timer => clock.clearTimeout(timer))
    expect(clock.pendingTimers).to.equal(0)
  })

  it('fires late what came due in a stall', async () => {
    at(10, 'a')
    at(40, 'b')
    clock.stall(30)
    expect(fired).to.deep.equal([])
    await clock.advance(20)
    expect(fired).to.deep.equal(['a 30', 'b 40'])
    expect(clock.now() - begun).to.equal(50)
  })

  it('keeps the calendar apart', async () => {
    const wall = clock.wallNow()
    clock.jumpWall(-500)
    await clock.advance(100)
    expect(clock.wallNow() - wall).to.equal(-400)
    expect(clock.now() - begun).to.equal(100)
  })

  it('lets only so much time pass as there is: not none at all, no endless one, and it never goes back', async () => {
    at(NaN, 'a', () => at(NaN, 'b'))
    for (const ms of [undefined as unknown as number, NaN, Infinity, -500]) {
      expect(await failureOf(clock.advance(ms)), `${ms}`).to.be.instanceOf(RangeError)
      expect(() => clock.stall(ms), `${ms}`).to.throw(RangeError)
    }
    expect(() => clock.jumpWall(NaN)).to.throw(RangeError)
    expect([clock.now() - begun, fired]).to.deep.equal([0, []])
    await clock.advance(2)
    expect(fired, 'a timer of no time at all is one of a millisecond, as in Node').to.deep.equal(['a 1', 'b 2'])
  })

  it('goes on where a test has put its own timers in the place of the machine’s', async () => {
    const { setImmediate: own } = globalThis
    globalThis.setImmediate = (() => undefined) as unknown as typeof setImmediate
    const isDone = trackSettled(clock.advance(10))
    await new Promise(resolve => own(() => own(resolve)))
    globalThis.setImmediate = own
    expect(isDone()).to.equal(true)
  })

  describe('until a promise settles', () => {
    const after = (ms: number) => new Promise<string>(resolve => at(ms, 'it', () => resolve('done')))

    it('lets no more time pass than it takes, and gives what it gives', async () => {
      at(60, 'later')
      expect(await clock.until(after(50))).to.equal('done')
      expect(clock.now() - begun).to.equal(50)
      expect(fired).to.deep.equal(['it 50'])
    })

    it('lets none pass where it needs none', async () => {
      at(1, 'later')
      expect(await clock.until(Promise.resolve(1))).to.equal(1)
      expect(clock.now()).to.equal(begun)
    })

    it('throws what it throws', async () => {
      const failing = after(10).then(() => Promise.reject(new Error('mine')))
      expect(await failureOf(clock.until(failing))).to.have.property('message', 'mine')
    })

    it('gives up when nothing is left that could bring it about, or it takes too long', async () => {
      const never = new Promise(() => undefined)
      expect(await failureOf(clock.until(never))).to.match(/has not settled/)
      expect(await failureOf(clock.until(after(50), { within: 49 }))).to.match(/within 49 ms/)
    })
  })
})
