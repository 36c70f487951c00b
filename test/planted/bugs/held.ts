// Bugs of what the holder of a lock gets: token, signal, guard, release.
import type { PlantedBug } from '../planted-bug.ts'

const held = { file: 'src/recipes/locks/held.ts', caughtBy: 'test/recipes/locks/exclusive-locks.test.ts' }
const use = { file: 'src/recipes/locks/use-held.ts', caughtBy: 'test/recipes/locks/exclusive-locks.test.ts' }
const whenLost = { file: 'src/recipes/locks/held.ts', caughtBy: 'test/recipes/locks/use.test.ts' }

export const helds: readonly PlantedBug[] = [
  {
    ...held,
    bug: 'the token is the sequence number, which starts again in a directory that was deleted',
    from: 'token ?? czxid',
    to: 'token ?? BigInt(/\\d*$/.exec(path)?.[0] ?? 0)',
  },
  {
    ...held,
    bug: 'a released lock says that it is still valid',
    from: 'this.#lost.isDone || this.#released !== undefined ? 0',
    to: 'this.#lost.isDone ? 0',
  },
  {
    ...held,
    bug: 'a guarded transaction of a holder that lost the lock commits',
    from: 'this.client.transaction().check(this.path)',
    to: 'this.client.transaction()',
  },
  {
    ...held,
    bug: 'a lock whose name can be used again offers a guard, which passes for another contender’s node',
    from: 'if (!this.#ownNode.isUnique) throw',
    to: 'if (this.path === this.lock) throw',
    caughtBy: 'test/recipes/queue/dialects.test.ts',
  },
  {
    ...held,
    bug: 'a release that the server refused cannot be repeated',
    from: '      this.#released = undefined\n',
    to: '',
  },
  {
    ...held,
    bug: 'a loss that happens during a refused release is never reported',
    from: 'if (this.#lossDuringRelease !== undefined) this.lose(this.#lossDuringRelease.cause)',
    to: '',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...held,
    bug: 'a holder does not notice that its node was deleted and created again by another session',
    from: 'stat?.czxid !== this.#ownNode.node.czxid',
    to: 'stat === null',
  },
  {
    ...held,
    bug: 'a holder that may not read its own node counts as lost',
    from: "'NOAUTH', 'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) this.lose(error)",
    to: "'SESSIONEXPIRED', 'CLOSED', 'AUTHFAILED')) this.lose(error)",
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...held,
    bug: 'a holder is not told that another client asks for the lock',
    from: 'this.#revoked.abort(() => undefined)',
    to: 'undefined',
  },
  {
    ...held,
    bug: 'the watch on the holder’s own node stays after the release',
    from: 'this.#watching.abort(() => undefined)',
    to: '',
  },
  {
    ...use,
    bug: 'use() keeps the lock if its function throws',
    from: 'await held.release().catch((refusal',
    to: 'await Promise.resolve().catch((refusal',
  },
  {
    ...use,
    bug: 'use() hides the function’s error if the release is refused too',
    from: 'throw new AggregateError([error, refusal]',
    to: 'throw refusal ?? new AggregateError([error, refusal]',
  },
  {
    ...whenLost,
    file: 'src/recipes/locks/use-held.ts',
    bug: 'use() resolves although only the release found out that the session had ended',
    from: ' && !isEarlyEnd((reason as Error | undefined)?.cause)) return value',
    to: ') return value',
  },
  {
    ...whenLost,
    bug: 'the signal of a holder whose process was stopped aborts only when a timer fires',
    from: '    this.#checkLease()\n    return this.#lost.signal',
    to: '    return this.#lost.signal',
  },
  {
    ...whenLost,
    bug: 'use() does not notice that another client deleted the lock’s node',
    from: 'options.watchOwnNode ?? true',
    to: 'options.watchOwnNode ?? false',
  },
  {
    ...held,
    bug: 'the node of a lost lock stays when the session survives, and blocks the other contenders',
    from: 'inBackground(this.client, this.#ownNode.remove())',
    to: '',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    file: 'src/recipes/locks/revoke.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bug: 'any write into the holder’s node counts as a request for the lock',
    from: 'data?.toString() === REVOKE',
    to: 'data !== null',
  },
]
