// The processes of a program: that which was started, and all that it has started.
import { readdirSync, readFileSync } from 'node:fs'

interface Process {
  readonly pid: number
  readonly group: number
  /** The pid of the process that has begun the session (setsid). */
  readonly session: number
  /** True if the process has ended, and its parent has not yet asked for its status. */
  readonly isZombie: boolean
}

/** A watchdog of `zkwire lock` or `elect`, as its command line describes it. */
interface RunningWatchdog {
  readonly pid: number
  /** The session of the `zkwire` that has started it. */
  readonly within: number
  /** The session of the program that it watches; undefined until it has been told. */
  readonly watched: number | undefined
}

/**
 * The session (setsid) that a program leads. It has more processes than the program's group: `timeout`, and a shell with
 * job control, put what they start into groups of their own. Only a process that calls setsid(), as a daemon, leaves it.
 * If a `zkwire lock` in the session runs a program, the session of that program belongs to the tree too.
 * Without /proc, as on macOS, only the group is known.
 */
export class ProcessTree {
  readonly #leader: number
  /** The program's session, and those of programs that a `zkwire` within it runs, which had a process at the last look. */
  #sessions: ReadonlySet<number>
  /** A process that was alive at the last look. While it lives, /proc need not be searched. */
  #living: number | undefined
  /**
   * The processes that had ended at the last look; undefined if one was alive. A process may start another one and end
   * while /proc is read, so that the list has neither of them alive. The list of the next look has the new one.
   */
  #ended: ReadonlySet<number> | undefined

  /** @param leader the pid of the program, which leads its session */
  constructor(leader: number) {
    this.#leader = leader
    this.#sessions = new Set([leader])
  }

  /** Sends a signal to each process. Returns false if one of them belongs to another user, so that it gets none. */
  kill(signal: NodeJS.Signals): boolean {
    // A `zkwire` within the session hands other signals on to its program, which must not get them twice.
    const isHandedOn = signal !== 'SIGKILL' && signal !== 'SIGSTOP'
    const members = this.#look().members.filter(({ session }) => !isHandedOn || session === this.#leader)
    const groups = [...new Set([this.#leader, ...members.map(({ group }) => group)])]
    // A shell must not notice that its job has stopped, so it is stopped first, and continued last. It must also not end
    // before its job, because Linux continues a job that is stopped when its shell ends (exit_notify).
    groups.sort((a, b) => (signal === 'SIGSTOP' ? a - b : b - a))
    return groups.map(group => send(group, signal)).every(outcome => outcome !== 'denied')
  }

  /**
   * True if two looks in a row have found no process. One that has ended, but that its parent has not asked for its
   * status, counts as gone.
   */
  get isEmpty(): boolean {
    if (this.#living !== undefined && this.#isAlive(this.#living)) return false
    const { members, watchdogs } = this.#look()
    // A watchdog whose `zkwire` was killed is about to end its program, even if that is not known here yet.
    this.#living = members.find(({ isZombie }) => !isZombie)?.pid ?? watchdogs[0]?.pid
    const before = this.#ended
    this.#ended = this.#living === undefined ? new Set(members.map(({ pid }) => pid)) : undefined
    if (before === undefined || !members.every(({ pid }) => before.has(pid))) return false
    if (members.length > 0) return true
    // Without /proc, or if it hides the processes of other users.
    return send(this.#leader, 0) === 'gone'
  }

  /** The number of processes that are left, or undefined if it is not known. */
  get size(): number | undefined {
    return this.#look().members.filter(({ isZombie }) => !isZombie).length || undefined
  }

  #isAlive(pid: number): boolean {
    const found = processOf(String(pid))
    if (found === undefined || found.isZombie) return false
    return this.#sessions.has(found.session) || watchdogOf(pid) !== undefined
  }

  #look(): { members: readonly Process[]; watchdogs: readonly RunningWatchdog[] } {
    const all = processes().flatMap(name => processOf(name) ?? [])
    // Each watchdog leads a session.
    const running = all.flatMap(({ pid, session }) => (pid === session ? (watchdogOf(pid) ?? []) : []))
    const sessions = new Set(this.#sessions)
    const watchdogs: RunningWatchdog[] = []
    // A Set also iterates over what is added meanwhile: a program under a lock may run a `zkwire lock` too.
    for (const session of sessions)
      for (const each of running.filter(({ within }) => within === session)) {
        watchdogs.push(each)
        if (each.watched !== undefined) sessions.add(each.watched)
      }
    const members = all.filter(({ session }) => sessions.has(session))
    // Each session stays known when its watchdog has ended, until it has no process.
    this.#sessions = new Set([this.#leader, ...members.map(({ session }) => session)])
    return { members, watchdogs }
  }
}

/**
 * Returns the pid of the first process that leads a session and has the entry in its environment, such as `NAME=value`.
 * Without /proc, returns undefined.
 */
export function leaderWith(entry: string): number | undefined {
  const hasEntry = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry)
    } catch {
      return false
    }
  }
  const name = processes().find(pid => processOf(pid)?.session === Number(pid) && hasEntry(pid))
  return name === undefined ? undefined : Number(name)
}

/** Returns the session of this process; undefined without /proc. */
export const ownSession = (): number | undefined => processOf('self')?.session

/** Returns the title of a watchdog. `within` is its first argument, so its command line has that before it has a title. */
export const titleOf = (within: string, watched: number): string => `zkwire watchdog-main ${within} watches=${watched}`

/** The command line of a watchdog with a title, or without one. */
const DESCRIPTION = /^zkwire watchdog-main within=(\d+) watches=(\d+)|watchdog-main\.[jt]s within=(\d+)/

/** Returns undefined if the process is no watchdog that this user has started. */
function watchdogOf(pid: number): RunningWatchdog | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
    const [isWatchdog, titled, watched, untitled] = DESCRIPTION.exec(line) ?? []
    if (isWatchdog === undefined) return undefined
    // A process of another user must not name a session for this one to kill.
    const [, user] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    if (Number(user) !== process.getuid?.()) return undefined
    return { pid, within: Number(titled ?? untitled), watched: watched === undefined ? undefined : Number(watched) }
  } catch {
    return undefined
  }
}

/** Returns undefined if there is no such process. */
function processOf(name: string): Process | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${name}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name of the program, in parentheses, may have spaces and parentheses itself.
  const [state = '', , group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const isZombie = state === 'Z' || state === 'X'
  return { pid: Number.parseInt(text), group: Number(group), session: Number(session), isZombie }
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function send(group: number, signal: NodeJS.Signals | 0): 'sent' | 'denied' | 'gone' {
  try {
    process.kill(-group, signal)
    return 'sent'
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM' ? 'denied' : 'gone'
  }
}
