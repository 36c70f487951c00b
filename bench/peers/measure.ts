// Measures the locks of all libraries: says what that needs, provides it, runs, and makes the result.
import { PEERS, thisMachine } from '../output/result.ts'
import type { Progress } from '../output/progress.ts'
import type { Server } from '../harness/server.ts'
import { libraries, type Library } from './libraries.ts'
import { provide, type Provided, type Provision } from './provide.ts'
import { PEERS_FORMAT, type PeersResult } from './result.ts'
import { PeersRun, type PeersRunOptions } from './run.ts'

const NAMES = 2 + Math.max(...libraries.map(({ name }) => name.length))

/** Returns the lines that say what a run needs, for the start of its output. */
export function needs(): string {
  const lines = libraries.flatMap(({ name, needs }) =>
    needs.map((each, i) => `  ${(i === 0 ? name : '').padEnd(NAMES)}${each}`),
  )
  return `This compares the locks of ${libraries.length} libraries on one Apache ZooKeeper, which it starts
(Debian package zookeeper, or ZOOKEEPER_HOME). It takes up to seven minutes, and
needs:
${lines.join('\n')}
If a Debian package is missing, it is installed with apt-get, which needs root.
If a library cannot be had, a line says why, and the others are measured.

`
}

export interface Availability {
  provided: Map<Library, Provided>
  /** The reasons why the others cannot be had. */
  missing: Map<Library, string>
}

/** Installs and compiles what is missing. */
export async function provideAll(
  options: Provision,
  signal: AbortSignal,
  provideOne: typeof provide = provide,
): Promise<Availability> {
  const available: Availability = { provided: new Map(), missing: new Map() }
  for (const library of libraries) {
    signal.throwIfAborted()
    try {
      available.provided.set(library, await provideOne(library.name, options))
    } catch (error) {
      signal.throwIfAborted()
      available.missing.set(library, (error as Error).message)
    }
  }
  return available
}

/**
 * Measures the libraries. If `signal` aborts, ends what it has started, and rejects with the signal's reason.
 * @param commandLine the arguments of the command
 */
export async function measurePeers(
  options: PeersRunOptions,
  { provided, missing }: Availability,
  commandLine: readonly string[],
  [server, progress, signal]: readonly [Server, Progress, AbortSignal],
): Promise<PeersResult> {
  const run = new PeersRun(options, server, progress, signal)
  await run.measure(provided)
  const { failures, ...findings } = run.findings
  const versions = new Map([...provided].map(([{ name }, { version }]) => [name, version]))
  const named = commandLine.filter((each, i) => each !== '--zoo-lock' && commandLine[i - 1] !== '--zoo-lock')
  return {
    format: PEERS_FORMAT,
    what: PEERS,
    date: new Date().toISOString(),
    commandLine: ['npm run bench -- peers', ...named].join(' '),
    ended: failures.size === 0 ? 'complete' : `without ${[...failures.keys()].join(', ')}`,
    seconds: Math.round(performance.now() / 1000),
    seed: options.seed,
    machine: thisMachine(),
    server: { version: server.version },
    libraries: libraries.map(library => ({
      name: library.name,
      version: versions.get(library.name),
      missing: missing.get(library),
      recipes: library.recipes.map(({ id, name, about }) => ({ id, name, about, failure: failures.get(id) })),
    })),
    ...findings,
  }
}
