import { expect } from 'chai'
import { Backoff, backoff, LONGEST_DELAY } from '../../../src/session/servers/backoff.ts'

/** Makes each pause three quarters of its maximum, which doubles from 50 ms to 1 s. */
const random = () => 0.5

describe('the pause between connection attempts', () => {
  const fail = (attempts: Backoff, times: number, hosts = 1) =>
    Array.from({ length: times }, () => {
      attempts.onConnectionLost(0)
      return attempts.pause(hosts, 30_000, random)
    })

  it('doubles up to 1 s with each failed round through all hosts, and starts over after a connection of 2 s', () => {
    const attempts = new Backoff()
    expect(attempts.pause(1, 30_000, random)).to.equal(37.5)
    expect(fail(attempts, 7)).to.deep.equal([75, 150, 300, 600, 750, 750, 750])
    attempts.onConnected(0)
    attempts.onConnectionLost(2000)
    expect(attempts.pause(1, 30_000, random)).to.equal(37.5)
    expect(fail(new Backoff(), 7, 3)).to.deep.equal([37.5, 37.5, 75, 75, 75, 150, 150])
  })

  it('is so short with many hosts that each of them is tried about once a second', () => {
    const attempts = new Backoff()
    fail(attempts, 30, 3)
    expect(attempts.pause(3, 30_000, random)).to.equal(250)
    expect(attempts.pause(30, 30_000, random)).to.equal(25)
  })

  it('is shorter by the time that the failed attempt took', () => {
    const attempts = new Backoff()
    fail(attempts, 9)
    attempts.onAttempt(1000, 5000)
    attempts.onConnectionLost(1500)
    expect(attempts.pause(1, 30_000, random)).to.equal(250)
    attempts.onAttempt(2000, 5000)
    attempts.onConnectionLost(4000)
    expect(attempts.pause(1, 30_000, random)).to.equal(0)
    attempts.onConnectionLost(9000)
    expect(attempts.pause(1, 30_000, random), 'after a failed lookup').to.equal(750)
    attempts.onAttempt(9500, 5000)
    attempts.onConnectionLost(9900)
    attempts.onAttempt(10_000, 5000)
    attempts.onConnected(10_001)
    attempts.onConnectionLost(20_000)
    expect(attempts.pause(1, 30_000, random), 'after a connection').to.equal(37.5)
    attempts.onConnectionLost(30_000)
    expect(attempts.pause(1, 30_000, random), 'after a failed lookup').to.equal(75)
  })

  it('ends an attempt that the client itself gave up as if it had not begun', () => {
    const attempts = new Backoff()
    attempts.onAttempt(0, 1000)
    attempts.onServerLeft()
    attempts.onConnectionLost(500)
    expect(attempts.pause(1, 30_000, random)).to.equal(75)
  })

  it('knows whether a server has accepted the session on the present connection', () => {
    const attempts = new Backoff()
    expect(attempts.isConnected).to.equal(false)
    attempts.onConnected(0)
    expect(attempts.isConnected).to.equal(true)
    attempts.onServerLeft()
    expect(attempts.isConnected).to.equal(false)
    attempts.onConnected(0)
    attempts.onConnectionLost(1)
    expect(attempts.isConnected).to.equal(false)
  })

  it('is between half of its maximum and all of it, at random, so that clients do not reconnect at the same time', () => {
    for (const failures of [0, 1, 5, 100]) {
      const longest = Math.min(LONGEST_DELAY, 50 * 2 ** failures)
      expect(backoff(failures, () => 0)).to.equal(longest / 2)
      expect(backoff(failures, () => 0.999)).to.be.within(longest * 0.99, longest)
    }
  })

  it('grows if connections last less than 2 s one after another, even if the servers answered', () => {
    const attempts = new Backoff()
    const pauseAfter = (ms: number) => {
      attempts.onConnected(1000)
      attempts.onConnectionLost(1000 + ms)
      return attempts.pause(3, 30_000, random)
    }
    expect([1999, 1999, 0, 1999].map(pauseAfter)).to.deep.equal([37.5, 75, 150, 300])
    expect(pauseAfter(2000)).to.equal(37.5)
    expect(pauseAfter(1999)).to.equal(37.5)
    expect(pauseAfter(1999)).to.equal(75)
  })

  it('is as long after short connections as after others if all hosts fail, because their servers are down', () => {
    const attempts = new Backoff()
    for (let connections = 0; connections < 9; connections++) {
      attempts.onConnected(0)
      attempts.onConnectionLost(1000)
    }
    expect(attempts.pause(2, 30_000, random)).to.equal(1500)
    expect(fail(attempts, 6, 2)).to.deep.equal([1500, 75, 75, 150, 150, 300])
  })

  it('is at most a quarter of the session timeout, so that the session can be saved after it', () => {
    const attempts = new Backoff()
    fail(attempts, 9)
    expect(attempts.pause(1, 2000, random)).to.equal(375)
  })
})

describe('the time for one attempt', () => {
  /** Returns the times of attempts at hosts that fail after `share` of their time. */
  const timesOf = (attempts: Backoff, count: number, share: number, hosts = 3) =>
    Array.from({ length: count }, () => {
      const time = attempts.attemptTimeout(hosts, 3000)
      attempts.onAttempt(0, time)
      attempts.onConnectionLost(time * share)
      return time
    })

  it('is a share of half the time for the first round of silent hosts, and doubles with each round', () => {
    const attempts = new Backoff()
    expect(timesOf(attempts, 8, 1)).to.deep.equal([500, 500, 500, 1000, 1000, 1000, 2000, 2000])
    attempts.onConnected(0)
    expect(attempts.attemptTimeout(3, 3000)).to.equal(500)
    attempts.onConnectionLost(1)
    expect(attempts.attemptTimeout(3, 3000), 'after a short connection').to.equal(500)
  })

  it('is at most a second at first, because a server that is starting may never answer', () => {
    expect(new Backoff().attemptTimeout(1, 30_000)).to.equal(1000)
  })

  it('stays the same while hosts refuse the connection, and shrinks again if they were silent before', () => {
    const attempts = new Backoff()
    expect(timesOf(attempts, 3, 0.9, 1)).to.deep.equal([1000, 1000, 1000])
    expect(timesOf(attempts, 2, 1, 1)).to.deep.equal([1000, 2000])
    expect(timesOf(attempts, 4, 0, 1)).to.deep.equal([4000, 2000, 1000, 1000])
  })
})
