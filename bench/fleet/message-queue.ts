// Messages between machines, as items of a Queue. What is posted while another item is on its way goes into the next one.
import { deserialize, serialize } from 'node:v8'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export interface Sink {
  put(data: Uint8Array): Promise<void>
}

export class MessageQueue<T> {
  readonly #queue: Sink
  readonly #failed: (error: unknown) => void
  #waiting: T[] = []
  #sending: Promise<void> | undefined

  /** @param failed called if an item cannot be put. The messages after it are lost too. */
  constructor(queue: Sink, failed: (error: unknown) => void) {
    this.#queue = queue
    this.#failed = failed
  }

  send(message: T): void {
    this.#waiting.push(message)
    this.#sending ??= this.#sendAll().catch(this.#failed)
  }

  /** Resolves when all messages so far are in the queue. */
  async sent(): Promise<void> {
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    // The messages of one turn go into one item.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const messages = this.#waiting
      this.#waiting = []
      await this.#queue.put(encode(messages))
    }
    this.#sending = undefined
  }
}

/** Keeps NaN, Infinity, undefined and errors, which JSON does not. */
export const encode = (messages: readonly unknown[]): Buffer => deflateRawSync(serialize(messages))

export const decode = <T>(data: Uint8Array): T[] => deserialize(inflateRawSync(data)) as T[]
