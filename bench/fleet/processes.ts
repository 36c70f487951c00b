// This folder shares the sessions of a run out over processes and machines. This file: units in processes of their own,
// on this machine.
// May import: bench/harness, bench/output/interrupted.ts, bench/output/progress.ts, bench/output/usage.ts, src/index.ts, src/recipes/index.ts,
// src/session/servers/connect-string.ts, environment/procfs.ts.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuSecondsOf } from '../../environment/procfs.ts'
import type { Notice, Reply } from '../harness/messages.ts'
import type { Unit, UnitStart } from '../harness/workers.ts'

const program = fileURLToPath(new URL('process.ts', import.meta.url))
/** The time that a process has to end after its input was closed, ms. */
const EXIT_TIMEOUT = 10_000

export interface ProcessUnit extends Unit {
  readonly pid: number
}

export function processUnits(count: number, servers: string, fencePath: string): UnitStart<ProcessUnit>[] {
  return Array.from({ length: count }, (): UnitStart<ProcessUnit> => ({ received, lost }) => {
    const child = fork(program, [servers, fencePath], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Keeps NaN, Infinity and errors, which JSON does not.
      serialization: 'advanced',
    })
    let isEnding = false
    child.on('message', message => received(message as Notice | Reply))
    child.on('error', lost)
    const exited = once(child, 'exit').then(([code, signal]) => {
      if (!isEnding) lost(new Error(`process ${child.pid} with a part of the sessions has ended (${signal ?? code})`))
    })
    let lastCpuMs = 0
    return {
      clock: 'here',
      pid: child.pid ?? 0,
      // A process that has died cannot be sent to. The event 'exit' reports that.
      send: message => void (child.connected && child.send(message, () => undefined)),
      terminate: async () => {
        isEnding = true
        if (child.connected) child.disconnect()
        const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT)
        await exited
        clearTimeout(timer)
      },
      cpuMs: () => {
        const seconds = child.pid === undefined ? undefined : cpuSecondsOf(child.pid)
        if (seconds !== undefined) lastCpuMs = 1000 * seconds
        return lastCpuMs
      },
    }
  })
}
