// Bugs of waiters that look ahead.
import type { PlantedBug } from '../planted-bug.ts'

const lookAhead = { file: 'src/recipes/queue/look-ahead.ts', caughtBy: 'test/recipes/queue/look-ahead.test.ts' }
const nodeWatch = { ...lookAhead, file: 'src/recipes/node/node-watch.ts' }
const handOver = { ...lookAhead, caughtBy: 'test/recipes/locks/hand-over.test.ts' }

export const lookAheadBugs: readonly PlantedBug[] = [
  {
    ...lookAhead,
    bug: 'a waiter that looks ahead takes the end of any predecessor for its turn',
    from: 'next === undefined && own.isThere',
    to: 'own.isThere',
  },
  {
    ...lookAhead,
    bug: 'a waiter that looks ahead holds the lock although its own node has changed and may be deleted',
    from: 'next === undefined && own.isThere',
    to: 'next === undefined',
  },
  {
    ...lookAhead,
    bug: 'a waiter that looks ahead asks again without a pause if the server says that its predecessor does not exist',
    from: "changed.some(({ hasFired }) => hasFired) ? 'event' : 'atOnce'",
    to: "'event'",
  },
  {
    ...lookAhead,
    bug: 'a waiter that looks ahead reads a node again whose end was reported together with the list',
    from: "known.isPending || known.status === 'gone'",
    to: 'known.isPending',
  },
  {
    ...nodeWatch,
    bug: 'a waiter that looks ahead trusts the order of events across a reconnect',
    from: 'this.#connects === this.#client.stats.connects && ',
    to: '',
  },
  {
    ...lookAhead,
    file: 'src/recipes/locks/held.ts',
    bug: 'a holder does not notice that one transaction deleted its predecessor and its own node',
    from: 'ownNode.onGone(() => this.lose(undefined))',
    to: '',
  },
  {
    ...handOver,
    bug: 'a waiter that looks ahead does not look when the contender before its predecessor leaves',
    from: 'const watches = next === undefined ? [own, nearest] : [own, nearest, next]',
    to: 'const watches = [own, nearest]',
  },
  {
    ...handOver,
    file: 'src/recipes/node/own-node.ts',
    bug: 'the release of a name that can return asks the server first although a watch shows the node',
    from: '!this.isUnique && this.#watch?.isThere !== true',
    to: '!this.isUnique',
  },
  {
    ...lookAhead,
    file: 'src/recipes/locks/mutex.ts',
    bug: 'a writer that looks ahead holds the lock beside a reader that was downgraded',
    from: 'lookAhead && !matchesReaders(rest.dialect)',
    to: 'lookAhead',
  },
  {
    ...nodeWatch,
    bug: 'a waiter that looks ahead takes changed data of its predecessor for its end',
    from: "type === 'NodeDeleted' ? 'gone' : 'changed'",
    to: "'gone'",
  },
  {
    ...nodeWatch,
    bug: 'a waiter that looks ahead trusts the watch on a node that it may not read',
    from: "'NOAUTH') ? 'hidden'",
    to: "'NOAUTH') ? 'there'",
  },
  {
    ...lookAhead,
    bug: 'a waiter that looks ahead leaves its watches on other nodes when it gives up',
    from: 'onAbort(signal, () => this.#keepOnly([]))',
    to: '',
  },
  {
    ...handOver,
    file: 'src/recipes/locks/mutex.ts',
    bug: 'a holder whose name can return does not watch its node, and asks the server before it releases',
    from: 'if (this.#looksAhead && !ownNode.isUnique) ownNode.watch()',
    to: '',
  },
  {
    ...lookAhead,
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/locks/multi-lock.test.ts',
    bug: 'a holder reads its node again after the event of its deletion, and another lock is granted meanwhile',
    from: "if (type === 'NodeDeleted') this.lose(undefined)",
    to: '',
  },
]
