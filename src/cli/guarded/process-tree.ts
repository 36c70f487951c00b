// The processes of a program: that which was started, and all that it has started.
import { readdirSync, readFileSync } from 'node:fs'

interface Process {
  readonly pid: number
  readonly group: number
  /** True if the process has ended, and its parent has not yet asked for its status. */
  readonly isZombie: boolean
}

/**
 * The session (setsid) that a program leads. It has more processes than the program's group: `timeout`, and a shell with
 * job control, put what they start into groups of their own. Only a process that calls setsid(), as a daemon, leaves it.
 * Without /proc, as on macOS, only the group is known.
 */
export class ProcessTree {
  readonly #leader: number
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
  }

  /** Sends a signal to each process. Returns false if one of them belongs to another user, so that it gets none. */
  kill(signal: NodeJS.Signals): boolean {
    const groups = [...new Set([this.#leader, ...this.#members().map(({ group }) => group)])]
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
    const members = this.#members()
    this.#living = members.find(({ isZombie }) => !isZombie)?.pid
    const before = this.#ended
    this.#ended = this.#living === undefined ? new Set(members.map(({ pid }) => pid)) : undefined
    if (before === undefined || !members.every(({ pid }) => before.has(pid))) return false
    if (members.length > 0) return true
    // Without /proc, or if it hides the processes of other users.
    return send(this.#leader, 0) === 'gone'
  }

  /** The number of processes that are left, or undefined if it is not known. */
  get size(): number | undefined {
    return this.#members().filter(({ isZombie }) => !isZombie).length || undefined
  }

  #isAlive(pid: number): boolean {
    const member = this.#memberOf(String(pid))
    return member !== undefined && !member.isZombie
  }

  #members(): Process[] {
    return processes().flatMap(name => this.#memberOf(name) ?? [])
  }

  #memberOf(name: string): Process | undefined {
    const { state, group, session } = statOf(name) ?? {}
    if (group === undefined || session !== this.#leader) return undefined
    return { pid: Number(name), group, isZombie: state === 'Z' || state === 'X' }
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
  const name = processes().find(pid => statOf(pid)?.session === Number(pid) && hasEntry(pid))
  return name === undefined ? undefined : Number(name)
}

/** Returns undefined if there is no such process. */
function statOf(pid: string): { state: string; group: number; session: number } | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name of the program, in parentheses, may have spaces and parentheses itself.
  const [state = '', , group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state, group: Number(group), session: Number(session) }
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
