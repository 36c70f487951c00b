import { expect } from 'chai'
import { Attempts } from '../../src/session/attempts.ts'
import { backoff, LONGEST_DELAY } from '../../src/session/hosts.ts'

const random = () => 0.5

describe('the attempts at a connection', () => {
  const fail = (attempts: Attempts, times: number) =>
    Array.from({ length: times }, () => {
      attempts.ended(0, false)
      return attempts.pause(random)
    })
  const growing = (count: number) => Array.from({ length: count }, (_, failures) => backoff(failures, random))

  it('wait ever longer while they fail, and begin anew when a server has answered', () => {
    const attempts = new Attempts()
    expect(fail(attempts, 5)).to.deep.equal(growing(5))
    attempts.arrived(0)
    attempts.proved()
    expect(fail(attempts, 3)).to.deep.equal(growing(3))
  })

  it('have failed too where they came to a connection that answered nothing and did not last', () => {
    const attempts = new Attempts()
    attempts.arrived(1000)
    attempts.ended(1000 + LONGEST_DELAY - 1, false)
    expect(attempts.pause(random)).to.equal(backoff(0, random))
    attempts.arrived(1000)
    attempts.ended(1000 + LONGEST_DELAY - 1, false)
    expect(attempts.pause(random)).to.equal(backoff(1, random))
    attempts.arrived(1000)
    attempts.ended(1000 + LONGEST_DELAY, false)
    expect(attempts.pause(random)).to.equal(backoff(0, random))
    attempts.ended(1_000_000, false)
    expect(attempts.pause(random), 'without a connection').to.equal(backoff(1, random))
  })

  it('are counted as long as each of them ends so that another at the same host would not mend it', () => {
    const attempts = new Attempts()
    const ends = [true, true, false, true, true, true]
    expect(ends.map(isFinal => attempts.ended(0, isFinal))).to.deep.equal([1, 2, 0, 1, 2, 3])
  })
})
