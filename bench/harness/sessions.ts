// A session under measurement: it can be cut off, replaced after its expiration, and watched for a lost connection.
// openSessions() opens many of them with limited concurrency.
import { setMaxListeners } from 'node:events'
import { connect, type Client } from '../../src/index.ts'
import { CuttableDial } from './cuttable-dial.ts'
import type { FrameCounter } from '../measure/frame-counter.ts'

/**
 * The maximum number of connects in flight. More would overflow the server's listen backlog (50 by default), and wait
 * for TCP retransmissions.
 */
const MAX_CONNECTING = 25
/** The requested timeout, ms. It is long because the event loop may be busy. Servers grant less by default. */
export const SESSION_TIMEOUT = 60_000
const CONNECT_TIMEOUT = 60_000
const ATTEMPT_TIMEOUT = 20_000

/** A session whose connection can be cut. */
export class BenchSession {
  client!: Client
  readonly link = new CuttableDial()
  readonly #servers: string
  readonly #counter: Pick<FrameCounter, 'observer'>
  readonly #timeout: number
  readonly #rearmed: (() => void)[] = []
  /** Why the last connection ended. */
  #cause = 'unknown'

  constructor(servers: string, counter: Pick<FrameCounter, 'observer'>, timeout = SESSION_TIMEOUT) {
    this.#servers = servers
    this.#counter = counter
    this.#timeout = timeout
  }

  async open(signal?: AbortSignal): Promise<this> {
    this.client = await connect(this.#servers, {
      sessionTimeout: this.#timeout,
      connectTimeout: CONNECT_TIMEOUT,
      attemptTimeout: ATTEMPT_TIMEOUT,
      onFrame: this.#counter.observer(() => this.#rearmed.splice(0).forEach(resolve => resolve())),
      dial: this.link.dial,
      onConnectionError: error => (this.#cause = error.message),
      signal,
    })
    return this
  }

  rearmed(): Promise<void> {
    return new Promise(resolve => this.#rearmed.push(resolve))
  }

  /** Waits until the isolated session has expired, and opens a new one. */
  async replaceSession(signal: AbortSignal): Promise<Client> {
    const { client } = this
    const expired = new Promise<void>(resolve => client.on('state', state => state === 'expired' && resolve()))
    this.link.up()
    if (client.state !== 'expired') await expired
    return (await this.open(signal)).client
  }

  /**
   * @param onLost called if the connection is lost: the session may survive, but the frames it missed are not counted
   */
  reportLoss(onLost: (error: Error) => void): void {
    const { client } = this
    client.on('state', state => {
      if (state !== 'connected' && state !== 'closed')
        onLost(
          new Error(
            `session 0x${client.sessionId.toString(16)} lost its connection (${state}), so the counts are incomplete: ${this.#cause}`,
          ),
        )
    })
  }

  close(): Promise<void> {
    this.link.up()
    return this.client.close()
  }
}

/** Opens sessions. If one fails, closes the others and rejects with its error. */
export async function openSessions(
  count: number,
  make: () => BenchSession,
  signal: AbortSignal,
  onOpened: () => void,
): Promise<BenchSession[]> {
  // Each connect in flight adds a listener.
  setMaxListeners(0, signal)
  const open: BenchSession[] = []
  let begun = 0
  const dialler = async () => {
    while (begun++ < count) {
      open.push(await make().open(signal))
      onOpened()
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: MAX_CONNECTING }, dialler))
  const failure = outcomes.find(outcome => outcome.status === 'rejected')
  if (failure === undefined) return open
  await Promise.allSettled(open.map(session => session.close()))
  throw failure.reason
}
