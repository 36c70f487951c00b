import { expect } from 'chai'
import { Backoff } from '../../../src/session/servers/backoff.ts'

/** Makes each pause three quarters of its maximum, which doubles from 50 ms to 2 s. */
const random = () => 0.5

describe('the pause between connection attempts', () => {
  const fail = (attempts: Backoff, times: number, hosts = 1) =>
    Array.from({ length: times }, () => {
      attempts.onConnectionLost(0, false)
      return attempts.pause(hosts, 30_000, random)
    })

  it('doubles up to 2 s with each failed round through all hosts, and starts over after a connection of 2 s', () => {
    const attempts = new Backoff()
    expect(attempts.pause(1, 30_000, random)).to.equal(37.5)
    expect(fail(attempts, 7)).to.deep.equal([75, 150, 300, 600, 1200, 1500, 1500])
    attempts.onConnected(0)
    attempts.onConnectionLost(2000, false)
    expect(attempts.pause(1, 30_000, random)).to.equal(37.5)
    expect(fail(new Backoff(), 7, 3)).to.deep.equal([37.5, 37.5, 75, 75, 75, 150, 150])
  })

  it('grows if connections last less than 2 s one after another, even if the servers answered', () => {
    const attempts = new Backoff()
    const pauseAfter = (ms: number) => {
      attempts.onConnected(1000)
      attempts.onConnectionLost(1000 + ms, false)
      return attempts.pause(3, 30_000, random)
    }
    expect([1999, 1999, 0, 1999].map(pauseAfter)).to.deep.equal([37.5, 75, 150, 300])
    expect(pauseAfter(2000)).to.equal(37.5)
    expect(pauseAfter(1999)).to.equal(37.5)
    expect(pauseAfter(1999)).to.equal(75)
  })

  it('is at most a quarter of the session timeout, so that the session can be saved after it', () => {
    const attempts = new Backoff()
    fail(attempts, 9)
    expect(attempts.pause(1, 2000, random)).to.equal(375)
  })

  it('does not depend on permanent failures: onConnectionLost() returns how many occurred in a row', () => {
    const attempts = new Backoff()
    const ends = [true, true, false, true, true, true]
    expect(ends.map(isPermanent => attempts.onConnectionLost(0, isPermanent))).to.deep.equal([1, 2, 0, 1, 2, 3])
  })
})

describe('the time for one attempt', () => {
  it('is a share of half the time for the first round through all hosts, and doubles with each round', () => {
    const attempts = new Backoff()
    const times = Array.from({ length: 8 }, () => {
      const time = attempts.attemptTimeout(3, 6000)
      attempts.onConnectionLost(0, false)
      return time
    })
    expect(times).to.deep.equal([1000, 1000, 1000, 2000, 2000, 2000, 4000, 4000])
    attempts.onConnected(0)
    expect(attempts.attemptTimeout(3, 6000)).to.equal(1000)
    attempts.onConnectionLost(1, false)
    expect(attempts.attemptTimeout(3, 6000), 'after a short connection').to.equal(1000)
  })
})
