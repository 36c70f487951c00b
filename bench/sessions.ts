// The sessions of the contenders: opened at a pace, told apart by number, and sorely missed when one goes.
import { setMaxListeners } from 'node:events'
import { connect, type Client } from '../src/index.ts'
import type { Meter } from './tap.ts'

/**
 * Connects in flight. All at once would overflow a server's backlog, 50 by default, and wait for the system to try
 * again.
 */
const PACE = 50
/** A busy event loop must not let a session expire: the most that servers give by default is below this. */
export const SESSION_TIMEOUT = 60_000
const CONNECT_TIMEOUT = 30_000

export class Sessions {
  readonly #servers: string
  readonly #meter: Meter
  readonly #onLost: (error: Error) => void
  readonly #open: Client[] = []
  #isClosing = false

  /**
   * @param onLost hears of a connection that broke: its session may live on, but what it did not hear was not counted
   */
  constructor(servers: string, meter: Meter, onLost: (error: Error) => void) {
    this.#servers = servers
    this.#meter = meter
    this.#onLost = onLost
  }

  /** The first `count` sessions; those that are missing are opened. */
  async take(
    count: number,
    signal: AbortSignal,
    onOpened: (open: number) => void = () => undefined,
  ): Promise<Client[]> {
    // As many listen to it as are dialling.
    setMaxListeners(0, signal)
    let begun = this.#open.length
    const dialler = async () => {
      while (begun < count) {
        begun++
        this.#open.push(await this.#dial(signal))
        onOpened(this.#open.length)
      }
    }
    await Promise.all(Array.from({ length: PACE }, dialler))
    return this.#open.slice(0, count)
  }

  async #dial(signal: AbortSignal): Promise<Client> {
    const client = await connect(this.#servers, {
      sessionTimeout: SESSION_TIMEOUT,
      connectTimeout: CONNECT_TIMEOUT,
      observe: this.#meter.tap(),
      signal,
    })
    client.on('state', state => {
      if (state !== 'connected' && !this.#isClosing)
        this.#onLost(
          new Error(
            `session 0x${client.sessionId.toString(16)} lost its connection (${state}): what it missed is in no count`,
          ),
        )
    })
    // It came while the others went.
    if (this.#isClosing) await client.close()
    return client
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#open.map(client => client.close()))
  }
}
