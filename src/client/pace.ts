// Pauses of loops that repeat a call. A server that answers at once, but never with success, would otherwise be asked
// thousands of times a second.
import { forwardAbort } from '../runtime/abort.ts'
import type { Clock } from '../runtime/clock.ts'
import { pause } from '../runtime/pause.ts'
import type { Random } from '../runtime/random.ts'
import { isTerminal, type State, type StateListener } from '../session/life/states.ts'
import { backoff, LONGEST_DELAY } from '../session/servers/backoff.ts'

export interface Stateful {
  readonly state: State
  on(event: 'state', listener: StateListener): unknown
  off(event: 'state', listener: StateListener): unknown
}

interface PacedClient extends Stateful {
  readonly stats: { readonly connects: number }
}

interface Sources {
  readonly clock: Clock
  readonly random: Random
}

/** The first rounds do not pause, because most loops end soon: another client has deleted a node, for example. */
const FREE_ROUNDS = 5

/** Makes a loop pause if its rounds end at once. The pauses grow to at most 1 s. */
export class Pace {
  readonly #client: PacedClient
  readonly #sources: Sources
  /** The number of the present connection; 0 before the first round has ended. */
  #connects = 0
  #rounds = 0
  /** When the present round began. */
  #roundBegan = 0

  constructor(client: PacedClient, sources: Sources) {
    this.#client = client
    this.#sources = sources
  }

  /**
   * Waits before the next round. Resolves at once on a new connection, after a long round, or if the signal aborts or
   * the session ends.
   */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    const { clock, random } = this.#sources
    const { connects } = this.#client.stats
    const isNew = connects !== this.#connects || clock.now() - this.#roundBegan > LONGEST_DELAY
    this.#connects = connects
    this.#rounds = isNew ? 0 : this.#rounds + 1
    if (this.#rounds > FREE_ROUNDS)
      await pauseInSession(this.#client, clock, backoff(this.#rounds - FREE_ROUNDS - 1, random), signal)
    this.#roundBegan = clock.now()
  }
}

/**
 * Waits `ms` milliseconds. Ends early when the session changes its state or the signal aborts, so that no timer is
 * left.
 */
export async function pauseInSession(
  client: Stateful,
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (isTerminal(client.state)) return
  const ended = new AbortController()
  const onState = () => ended.abort()
  const stopForwarding = forwardAbort(signal, ended)
  client.on('state', onState)
  await pause(clock, ms, ended.signal)
  client.off('state', onState)
  stopForwarding()
}
