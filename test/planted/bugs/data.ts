// Bugs of the recipes for shared data.
import type { PlantedBug } from '../planted-bug.ts'

const marked = { file: 'src/recipes/data/marked-multi.ts', caughtBy: 'test/recipes/data/shared-value-faults.test.ts' }
const value = { file: 'src/recipes/data/shared-value.ts', caughtBy: 'test/recipes/data/shared-value.test.ts' }
const index = { file: 'src/recipes/data/queue-index.ts', caughtBy: 'test/recipes/data/queue-index.test.ts' }
const watch = { file: 'src/recipes/data/queue-watch.ts', caughtBy: 'test/recipes/data/queue.test.ts' }
const item = { file: 'src/recipes/data/queue-item.ts', caughtBy: 'test/recipes/data/queue-faults.test.ts' }
const queue = { file: 'src/recipes/data/queue.ts', caughtBy: 'test/recipes/data/queue.test.ts' }
const lease = { file: 'src/recipes/data/lease.ts', caughtBy: 'test/recipes/data/lease.test.ts' }
const retry = { file: 'src/recipes/data/retry-policies.ts', caughtBy: 'test/recipes/data/retry-policies.test.ts' }
const listeners = {
  file: 'src/recipes/data/change-listeners.ts',
  caughtBy: 'test/recipes/data/change-listeners.test.ts',
}
const counter = { file: 'src/recipes/data/counter.ts', caughtBy: 'test/recipes/data/counter.test.ts' }

