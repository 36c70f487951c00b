// Runs a program while a lock is held, for `lock` and `elect`. This folder holds the program's processes, and what ends
// them.
// May import: cli/runner, client/index.ts, runtime.
import type { Client } from '../../client/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import { onAbort } from '../../runtime/abort.ts'
import { UsageError } from '../runner/failure.ts'
import { Guard } from './guard.ts'
import { Program } from './program.ts'
import type { Signals } from '../runner/signals.ts'

/** The members of a Held that are used here. */
export interface Holding {
  readonly path: string
  readonly token: bigint
  readonly signal: AbortSignal
}

export interface RunOptions {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly client: Client
  readonly held: Holding
  /** In milliseconds. */
  readonly grace: number
  readonly clock: Clock
  readonly signals: Signals
  /** Called with each signal that is handed on to the program. */
  readonly onSignal?: ((name: NodeJS.Signals) => void) | undefined
  /** Called when the program is told to end, with the reason. */
  readonly onEnding: (reason: string) => void
}

/**
 * Runs the program, and hands signals on to it. Ends it before another client can have the lock.
 * @returns the exit status, and whether the lock was lost, or could not be confirmed, before the program had ended
 */
export async function runGuarded(options: RunOptions): Promise<{ status: number; isLost: boolean }> {
  const { words, client, held, grace, clock, signals, onSignal, onEnding } = options
  const env = { ...options.env, ZKWIRE_TOKEN: String(held.token), ZKWIRE_LOCK_NODE: held.path }
  // Before the program starts, because it may cause a signal before this process runs again.
  const stopHandling = signals.handle(name => {
    onSignal?.(name)
    if (name === 'SIGTSTP') suspend(program, guard)
    else program.kill(name)
  })
  const program = new Program(words, env)
  const guard = new Guard({ client, held, program, grace, clock, onEnding })
  try {
    const status = await program.ended
    return { status, isLost: guard.hasEnded || held.signal.aborted }
  } finally {
    guard.stop()
    stopHandling()
  }
}

/** Ctrl-Z: the program must not go on while this process cannot watch the lock. */
function suspend(program: Program, guard: Guard): void {
  program.kill('SIGSTOP')
  process.kill(process.pid, 'SIGSTOP')
  // Continued by SIGCONT, perhaps much later.
  guard.look()
  program.kill('SIGCONT')
}

/**
 * Returns the time that a program has to end after it was told to, in milliseconds.
 * @param given the option, in seconds
 * @throws UsageError if it is not shorter than the session timeout
 */
export function graceOf(given: number | undefined, client: Client): number {
  const grace = given === undefined ? client.sessionTimeout / 3 : given * 1000
  if (grace < client.sessionTimeout) return grace
  throw new UsageError(
    `--grace: ${given} s is not shorter than the session timeout of ${client.sessionTimeout / 1000} s: ` +
      'make it shorter, or --timeout longer',
  )
}

/** Releases a lock. Does not wait longer than the session is known to be alive, because its end releases the lock too. */
export async function release(held: { release(): Promise<void> }, client: Client): Promise<void> {
  let stopListening = () => {}
  const lost = new Promise<void>(resolve => {
    stopListening = onAbort(client.leaseSignal, resolve)
    if (client.leaseSignal.aborted) resolve()
  })
  try {
    await Promise.race([held.release(), lost])
  } finally {
    stopListening()
  }
}
