import { expect } from 'chai'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, trackSettled } from '../support/settled.ts'

describe('VirtualClock', () => {
  let clock: VirtualClock
  let startedAt: number
  let fired: string[]
  const at = (ms: number, name: string, then?: () => void) =>
    clock.setTimeout(() => {
      fired.push(`${name} ${clock.now() - startedAt}`)
      then?.()
    }, ms)

  beforeEach(() => {
    clock = new VirtualClock()
    startedAt = clock.now()
    fired = []
  })

  it('fires timers in the order of their times, and timers of the same time in the order in which they were set', async () => {
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
    expect(clock.now() - startedAt).to.equal(30)
  })

  it('fires timers that other timers set if they become due during the advance, but never in the turn that set them', async () => {
    at(10, 'a', () => at(0, 'b', () => at(10, 'c', () => at(1, 'd'))))
    await clock.advance(21)
    expect(fired).to.deep.equal(['a 10', 'b 11', 'c 21'])
    expect(clock.pendingTimers).to.equal(1)
  })

  it('runs all microtasks of one timer before the next timer', async () => {
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

  it('does not fire cleared timers, wherever they are in the queue', async () => {
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

  it('fires timers late that became due during a stall', async () => {
    at(10, 'a')
    at(40, 'b')
    clock.stall(30)
    expect(fired).to.deep.equal([])
    await clock.advance(20)
    expect(fired).to.deep.equal(['a 30', 'b 40'])
    expect(clock.now() - startedAt).to.equal(50)
  })

  it('never goes back, even if a timer stalls the process for longer than advance() was to take', async () => {
    at(5, 'a', () => clock.stall(1000))
    await clock.advance(10)
    expect(clock.now() - startedAt).to.equal(1005)
  })

  it('moves the wall clock independently of now()', async () => {
    const wall = clock.wallNow()
    clock.jumpWall(-500)
    await clock.advance(100)
    expect(clock.wallNow() - wall).to.equal(-400)
    expect(clock.now() - startedAt).to.equal(100)
  })

  it('throws RangeError for a time that is missing, NaN, infinite or negative', async () => {
    at(NaN, 'a', () => at(NaN, 'b'))
    at(2 ** 31, 'c')
    for (const ms of [undefined as unknown as number, NaN, Infinity, -500]) {
      expect(await failureOf(clock.advance(ms)), `${ms}`).to.be.instanceOf(RangeError)
      expect(() => clock.stall(ms), `${ms}`).to.throw(RangeError)
    }
    expect(() => clock.jumpWall(NaN)).to.throw(RangeError)
    expect([clock.now() - startedAt, fired]).to.deep.equal([0, []])
    await clock.advance(2)
    expect(fired, 'timers of NaN and of 2^31 ms fire after 1 ms, as in Node').to.deep.equal(['a 1', 'c 1', 'b 2'])
  })

  it('works while a test has replaced the global timers', async () => {
    const { setImmediate: own } = globalThis
    globalThis.setImmediate = (() => undefined) as unknown as typeof setImmediate
    const isDone = trackSettled(clock.advance(10))
    await new Promise(resolve => own(() => own(resolve)))
    globalThis.setImmediate = own
    expect(isDone()).to.equal(true)
  })

  describe('until()', () => {
    const after = (ms: number) => new Promise<string>(resolve => at(ms, 'it', () => resolve('done')))

    it('lets only as much time pass as the promise needs, and resolves with its value', async () => {
      at(60, 'later')
      expect(await clock.until(after(50))).to.equal('done')
      expect(clock.now() - startedAt).to.equal(50)
      expect(fired).to.deep.equal(['it 50'])
    })

    it('lets no time pass for a promise that is already settled', async () => {
      at(1, 'later')
      expect(await clock.until(Promise.resolve(1))).to.equal(1)
      expect(clock.now()).to.equal(startedAt)
    })

    it('rejects with the reason of the promise', async () => {
      const failing = after(10).then(() => Promise.reject(new Error('mine')))
      expect(await failureOf(clock.until(failing))).to.have.property('message', 'mine')
    })

    it('rejects if no timer is left, or if the promise takes too long', async () => {
      const never = new Promise(() => undefined)
      expect(await failureOf(clock.until(never))).to.match(/has not settled/)
      expect(await failureOf(clock.until(after(50), { within: 49 }))).to.match(/within 49 ms/)
    })
  })
})
