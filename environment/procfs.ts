// Information about a process from Linux' /proc.
import { readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, the unit of times in /proc: 100 on every Linux that Node supports. */
const CLOCK_TICKS = 100

/** Returns the user and system CPU time of a process in seconds; undefined if the system has no /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statFields(`/proc/${pid}/stat`)
  return fields && (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

/** Returns the ids of all processes that a process started, and that these started. Empty if the system has no /proc. */
export function descendantsOf(pid: number): number[] {
  return tasksOf(pid)
    .flatMap(startedBy)
    .flatMap(child => [child, ...descendantsOf(child)])
}

/** Returns the ids of the processes that the main thread of a process started. Empty if the system has no /proc. */
export const childrenOf = (pid: number): number[] => startedBy(`/proc/${pid}/task/${pid}`)

/** Returns the words of a process's command, between spaces. Empty if it has ended, or the system has no /proc. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/** Returns the state letter of each thread, 'T' if it is stopped. Empty if the system has no /proc. */
export function threadStates(pid: number): string[] {
  return tasksOf(pid).flatMap(task => statFields(`${task}/stat`)?.[0] ?? [])
}

/** True if all threads of a process wait for an event, also if the system has no /proc. */
export function isAsleep(pid: number): boolean {
  return tasksOf(pid).every(task => (statFields(`${task}/stat`)?.[0] ?? 'S') === 'S')
}

/**
 * Returns the CPU time of all running threads of a process in ms, in units of nanoseconds. Undefined if the system does
 * not report it.
 */
export function threadCpuMs(pid: number): number | undefined {
  let nanos = 0
  for (const task of tasksOf(pid)) {
    try {
      nanos += Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread has ended since the directory was read.
    }
  }
  return nanos === 0 ? undefined : nanos / 1e6
}

function startedBy(task: string): number[] {
  try {
    return readFileSync(`${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    // The thread has ended since the directory was read.
    return []
  }
}

/** Returns the folders of a process's threads. Empty if the process has ended, even just now, or there is no /proc. */
function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(task => `/proc/${pid}/task/${task}`)
  } catch {
    return []
  }
}

/**
 * Returns the fields of a stat file, beginning with the state. The name before it is skipped because it may contain any
 * character.
 */
function statFields(path: string): string[] | undefined {
  try {
    const stat = readFileSync(path, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
