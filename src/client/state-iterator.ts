// The states of a client, as an async iterator.
import { onAbort } from '../runtime/abort.ts'
import { isTerminal, type State, type StateListener } from '../session/life/states.ts'

interface Stateful {
  readonly state: State
  on(event: 'state', listener: StateListener): unknown
  off(event: 'state', listener: StateListener): unknown
}

/**
 * Yields the present state first. Ends after a terminal state. Rejects with the reason of the signal if that aborts.
 */
export class StateIterator implements AsyncIterator<State, undefined> {
  readonly #client: Stateful
  readonly #signal: AbortSignal | undefined
  readonly #queue: State[] = []
  readonly #waiting: (() => void)[] = []
  readonly #stopListening: () => void
  #hasEnded = false

  constructor(client: Stateful, signal: AbortSignal | undefined) {
    this.#client = client
    this.#signal = signal
    this.#stopListening = onAbort(signal, () => this.#end())
    client.on('state', this.#push)
    this.#push(client.state)
    if (signal?.aborted) this.#end()
  }

  readonly #push = (state: State): void => {
    this.#queue.push(state)
    if (isTerminal(state)) this.#end()
    else this.#wake()
  }

  async next(): Promise<IteratorResult<State, undefined>> {
    for (;;) {
      this.#signal?.throwIfAborted()
      const state = this.#queue.shift()
      if (state !== undefined) return { value: state, done: false }
      if (this.#hasEnded) return { value: undefined, done: true }
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  /** Ends the iterator. A `for await` loop calls this when it is left. */
  return(): Promise<IteratorResult<State, undefined>> {
    this.#queue.length = 0
    this.#end()
    return Promise.resolve({ value: undefined, done: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #end(): void {
    this.#hasEnded = true
    this.#client.off('state', this.#push)
    this.#stopListening()
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
