// `npm run bench -- count`: counts what a call and a hand-over cost, without a clock, and writes the counts to counts.json. A test
// compares them, so that no change makes a call more expensive unseen. With the name of a call, such as getData, also
// prints the functions that it enters.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What one call costs, with 64 calls in a turn of the event loop. */
export interface Counts {
  /** Functions of the client that are entered. */
  functions: number
  /** Calls of the functions of Object and Reflect. */
  builtins: number
  promises: number
  /** Bytes allocated in V8's heap by code that V8 has not optimized. */
  bytes: number
  /** Frames sent. */
  frames: number
  /** Writes to the socket in a turn. */
  writesPerTurn: number
}

/** What the counting process sends of a call. */
export interface CallCounts {
  counts: Counts
  /** The functions of the client that a call enters, by name and file, with how often. */
  functions: (readonly [name: string, count: number])[]
}

/** What one hand-over of a lock among twenty sessions costs. */
export interface GrantCounts {
  /** Frames that the client sends: requests. */
  sent: number
  /** Frames that it receives: replies and notifications. */
  received: number
  promises: number
  /** Functions of the client that are entered. */
  functions: number
}

/** What the counting process sends, by the names of calls and locks. */
export interface AllCounts {
  calls: Record<string, CallCounts>
  grants: Record<string, GrantCounts>
}

/**
 * The compilers, the garbage collector, and what V8 learns about code have times of their own. Without them, the counts
 * are the same in each run.
 */
const FLAGS = [
  ...['--no-opt', '--no-sparkplug', '--single-threaded', '--no-lazy-feedback-allocation', '--no-flush-bytecode'],
  ...['--expose-gc', '--min-semi-space-size=128', '--max-semi-space-size=128'],
]

const file = new URL('counts.json', import.meta.url)
const dist = new URL('../../dist', import.meta.url)

/**
 * Counts the calls of a built client.
 * @param calls the names of some calls. Default: all
 */
export async function count(client = dist, calls: readonly string[] = []): Promise<AllCounts> {
  const child = fork(fileURLToPath(new URL('count.ts', import.meta.url)), [client.href, ...calls], {
    execArgv: ['--import', 'tsx', ...FLAGS],
  })
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the process that counts ended with ${code ?? signal}`)
  })
  const [counts] = (await Promise.race([once(child, 'message'), exited])) as [AllCounts]
  await exited.catch(() => undefined)
  return counts
}

/** The content of counts.json. */
export interface WrittenCounts {
  /** The major version of Node on which the bytes were counted. Other versions allocate a little more or less. */
  node: string
  calls: Record<string, Counts>
  grants: Record<string, GrantCounts>
}

export const thisNode = process.versions.node.split('.')[0] ?? ''

export const writtenCounts = async () => JSON.parse(await readFile(file, 'utf8')) as WrittenCounts

/** The counts of the calls, without their functions. */
export const countsOf = ({ calls }: AllCounts): Record<string, Counts> =>
  Object.fromEntries(Object.entries(calls).map(([call, { counts }]) => [call, counts]))

async function main([listed]: readonly string[]): Promise<void> {
  const [before, all] = [await writtenCounts(), await count()]
  const calls = countsOf(all)
  const old: Record<string, object> = { ...before.calls, ...before.grants }
  for (const [call, counts] of Object.entries({ ...calls, ...all.grants }))
    for (const [name, value] of Object.entries(counts)) {
      const was = Object.entries(old[call] ?? {}).find(([each]) => each === name)?.[1] as number | undefined
      console.log(`${call.padEnd(12)}${name.padEnd(14)}${value}${was === value ? '' : ` (was ${was})`}`)
    }
  for (const [name, each] of all.calls[listed ?? '']?.functions ?? []) console.log(each.toFixed(2).padStart(7), name)
  const written: WrittenCounts = { node: thisNode, calls, grants: all.grants }
  await writeFile(file, `${JSON.stringify(written, undefined, 2)}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2))
