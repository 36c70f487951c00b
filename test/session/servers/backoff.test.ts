import { expect } from 'chai'
import { Backoff, backoff, LONGEST_DELAY } from '../../../src/session/servers/backoff.ts'

const random = () => 0.5

describe('the attempts at a connection', () => {
  const fail = (attempts: Backoff, times: number) =>
    Array.from({ length: times }, () => {
      attempts.onConnectionLost(0, false)
      return attempts.pause(random)
    })
  const growing = (count: number) => Array.from({ length: count }, (_, failures) => backoff(failures, random))

  it('wait ever longer while they fail, and begin anew when a server has answered', () => {
    const attempts = new Backoff()
    expect(fail(attempts, 5)).to.deep.equal(growing(5))
    attempts.onConnected(0)
    attempts.onAnswer()
    expect(fail(attempts, 3)).to.deep.equal(growing(3))
  })

  it('have failed too where they came to a connection that answered nothing and did not last', () => {
    const attempts = new Backoff()
    attempts.onConnected(1000)
    attempts.onConnectionLost(1000 + LONGEST_DELAY - 1, false)
    expect(attempts.pause(random)).to.equal(backoff(0, random))
    attempts.onConnected(1000)
    attempts.onConnectionLost(1000 + LONGEST_DELAY - 1, false)
    expect(attempts.pause(random)).to.equal(backoff(1, random))
    attempts.onConnected(1000)
    attempts.onConnectionLost(1000 + LONGEST_DELAY, false)
    expect(attempts.pause(random)).to.equal(backoff(0, random))
    attempts.onConnectionLost(1_000_000, false)
    expect(attempts.pause(random), 'without a connection').to.equal(backoff(1, random))
  })

  it('are counted as long as each of them ends so that another at the same host would not mend it', () => {
    const attempts = new Backoff()
    const ends = [true, true, false, true, true, true]
    expect(ends.map(isFinal => attempts.onConnectionLost(0, isFinal))).to.deep.equal([1, 2, 0, 1, 2, 3])
  })
})
