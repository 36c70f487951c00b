// The sessions of one thread: opened at a pace, and sorely missed when one goes.
import { setMaxListeners } from 'node:events'
import { connect, type Client } from '../../src/index.ts'
import { CuttableDial } from './cuttable-dial.ts'
import type { FrameCounter } from '../measure/frame-counter.ts'

/** Connects in flight. All at once would overflow a server's backlog, 50 by default, and wait for the system to try again. */
const MAX_CONNECTING = 25
/** A busy event loop must not let a session expire: the most that servers give by default is below this. */
export const SESSION_TIMEOUT = 60_000
const CONNECT_TIMEOUT = 60_000
const ATTEMPT_TIMEOUT = 20_000

/** A session, and what can be done to its connection. */
export class BenchSession {
  client!: Client
  readonly link = new CuttableDial()
  readonly #servers: string
  readonly #counter: Pick<FrameCounter, 'observer'>
  readonly #timeout: number
  readonly #rearmed: (() => void)[] = []

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
      ...(signal && { signal }),
    })
    return this
  }

  rearmed(): Promise<void> {
    return new Promise(resolve => this.#rearmed.push(resolve))
  }

  /** After an isolation: another session in the place of the one that has expired. */
  async replaceSession(signal: AbortSignal): Promise<Client> {
    const { client } = this
    const over = new Promise<void>(resolve => client.on('state', state => state === 'expired' && resolve()))
    this.link.up()
    if (client.state !== 'expired') await over
    return (await this.open(signal)).client
  }

  /** @param onLost hears of a connection that broke: its session may live on, but what it did not hear was not counted */
  reportLoss(onLost: (error: Error) => void): void {
    const { client } = this
    client.on('state', state => {
      if (state !== 'connected' && state !== 'closed')
        onLost(
          new Error(
            `session 0x${client.sessionId.toString(16)} lost its connection (${state}): what it missed is in no count`,
          ),
        )
    })
  }

  close(): Promise<void> {
    this.link.up()
    return this.client.close()
  }
}

/** Opens so many. Where one fails, those that are open are closed again. */
export async function openSessions(
  count: number,
  make: () => BenchSession,
  signal: AbortSignal,
  onOpened: () => void,
): Promise<BenchSession[]> {
  // As many listen to it as are dialling.
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