export const dataBugs: readonly PlantedBug[] = [
  {
    ...listeners,
    bug: 'a listener that was removed keeps its watch',
    from: 'this.#stops.get(listener)?.abort()',
    to: 'this.#stops.get(listener)',
  },
  {
    ...listeners,
    bug: 'a listener is called after off()',
    from: 'signal.aborted ? undefined : listener(value)',
    to: 'listener(value)',
  },
  {
    ...listeners,
    bug: 'a listener whose read failed cannot be registered again',
    from: 'if (this.#stops.get(listener) === stop) this.#stops.delete(listener)',
    to: '',
  },
  {
    ...listeners,
    bug: 'the end of the session is reported as an uncaught error of each listener',
    from: 'if (!isTerminal(this.#client.state)) callLater',
    to: 'callLater',
  },
  {
    ...listeners,
    bug: 'a function that is registered twice is called twice',
    from: 'if (this.#stops.has(listener)) return',
    to: '',
  },
  {
    ...marked,
    bug: 'an update whose reply was lost is executed again, because it has no marker',
    from: 'return await client.multi(marked)',
    to: 'return await client.multi(ops)',
  },
  {
    ...marked,
    bug: 'an update whose request was lost counts as executed',
    from: 'return stat !== null',
    to: 'return stat !== undefined',
  },
  {
    ...marked,
    bug: 'a marker stays for ever if its session expires',
    from: "mode: 'ephemeral'",
    to: "mode: 'persistent'",
  },
  {
    ...marked,
    bug: 'the refusal of a second attempt hides that the first one was executed',
    from: 'if (isUncertain && (await this.#isThere())) return undefined',
    to: "if (isCode(error, 'CONNECTIONLOSS') && (await this.#isThere())) return undefined",
  },
  {
    ...marked,
    bug: 'a server that lags behind hides the marker',
    from: 'Promise.all([client.sync(this.#marker), client.exists(this.#marker)])',
    to: 'Promise.all([undefined, client.exists(this.#marker)])',
  },
  {
    ...value,
    bug: 'a marker is left after each update',
    caughtBy: 'test/recipes/data/shared-value.test.ts',
    from: 'ended.then(() => marked.remove())',
    to: 'ended',
  },
  {
    ...value,
    bug: 'the updates of one object contend with each other',
    from: 'this.#last = ended\n',
    to: '',
  },
  {
    ...value,
    bug: 'changes() yields a value again after a reconnect',
    from: 'watched !== undefined && watched.id !== last',
    to: 'watched !== undefined',
  },
  {
    ...value,
    bug: 'changes() misses that the node was deleted and created again with the same version',
    from: '`${stat.czxid} ${stat.version}`',
    to: '`${stat.version}`',
  },
  {
    ...value,
    bug: 'an update fails if another client deletes the node at the same moment',
    from: 'if (version !== null) return undefined\n',
    to: '',
  },
  {
    ...value,
    bug: 'a write stores bytes that the caller changed after the call',
    from: 'data === null ? null : Buffer.from(data as Uint8Array)',
    to: "data === null ? null : typeof data === 'string' ? Buffer.from(data) : (data as Buffer)",
  },
  {
    ...counter,
    bug: 'a counter of 4 bytes accepts the 8 bytes of another format',
    file: 'src/recipes/data/counter-format.ts',
    from: 'if (bytes.length !== bits / 8) return undefined',
    to: 'if (bytes.length < bits / 8) return undefined',
  },
  {
    ...counter,
    bug: 'an empty node is no counter, although kazoo creates it before the first value',
    from: 'if (data === null || data.length === 0) return this.#initial',
    to: 'if (data === null) return this.#initial',
  },
  {
    ...counter,
    bug: 'compareAndSet() resolves with true although the value is another one',
    from: 'return isEqual ? value : undefined',
    to: 'return (isEqual ||= current !== present) ? value : undefined',
  },
  {
    ...index,
    bug: 'an item that is taken is offered to other consumers',
    from: 'this.#names.entries.has(name) && !this.#names.taken.has(name) &&',
    to: 'this.#names.entries.has(name) &&',
  },
  {
    ...index,
    bug: 'two calls of one process try to take the same item',
    from: 'this.#picked.add(name)\n',
    to: '',
  },
  {
    ...index,
    bug: 'a consumer that loses items to others tries less urgent ones',
    from: 'this.#available[choices]?.startsWith(prefix)',
    to: 'this.#available[choices] !== undefined && prefix !== undefined',
  },
  {
    ...watch,
    bug: 'a consumer takes no more items after a reconnect',
    caughtBy: 'test/recipes/data/queue-faults.test.ts',
    from: "if (event.type === 'resync') await load()",
    to: "if (event.type === 'resync') continue",
  },
  {
    ...watch,
    bug: 'a call that waits for an item does not learn that the session has ended',
    caughtBy: 'test/recipes/data/queue-faults.test.ts',
    from: 'await this.#client.whenConnected({ signal })',
    to: '',
  },
  {
    ...watch,
    bug: 'an old server is asked for a list after each change of a long queue',
    from: 'if (!this.index.isEmpty) await pause',
    to: 'if (signal.aborted) await pause',
    caughtBy: 'test/recipes/data/queue-consume.test.ts',
  },
  {
    ...watch,
    bug: 'at an old server, a consumer without items waits for up to a second although there are some',
    from: 'if (name === undefined) this.#endPauses()',
    to: '',
    caughtBy: 'test/recipes/data/queue-consume.test.ts',
  },
  {
    ...item,
    bug: 'an item is left taken after its call was cancelled',
    file: 'src/recipes/data/queue.ts',
    from: '() => claim?.remove(),',
    to: 'nothing,',
  },
  {
    ...item,
    bug: 'complete() rejects if its reply was lost, although the item is completed',
    from: 'if (stat !== null) throw this.lost(',
    to: 'if (stat !== undefined) throw this.lost(',
  },
  {
    ...item,
    bug: 'complete() resolves although the item was not taken any more',
    caughtBy: 'test/recipes/data/queue.test.ts',
    from: 'if (stat !== null) throw this.lost(',
    to: 'if (stat === undefined) throw this.lost(',
  },
  {
    ...item,
    bug: 'a consumer takes the mark of another one of its session for its own',
    from: 'node !== undefined && String(node.data) === id ?',
    to: 'node !== undefined && id !== undefined ?',
  },
  {
    ...queue,
    bug: 'a queue takes no item any more after its watch has failed once',
    from: 'if (this.#watch?.hasEnded !== false)',
    to: 'if (this.#watch === undefined)',
    caughtBy: 'test/recipes/data/queue-faults.test.ts',
  },
  {
    ...queue,
    bug: 'consume() keeps an item taken after its function has failed',
    from: 'await item.release().catch(nothing)\n',
    to: '',
    caughtBy: 'test/recipes/data/queue-consume.test.ts',
  },
  {
    ...lease,
    bug: 'a lease is written after the node of its lock was deleted',
    from: 'const transaction = held.guard()',
    to: 'const transaction = this.#client.transaction()',
  },
  {
    ...lease,
    bug: 'the renewal of a holder takes a second lease',
    from: 'return own < 0 ? paths :',
    to: 'return own < 1000 ? paths :',
  },
  {
    ...lease,
    bug: 'the lock of a lease stays after the lease was obtained',
    from: 'await held.release()\n',
    to: '',
  },
  {
    ...lease,
    bug: 'release() ends the lease of another holder',
    from: 'if ((await this.#read(path))?.holder !== this.#options.holder) return\n    await held',
    to: 'await held',
  },
  {
    ...lease,
    file: 'src/recipes/data/lease-record.ts',
    bug: 'a lease of another holder is taken a moment before its end',
    from: 'now >= record.end',
    to: 'now + 1000 >= record.end',
  },
  {
    ...retry,
    bug: 'a policy that limits the attempts waits for a connection without limit',
    from: "if (client.state !== 'suspended') return task()",
    to: 'return task()',
  },
  {
    ...retry,
    bug: 'a long pause goes on after the client is connected again',
    from: "isTerminal(state) || (before === 'suspended' && state !== before)",
    to: 'isTerminal(state) && before !== state',
  },
  {
    ...retry,
    bug: 'a policy repeats a task that has failed with another error',
    from: "if (!isCode(error, 'CONNECTIONLOSS')) throw error",
    to: '',
  },
  {
    ...retry,
    bug: 'kazooRetry() begins an attempt after its deadline',
    from: 'elapsed + ms >= deadline',
    to: 'elapsed >= deadline',
  },
]
