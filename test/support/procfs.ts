// What Linux tells about a process under /proc.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** USER_HZ, the unit of times there: 100 on every Linux that Node runs on. */
const CLOCK_TICKS = 100

/** Processor time, user and system, that a process has used; undefined where there is no /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statFields(`/proc/${pid}/stat`)
  return fields && (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS
}

/** A letter for each thread, 'T' where it is stopped. Empty where there is no /proc. */
export function threadStates(pid: number): string[] {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return []
  return readdirSync(tasks).flatMap(task => statFields(`${tasks}/${task}/stat`)?.[0] ?? [])
}

/** The fields of a stat file from the state on, since the name before it may hold anything. */
function statFields(path: string): string[] | undefined {
  try {
    const stat = readFileSync(path, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
