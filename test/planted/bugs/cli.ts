// Bugs of the program `zkwire`.
import type { PlantedBug } from '../planted-bug.ts'

const guard = { file: 'src/cli/frame/guard.ts', caughtBy: 'test/cli/frame/guard.test.ts' }
const who = { file: 'src/cli/commands/who.ts', caughtBy: 'test/cli/commands/who.test.ts' }
const batches = { file: 'src/cli/frame/import-batches.ts', caughtBy: 'test/cli/frame/import-batches.test.ts' }

export const cliBugs: readonly PlantedBug[] = [
  {
    ...guard,
    bug: 'the program of zkwire lock is told to end while the session is connected',
    from: "if (isConnected) return { do: 'nothing', lookIn: undefined }",
    to: '',
  },
  {
    ...guard,
    bug: 'the program of zkwire lock is killed when the session is valid for the grace, without SIGTERM before',
    from: "return validFor <= grace ? { do: 'terminate', lookIn: validFor }",
    to: "return validFor <= grace ? { do: 'kill', lookIn: undefined }",
  },
  {
    ...guard,
    bug: 'the program of zkwire lock is not killed after the grace if its node was deleted',
    from: '(lostFor !== undefined && lostFor >= grace)',
    to: 'false',
  },
  {
    ...guard,
    bug: 'the program of zkwire lock outlives the session if its node was deleted with a long grace',
    from: 'lookIn: Math.min(grace - lostFor, validFor)',
    to: 'lookIn: grace - lostFor',
  },
  {
    ...guard,
    bug: 'the program of zkwire lock is not ended if no server answers any more',
    from: "client.on('state', look)",
    to: 'void look',
  },
  {
    ...guard,
    bug: 'the program of zkwire lock is not ended if its node is deleted',
    from: 'onAbort(held.signal, look),',
    to: '',
  },
  {
    ...guard,
    bug: 'the guard of zkwire lock forgets when the node was found missing, and never kills the program',
    from: 'this.#lostAt ??= clock.now()',
    to: 'this.#lostAt = clock.now()',
  },
  {
    ...who,
    bug: 'zkwire who takes the dash before the number for a minus sign, and prints the queue in reverse',
    from: '/[-_](-?\\d{9,10})$/',
    to: '/(-?\\d{9,10})$/',
  },
  {
    ...who,
    bug: 'zkwire who says that a reader behind a writer holds the lock',
    from: 'const shared = firstOther === -1 ? contenders.length : firstOther',
    to: "const shared = contenders.filter(({ role }) => role !== 'exclusive').length",
  },
  {
    ...batches,
    bug: 'zkwire import sends batches that exceed the limit of the server',
    from: '(bytes + size > BATCH_BYTES || batch.length === BATCH_NODES)',
    to: 'batch.length === BATCH_NODES',
  },
  {
    ...batches,
    bug: 'zkwire import takes a sibling for a node below the exported one',
    from: "const prefix = from === '/' ? '/' : `${from}/`",
    to: 'const prefix = from',
  },
  {
    ...batches,
    bug: 'zkwire import overwrites nodes that exist without being told to',
    from: "return existing === 'refuse' ? 'conflict' : existing",
    to: "return existing === 'refuse' ? 'overwrite' : existing",
  },
  {
    file: 'src/cli/frame/arguments.ts',
    caughtBy: 'test/cli/frame/arguments.test.ts',
    bug: 'zkwire create -s means both --sequential and --server',
    from: 'short === undefined || taken.has(short) ? rest',
    to: 'short === undefined ? rest',
  },
]
