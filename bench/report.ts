// The raw figures as JSON: every step, and what is needed to judge them.
import { mkdir, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { dirname } from 'node:path'
import type { Cell } from './fan-out.ts'
import type { Server } from './server.ts'
import { summaryOf, type Growth } from './summary.ts'
import type { Counts } from './tap.ts'

export interface Findings {
  cells: readonly Cell[]
  growth: readonly Growth[]
  server: Server
  /** Why it ended early. */
  ended?: string | undefined
  /** From the start of the program. */
  seconds: number
  /** Traffic that is in none of the figures. */
  apart: Record<'fences' | 'pings' | 'handshakes', Counts>
}

/** Grows when a reader of older files would go wrong. */
const FORMAT = 1

export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  platform: string
  node: string
}

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  platform: `${platform()} ${release()} ${arch()}`,
  node: process.version,
})

export function reportOf(findings: Findings, commandLine: readonly string[], machine: Machine, date: Date): object {
  const { cells, growth, server, ended, seconds, apart } = findings
  const { servers, isOurs, version, mode } = server
  return {
    format: FORMAT,
    what: 'zkwire fan-out',
    date: date.toISOString(),
    commandLine: ['npm', 'start', '--', ...commandLine].join(' '),
    ended: ended ?? 'complete',
    seconds,
    machine,
    server: { version, mode, ...(isOurs ? { startedHere: true } : { startedHere: false, servers }) },
    growth,
    cells: cells.map(cell => ({ ...summaryOf(cell), asExpected: cell.asExpected, steps: stepsOf(cell) })),
    apart,
  }
}

const stepsOf = ({ counted, timed }: Cell) => ({ counted, timed })

export async function writeReport(file: string, report: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(report, undefined, 1) + '\n')
}
