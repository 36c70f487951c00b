// The result as JSON: the figures, and the conditions of the run, which are needed to judge them.
import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { printable } from '../../src/protocol/index.ts'
import type { FleetFigures } from '../fleet/shared-run.ts'
import type { EnsembleFigures } from '../ensemble/figures.ts'
import type { Reconciliation } from '../measure/reconcile.ts'
import type { Measurement, Step } from '../measure/measurement.ts'
import type { HandOver } from '../measure/hand-over.ts'
import type { Recording } from '../measure/recording.ts'
import type { RunOptions } from '../harness/run.ts'
import { ownVersion, type Server } from '../harness/server.ts'
import { growthOf, limitOf, summaryOf, type Growth, type Limit, type Summary } from '../measure/summary.ts'
import type { Counts, Traffic } from '../measure/frame-counter.ts'

/** Incremented when the format changes incompatibly. */
const FORMAT = 3

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
  /** 'complete', or the reason why the run ended early. */
  ended: string
  /** Seconds since the start of the program. */
  seconds: number
  seed: number
  threads: number
  /** The number of processes that shared the sessions. Undefined if threads of one process shared them. */
  processes?: number | undefined
  machine: Machine
  server: { kind: Server['kind']; version: string; mode: string; servers?: string }
  /** The version of zkwire that was measured. */
  release: string
  scenarios: { name: string; kind: string; about: string; byChance?: string | undefined }[]
  /** The numbers of sessions that the run was asked for. */
  sizes: number[]
  growth: Growth[]
  cells: (Summary & {
    limit: Limit
    counted: Record<string, Counts | undefined>[]
    /** The frames and bytes of the counted steps at both ends. Undefined if the server reports no counts. */
    bothSides: Reconciliation | undefined
  })[]
  /** The first phase of each lock with twelve sessions, frame by frame. */
  recordings: Recording[]
  /** The hand-overs of the locks through lines with several delays. Undefined if there was at most one line. */
  handOvers?: HandOver[] | undefined
  /** The machines that shared the sessions. Undefined if only one took part. */
  fleet?: FleetFigures | undefined
  /** What is spread over the servers. Undefined if the server is not in an ensemble. */
  ensemble?: EnsembleFigures | undefined
  /** The traffic of the whole run. Only work and handshakes are part of the figures. */
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
  measurements: readonly Measurement[]
  traffic: Traffic
  server: Server
  ended?: string | undefined
  seconds: number
  caveats: string[]
  recordings: Recording[]
  handOvers?: HandOver[] | undefined
  ensemble?: EnsembleFigures | undefined
  fleet?: FleetFigures | undefined
}

export function resultOf(
  { measurements, traffic, server, ended, seconds, caveats, recordings, handOvers, ensemble, fleet }: Findings,
  {
    scenarios,
    sizes,
    seed,
    threads,
    processes,
  }: Pick<RunOptions, 'scenarios' | 'sizes' | 'seed' | 'threads' | 'processes'>,
  commandLine: readonly string[],
  machine: Machine,
  date: Date,
): Result {
  const summaries = measurements.map(summaryOf)
  const { kind, version, mode, servers } = server
  const growth = scenarios.map(scenario => growthOf(scenario, summaries))
  return {
    format: FORMAT,
    what: 'zkwire fan-out',
    date: date.toISOString(),
    commandLine: ['npm', 'start', '--', ...commandLine].join(' '),
    ended: ended ?? 'complete',
    ...{ seconds, seed, threads, ...(processes !== undefined && { processes }), machine },
    server: { kind, version, mode, ...(kind === 'given' && { servers }) },
    release: ownVersion(),
    scenarios: scenarios.map(({ name, kind, about, variesBecause }) => ({
      name,
      kind,
      about,
      byChance: variesBecause,
    })),
    sizes: [...sizes],
    growth,
    cells: measurements.map((measurement, i) => {
      const summary = summaries[i] ?? summaryOf(measurement)
      return {
        ...summary,
        limit: limitOf(summary.busy, machine.cores),
        counted: measurement.counted.flatMap(({ steps }) => steps.map(countsIn)),
        bothSides: measurement.bothSides,
      }
    }),
    recordings,
    ...(ensemble !== undefined && { ensemble }),
    ...(handOvers !== undefined && { handOvers }),
    ...(fleet !== undefined && { fleet }),
    traffic,
    remarks: caveats,
  }
}

/** Says what shared the sessions, such as '2 worker threads'. */
export function unitsOf({ threads, processes, fleet }: Pick<Result, 'threads' | 'processes' | 'fleet'>): string {
  if (fleet !== undefined)
    return `${fleet.machines.reduce((sum, machine) => sum + machine.processes, 0)} processes on ${fleet.machines.length} machines`
  return processes === undefined ? `${threads} worker threads` : `${processes} processes`
}

const countsIn = (step: Step) => Object.fromEntries(Object.entries(step).map(([phase, { counts }]) => [phase, counts]))

export const writeResult = (file: string, result: Result): Promise<void> =>
  write(file, JSON.stringify(result, undefined, 1) + '\n')

export async function write(file: string, text: string): Promise<void> {
  await ensureWritable(file)
  await writeFile(file, text)
}

/** Creates the folder of a file. @throws Error of node:fs if the folder is not writable */
export async function ensureWritable(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await access(dirname(file), constants.W_OK)
}

/** @throws Error that names the file, if it is missing or holds no result of this format */
export const readResult = async (file: string): Promise<Result> => asResult(file, await readHeader(file))

/** @throws Error that names the file, if it holds no result of this format */
export function asResult(file: string, result: Header): Result {
  if (result.what === PEERS) throw new Error(`${file} is a result of npm run bench -- peers, and not of npm start`)
  if (result.format !== FORMAT)
    throw new Error(`${file} is not a result of this benchmark, or a result of another version`)
  return result as Result
}

/** What a result of `npm run bench -- peers` says that it is. */
export const PEERS = 'zkwire peers'

/** What the first lines of each result say. The rest is not checked yet. */
export interface Header {
  what?: unknown
  format?: unknown
}

/**
 * Reads a result. Its strings are made fit for a terminal, because others may have written the file.
 * @throws Error that names the file, if it is missing or is not JSON
 */
export async function readHeader(file: string): Promise<Header> {
  try {
    return (JSON.parse(await readFile(file, 'utf8'), printableText) as Header | null) ?? {}
  } catch (error) {
    throw new Error(printable(`${file}: ${(error as Error).message}`), { cause: error })
  }
}

const printableText = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return printable(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [printable(name), each as unknown]))
}
