// Bugs of the recipes for shared data.
import type { PlantedBug } from '../planted-bug.ts'

const marked = { file: 'src/recipes/data/marked-multi.ts', caughtBy: 'test/recipes/data/shared-value-faults.test.ts' }
const value = { file: 'src/recipes/data/shared-value.ts', caughtBy: 'test/recipes/data/shared-value.test.ts' }
const counter = { file: 'src/recipes/data/counter.ts', caughtBy: 'test/recipes/data/counter.test.ts' }

export const dataBugs: readonly PlantedBug[] = [
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
]
