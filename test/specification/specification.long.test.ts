// Each state of the specifications, with more clients and more time than in the quick tests.
import { expect } from 'chai'
import { explore } from './explore.ts'
import { lease, mutex, MUTEX_INVARIANTS } from './specifications.ts'

describe('the specification', () => {
  it('of the Mutex keeps its invariants with three clients', function () {
    this.timeout(600_000)
    const { states, counterexample } = explore(mutex(3, 3), MUTEX_INVARIANTS)
    expect(counterexample).to.equal(undefined)
    expect(states).to.be.above(50_000)
  })

  it('of the Mutex loses mutual exclusion if a client takes the lock with another one ahead of its predecessor', function () {
    this.timeout(600_000)
    const change = ['ahead[c] = {Head(inbox[c])}', 'Head(inbox[c]) = Max(ahead[c])'] as const
    const { counterexample } = explore(mutex(3, 3, change), MUTEX_INVARIANTS)
    expect(counterexample?.invariant).to.equal('MutualExclusion')
  })

  it('of the lease keeps its invariant for six half ticks, with either session timeout', function () {
    this.timeout(600_000)
    for (const timeout of [3, 4])
      expect(explore(lease(timeout, 2, 6), ['LeaseIsKept']).counterexample).to.equal(undefined)
  })
})
