// Information about a process from Linux' /proc.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, the unit of times in /proc: 100 on every Linux that Node supports. */
const CLOCK_TICKS = 100

/** Returns the user and system CPU time of a process in seconds; undefined if the system has no /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statFields(`/proc/${pid}/stat`)
  return fields && (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

/** Returns the ids of all processes that a process started, and that these started. Empty if the system has no /proc. */
export function descendantsOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return []
  const children = readdirSync(tasks).flatMap(task => {
    try {
      return readFileSync(`${tasks}/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    } catch {
      // The thread has ended since the directory was read.
      return []
    }
  })
  return children.flatMap(child => [child, ...descendantsOf(child)])
}

/** Returns the state letter of each thread, 'T' if it is stopped. Empty if the system has no /proc. */
export function threadStates(pid: number): string[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return []
  return readdirSync(tasks).flatMap(task => statFields(`${tasks}/${task}/stat`)?.[0] ?? [])
}

/** True if all threads of a process wait for an event, also if the system has no /proc. */
export function isAsleep(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return true
  return readdirSync(tasks).every(task => (statFields(`${tasks}/${task}/stat`)?.[0] ?? 'S') === 'S')
}

/**
 * Returns the CPU time of all running threads of a process in ms, in units of nanoseconds. Undefined if the system does
 * not report it.
 */
export function threadCpuMs(pid: number): number | undefined {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return undefined
  let nanos = 0
  for (const task of readdirSync(tasks)) {
    try {
      nanos += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread has ended since the directory was read.
    }
  }
  return nanos === 0 ? undefined : nanos / 1e6
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
