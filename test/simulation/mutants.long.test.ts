// Locks with a planted bug each, which the random simulations must find.
import { expect } from 'chai'
import { QueueLock } from '../../src/recipes/locks/queue-lock.ts'
import type { Client } from '../../src/index.ts'
import * as mutantExports from '../linearizability/mutants.ts'
import { kinds } from '../linearizability/tenures.ts'
import type { LockUnderTest } from '../linearizability/workload.ts'
import { seed } from '../support/seeded-random.ts'
import { simulate } from './simulation.ts'

describe(`a simulation (SEED=${seed})`, () => {
  const mutants = Object.entries(mutantExports).filter(([, each]) => typeof each === 'function') as [
    string,
    new (client: Client, path: string) => QueueLock,
  ][]

  it('is run with every mutant', () => expect(mutants).to.have.length(10))

  for (const [name, Lock] of mutants) {
    it(`finds the bug of the mutant ${name} within five hundred runs`, async function () {
      // The rarest bug showed in 15 of 400 runs: one in 27 on average.
      this.timeout(300_000)
      const make: LockUnderTest['make'] = (client, path) => new Lock(client, path)
      for (let i = 0; i < 500; i++) {
        const { violations } = await simulate(seed + i, new Map([['/mutant', { make, kind: kinds.queue }]]))
        if (violations.length > 0) return
      }
      expect.fail('no run violated an invariant')
    })
  }
})
