// The session of a shell: one living client for all commands, and a new one when the session has ended.
import { connect, type Client, type State } from '../../client/index.ts'
import { forwardAbort } from '../../runtime/abort.ts'
import type { Sessions, Target } from '../runner/command.ts'

/** How long a new session waits after a failed attempt, in milliseconds. */
const RETRY_INTERVAL = 1000

const isEnd = (state: State): boolean => state === 'expired' || state === 'authFailed' || state === 'closed'

export class ShellSession implements Sessions {
  readonly endsWithCommand = false
  readonly #target: Target
  readonly #signal: AbortSignal
  readonly #onState: (state: State) => void
  #opening: Promise<Client> | undefined
  #state: State = 'connecting'

  /**
   * @param signal ends the attempts to connect
   * @param onState called after each change of the state
   */
  constructor(target: Target, signal: AbortSignal, onState: (state: State) => void) {
    this.#target = target
    this.#signal = signal
    this.#onState = onState
  }

  target(): Promise<Target> {
    return Promise.resolve(this.#target)
  }

  /** The state of the current session, or of the last one while there is none. */
  get state(): State {
    return this.#state
  }

  /** Returns the client. Opens a new session if the last one has ended. */
  open(): Promise<Client> {
    if (this.#opening !== undefined) return this.#opening
    const opening = this.#open()
    this.#opening = opening
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined
    })
    return opening
  }

  /** Like {@link open}, but tries again until it succeeds or the shell ends. */
  async reopen(): Promise<void> {
    const { clock } = this.#target.options
    while (!this.#signal.aborted) {
      try {
        await this.open()
        return
      } catch {
        await new Promise<void>(resolve => void clock?.setTimeout(resolve, RETRY_INTERVAL))
      }
    }
  }

  async supervise<T>(task: (client: Client, signal: AbortSignal) => T | Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const client = await this.open()
      const ended = new AbortController()
      const stopForwarding = forwardAbort(signal, ended)
      const onState = (state: State) => {
        if (isEnd(state)) ended.abort(new Error('the session has ended'))
      }
      client.on('state', onState)
      try {
        return await task(client, ended.signal)
      } catch (error) {
        if (signal.aborted || !isEnd(client.state)) throw error
        await this.reopen()
        signal.throwIfAborted()
      } finally {
        client.off('state', onState)
        stopForwarding()
      }
    }
  }

  /** Closes the session, which deletes its ephemeral nodes. */
  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.close()
  }

  async #open(): Promise<Client> {
    const { servers, options } = this.#target
    const client = await connect(servers, { ...options, signal: this.#signal })
    client.on('state', state => {
      if (isEnd(state)) this.#opening = undefined
      this.#enter(state)
    })
    this.#enter(client.state)
    return client
  }

  #enter(state: State): void {
    this.#state = state
    this.#onState(state)
  }
}
