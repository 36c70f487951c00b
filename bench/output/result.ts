// The result as JSON: what was found, and what is needed to judge it.
import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { BothSides } from '../measure/reconcile.ts'
import type { Cell, Step } from '../measure/measurement.ts'
import type { Recording } from '../measure/recording.ts'
import type { RunOptions } from '../harness/run.ts'
import type { Server } from '../harness/server.ts'
import { growthOf, limitOf, summaryOf, type Growth, type Limit, type Summary } from '../measure/summary.ts'
import type { Counts, Traffic } from '../measure/frame-counter.ts'

/** Grows when a reader of older files would go wrong. */
export const FORMAT = 3

export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  platform: string
  node: string
}

export interface Result {
  format: number
  what: 'zkwire fan-out'
  date: string
  commandLine: string
  /** 'complete', or why it ended early. */
  ended: string
  /** From the start of the program. */
  seconds: number
  seed: number
  threads: number
  machine: Machine
  server: { kind: Server['kind']; version: string; mode: string; servers?: string }
  scenarios: { name: string; kind: string; about: string; byChance?: string | undefined }[]
  growth: Growth[]
  cells: (Summary & {
    limit: Limit
    counted: Record<string, Counts | undefined>[]
    /** Of all that passed while steps were counted; undefined where the server does not tell. */
    bothSides: BothSides | undefined
  })[]
  /** The first phase of each lock, frame by frame, among a few sessions. */
  recordings: Recording[]
  /** All that passed; what is neither work nor handshakes is in none of the figures. */
  traffic: Traffic
  remarks: string[]
}

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  platform: `${platform()} ${release()} ${arch()}`,
  node: process.version,
})

export interface Findings {
  cells: readonly Cell[]
  traffic: Traffic
  server: Server
  ended?: string | undefined
  seconds: number
  remarks: string[]
  recordings: Recording[]
}

export function resultOf(
  { cells, traffic, server, ended, seconds, remarks, recordings }: Findings,
  { scenarios, seed, threads }: Pick<RunOptions, 'scenarios' | 'seed' | 'threads'>,
  commandLine: readonly string[],
  machine: Machine,
  date: Date,
): Result {
  const summaries = cells.map(summaryOf)
  const { kind, version, mode, servers } = server
  return {
    format: FORMAT,
    what: 'zkwire fan-out',
    date: date.toISOString(),
    commandLine: ['npm', 'start', '--', ...commandLine].join(' '),
    ended: ended ?? 'complete',
    ...{ seconds, seed, threads, machine },
    server: { kind, version, mode, ...(kind === 'given' && { servers }) },
    scenarios: scenarios.map(({ name, kind, about, byChance }) => ({ name, kind, about, byChance })),
    growth: scenarios.map(scenario => growthOf(scenario, summaries)),
    cells: cells.map((cell, i) => {
      const summary = summaries[i] ?? summaryOf(cell)
      return {
        ...summary,
        limit: limitOf(summary.busy, machine.cores),
        counted: cell.counted.flatMap(({ steps }) => steps.map(countsIn)),
        bothSides: cell.bothSides,
      }
    }),
    recordings,
    traffic,
    remarks,
  }
}

const countsIn = (step: Step) => Object.fromEntries(Object.entries(step).map(([phase, { counts }]) => [phase, counts]))

export const writeResult = (file: string, result: Result): Promise<void> =>
  write(file, JSON.stringify(result, undefined, 1) + '\n')

export async function write(file: string, text: string): Promise<void> {
  await makeRoomFor(file)
  await writeFile(file, text)
}

/** @throws Error of node:fs where nothing can be written there */
export async function makeRoomFor(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await access(dirname(file), constants.W_OK)
}

/** @throws Error that names the file, where there is no such result in it */
export async function readResult(file: string): Promise<Result> {
  let parsed: unknown
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
  if (typeof parsed !== 'object' || parsed === null || !('format' in parsed) || parsed.format !== FORMAT)
    throw new Error(`${file} is no result of this benchmark, or one of another version of it`)
  return parsed as Result
}
