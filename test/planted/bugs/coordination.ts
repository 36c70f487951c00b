// Bugs of barriers and of the leader election.
import type { PlantedBug } from '../planted-bug.ts'

const barrier = { file: 'src/recipes/coordination/barrier.ts', caughtBy: 'test/recipes/coordination/barrier.test.ts' }
const election = {
  file: 'src/recipes/coordination/leader-election.ts',
  caughtBy: 'test/recipes/coordination/leader-election.test.ts',
}

export const coordination: readonly PlantedBug[] = [
  {
    ...barrier,
    bug: 'a write into the barrier’s node lets the waiters pass',
    from: 'while (await this.#client.retry(() => nextChange(this.#client, this.path, signal), { signal }));',
    to: 'await this.#client.retry(() => nextChange(this.#client, this.path, signal), { signal })',
  },
  {
    ...barrier,
    bug: 'the members wait for ever for one whose node was deleted',
    from: 'own.value !== null && members.length',
    to: 'members.length',
  },
  {
    ...barrier,
    bug: 'the first member enters alone, because earlier members died inside',
    from: 'if (member.node.czxid < mzxid) return true',
    to: 'if (member.isKnown) return true',
  },
  {
    ...barrier,
    bug: 'a member waits for those that have entered again in the meantime',
    from: '.filter(name => inside.has(name))',
    to: '',
  },
  {
    ...barrier,
    bug: 'the lowest member leaves at once, and all others watch its node for nothing',
    from: 'removesOwn: others.length === 0',
    to: 'removesOwn: true',
  },
  {
    ...barrier,
    bug: 'the barrier stays open for new members if the last leave() fails',
    from: '.length === 0) await this.#deleteReady()',
    to: '.length === 0) return',
  },
  {
    ...barrier,
    bug: 'a member looks for its node on a server that lags behind, and enters twice',
    from: 'client.sync(path), client.exists(path)',
    to: 'undefined, client.exists(path)',
  },
  {
    ...barrier,
    bug: 'a member whose enter() fails is counted for ever',
    from: 'inBackground(this.#client, member.remove())',
    to: '',
  },
  {
    ...election,
    bug: 'leaders() does not yield a new leader that has the id of the one before',
    from: 'if (lastPath !== (leader?.path ?? null)) yield leader\n        lastPath = leader?.path ?? null',
    to: 'if (lastPath !== (leader?.id ?? null)) yield leader\n        lastPath = leader?.id ?? null',
  },
  {
    ...election,
    bug: 'lead() with a signal swallows the errors of its function',
    from: 'if (!term.signal.aborted) throw error',
    to: 'if (signal === undefined) throw error',
  },
  {
    ...election,
    bug: 'lead() rejects if its function throws because the leadership was lost',
    from: 'if (!term.signal.aborted) throw error',
    to: 'throw error',
  },
  {
    ...election,
    bug: 'leaders() takes the newest participant for the leader',
    from: '.sort((a, b) => a.sequence - b.sequence)',
    to: '',
  },
  {
    ...election,
    bug: 'leaders() leaves its watch when the loop ends',
    from: 'round.abort()',
    to: '',
  },
  {
    ...election,
    bug: 'leaders() reports no leader if a participant joins just after the list',
    from: 'return isEmpty ? { leader: null, changed } : undefined',
    to: 'return { leader: null, changed }',
  },
  {
    ...election,
    file: 'src/recipes/locks/held-until.ts',
    bug: 'the leader’s signal does not abort when lead() is to stop',
    from: '[held.signal, stop]',
    to: '[held.signal]',
  },
  {
    ...election,
    file: 'src/recipes/locks/held-until.ts',
    bug: 'each term of lead() leaves a listener on its signal',
    from: 'for (const stop of this.#stopListening) stop()',
    to: '',
  },
  {
    file: 'src/recipes/coordination/leader-election.ts',
    caughtBy: 'test/recipes/coordination/pace-of-terms.test.ts',
    bug: 'a function of lead() that ends at once leads again without a pause',
    from: '      await pace.wait(signal)\n    }\n  }',
    to: '    }\n  }',
  },
]
