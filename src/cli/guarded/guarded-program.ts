// Runs a program while a lock is held, for `lock` and `elect`. This folder holds the program's processes, and what ends
// them.
// May import: cli/runner, client/index.ts, runtime.
import type { Client } from '../../client/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Context } from '../runner/command.ts'
import { statuses, UsageError } from '../runner/failure.ts'
import { suspend } from '../runner/signals.ts'
import { escaped } from '../runner/text.ts'
import { Guard } from './guard.ts'
import { Program } from './program.ts'
import { Watchdog } from './watchdog.ts'

/** The members of a Held that are used here. */
interface Holding {
  readonly path: string
  readonly token: bigint
  readonly signal: AbortSignal
}

export interface RunOptions {
  readonly client: Client
  readonly held: Holding
  /** In milliseconds. */
  readonly grace: number
  /** Called with each signal that is handed on to the program. */
  readonly onSignal?: ((name: NodeJS.Signals) => void) | undefined
  /** Prints a sentence for the user. It must not block. */
  readonly say: (text: string) => void
  /** What the user loses with the lock, as the start of a sentence. */
  readonly lost: string
}

/**
 * Runs the program of the command, and hands signals on to it. Ends it before another client can have the lock.
 * Resolves when all processes have ended that the program has started.
 * @returns the exit status, and whether the lock was lost, or could not be confirmed, before that
 */
export async function runGuarded(context: Context, options: RunOptions): Promise<{ status: number; isLost: boolean }> {
  const { program: words, clock, signals, host } = context
  const { client, held, grace, onSignal, say, lost } = options
  const name = escaped(words[0] ?? '')
  // This process may have been stopped since the lock was granted.
  if (held.signal.aborted || client.validFor() === 0) {
    say(`${lost}: the session has ended, or the servers have not confirmed it in time; ${name} is not started`)
    return { status: statuses.lost, isLost: true }
  }
  const env = { ...context.env, ZKWIRE_TOKEN: String(held.token), ZKWIRE_LOCK_NODE: held.path }
  const watchdog = new Watchdog(clock, grace, `ZKWIRE_LOCK_NODE=${held.path}`)
  const undo: (() => void)[] = [() => watchdog.stop()]
  try {
    const running: { program?: Program; guard?: Guard } = {}
    let isDenied = false
    const kill = (signal: NodeJS.Signals) => {
      if (running.program?.kill(signal) !== false || isDenied) return
      isDenied = true
      say(`a process of ${name} belongs to another user, so it gets no ${signal}`)
    }
    // Before the program starts, because it may cause a signal before this process runs again.
    const stopHandling = signals.handle(signal => {
      onSignal?.(signal)
      if (signal === 'SIGTSTP') {
        // The program must not go on while this process cannot watch the lock.
        kill('SIGSTOP')
        suspend()
      }
      // After a stop, perhaps much later, the program goes on only under the lock.
      if (signal === 'SIGTSTP' || signal === 'SIGCONT') running.guard?.look()
      kill(signal === 'SIGTSTP' ? 'SIGCONT' : signal)
    })
    // Nobody reads the output any more.
    const stopEnding = onAbort(context.signal, () => kill('SIGTERM'))
    undo.push(stopHandling, stopEnding)
    const program = await Program.start({ words, env, stdin: host.programStdin, clock })
    running.program = program
    const guard = new Guard({
      ...{ client, held, grace, clock, kill },
      feed: killIn => watchdog.feed(program.pid, killIn),
      onEnding: reason => say(`${lost}: ${reason}; ending ${name}`),
    })
    running.guard = guard
    undo.push(() => guard.stop())
    const status = await program.ended
    await program.allEnded(count => {
      const left = count === undefined ? 'processes' : `${count} ${count === 1 ? 'process' : 'processes'}`
      say(`${name} has ended with status ${status}; the lock is held until its ${left} in the background have ended`)
    })
    return { status, isLost: guard.hasEnded || held.signal.aborted }
  } finally {
    for (const each of undo) each()
  }
}

/** A client that leaves its server, because the leader does not answer, has this share of the lease left. */
const LONGEST_GRACE = 1 / 3

/**
 * Returns the time that a program has to end after it was told to, in milliseconds. By default it is half of the longest
 * one, so that the client can reach another server before.
 * @param given the option, in seconds
 * @throws UsageError if it is longer than {@link LONGEST_GRACE} of the session timeout
 */
export function graceOf(given: number | undefined, client: Client): number {
  const longest = client.sessionTimeout * LONGEST_GRACE
  const grace = given === undefined ? longest / 2 : given * 1000
  if (grace <= longest) return grace
  throw new UsageError(
    `--grace: ${given} s is longer than a third of the session timeout of ${client.sessionTimeout / 1000} s: ` +
      'make it shorter, or --timeout longer',
  )
}

/**
 * Releases a lock. Waits no longer than the session's lease, because the end of the session releases the lock too.
 * @param signal ends the wait
 */
export async function release(held: { release(): Promise<void> }, client: Client, signal: AbortSignal): Promise<void> {
  const signals = [client.leaseSignal, signal]
  let stopListening = () => {}
  const lost = new Promise<void>(resolve => {
    const stops = signals.map(each => onAbort(each, resolve))
    stopListening = () => stops.forEach(stop => stop())
    if (signals.some(({ aborted }) => aborted)) resolve()
  })
  try {
    await Promise.race([held.release(), lost])
  } finally {
    stopListening()
  }
}
