// Ends the program that a lock protects before another client can have the lock.
import type { Client } from '../../client/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Clock } from '../../runtime/clock.ts'

/** What is known of the lock. Times are in milliseconds. */
export interface LockView {
  /** For how long no other client can have the lock, unless a client deletes its node. */
  readonly validFor: number
  /** How long ago the lock's node was found missing; undefined if it is there. */
  readonly lostFor: number | undefined
}

export interface Verdict {
  readonly do: 'nothing' | 'terminate' | 'kill'
  /** When to look again, in milliseconds, if no event arrives before; undefined: only after an event. */
  readonly lookIn: number | undefined
  /** When the program must have ended, in milliseconds, if nothing else becomes known. */
  readonly killIn: number
}

/**
 * Decides what happens to the program.
 * @param grace how long the program has to end after it was told to, in milliseconds
 */
export function verdictOf({ validFor, lostFor }: LockView, grace: number): Verdict {
  const killIn = Math.max(0, lostFor === undefined ? validFor : Math.min(validFor, grace - lostFor))
  if (killIn === 0) return { do: 'kill', lookIn: undefined, killIn }
  if (lostFor !== undefined) return { do: 'terminate', lookIn: killIn, killIn }
  return validFor <= grace
    ? { do: 'terminate', lookIn: killIn, killIn }
    : { do: 'nothing', lookIn: validFor - grace, killIn }
}

export interface GuardOptions {
  readonly client: Client
  readonly held: { readonly signal: AbortSignal }
  readonly grace: number
  readonly clock: Clock
  /** Sends a signal to the program. */
  readonly kill: (signal: 'SIGTERM' | 'SIGKILL') => void
  /** Called again and again, with the time in milliseconds after which the watchdog must kill the program. */
  readonly feed: (killIn: number) => void
  /** Called once, after the first signal, with the reason. */
  readonly onEnding: (reason: string) => void
}

/** Watches a lock while its program runs. */
export class Guard {
  readonly #options: GuardOptions
  readonly #stopListening: readonly (() => void)[]
  #lostAt: number | undefined
  #last: Verdict['do'] = 'nothing'
  #timer: unknown

  constructor(options: GuardOptions) {
    this.#options = options
    const { client, held } = options
    const look = () => this.look()
    client.on('state', look)
    // The lock is lost too if the servers have not confirmed the session in time.
    this.#stopListening = [() => void client.off('state', look), onAbort(held.signal, look)]
    look()
  }

  /** True if the program was told to end, because the lock is lost or the servers do not confirm it. */
  get hasEnded(): boolean {
    return this.#last !== 'nothing'
  }

  /** Looks at the lock now. After a stall of the process, no timer may have fired yet. */
  look(): void {
    const { client, held, grace, clock, kill, feed, onEnding } = this.#options
    if (held.signal.aborted) this.#lostAt ??= clock.now()
    const lostFor = this.#lostAt === undefined ? undefined : clock.now() - this.#lostAt
    const verdict = verdictOf({ validFor: client.validFor(), lostFor }, grace)
    // Here, because reading the lock may notice its loss, and look again.
    clock.clearTimeout(this.#timer)
    const last = this.#last
    if (last === 'kill') return
    if (verdict.do !== 'nothing' && verdict.do !== last) {
      this.#last = verdict.do
      kill(verdict.do === 'kill' ? 'SIGKILL' : 'SIGTERM')
      if (last === 'nothing') onEnding(reasonOf(lostFor === undefined, client.validFor() > 0))
    }
    if (verdict.do === 'kill') return
    feed(verdict.killIn)
    const lookIn = Math.min(verdict.lookIn ?? Infinity, client.sessionTimeout / 6)
    this.#timer = clock.setTimeout(() => this.look(), lookIn)
  }

  /** Stops watching, because the program has ended. */
  stop(): void {
    this.#options.clock.clearTimeout(this.#timer)
    for (const stop of this.#stopListening) stop()
  }
}

function reasonOf(isThere: boolean, isAlive: boolean): string {
  if (!isAlive) return 'the session has ended, or the servers have not confirmed it in time'
  return isThere ? 'the servers do not confirm the session' : "the lock's node was deleted"
}
