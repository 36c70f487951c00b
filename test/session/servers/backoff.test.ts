import { expect } from 'chai'
import { Backoff } from '../../../src/session/servers/backoff.ts'

/** Makes each pause three quarters of its maximum, which doubles from 50 ms to 2 s. */
const random = () => 0.5

describe('the pause between connection attempts', () => {
  const fail = (attempts: Backoff, times: number) =>
    Array.from({ length: times }, () => {
      attempts.onConnectionLost(0, false)
      return attempts.nextPause(random)
    })

  it('doubles up to 2 s while attempts fail, and starts over when a server has answered', () => {
    const attempts = new Backoff()
    expect(fail(attempts, 8)).to.deep.equal([37.5, 75, 150, 300, 600, 1200, 1500, 1500])
    attempts.onConnected(0)
    attempts.onAnswer()
    expect(fail(attempts, 3)).to.deep.equal([37.5, 75, 150])
  })

  it('grows too if a connection answered nothing and lasted less than 2 s', () => {
    const attempts = new Backoff()
    attempts.onConnected(1000)
    attempts.onConnectionLost(2999, false)
    expect(attempts.nextPause(random)).to.equal(37.5)
    attempts.onConnected(1000)
    attempts.onConnectionLost(2999, false)
    expect(attempts.nextPause(random)).to.equal(75)
    attempts.onConnected(1000)
    attempts.onConnectionLost(3000, false)
    expect(attempts.nextPause(random)).to.equal(37.5)
    attempts.onConnectionLost(1_000_000, false)
    expect(attempts.nextPause(random), 'without a connection').to.equal(75)
  })

  it('does not depend on permanent failures: onConnectionLost() returns how many occurred in a row', () => {
    const attempts = new Backoff()
    const ends = [true, true, false, true, true, true]
    expect(ends.map(isPermanent => attempts.onConnectionLost(0, isPermanent))).to.deep.equal([1, 2, 0, 1, 2, 3])
  })
})
