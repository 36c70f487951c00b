// Prints the lines of conversations, for people or as JSON.
import type { Option } from '../runner/command.ts'
import type { Output } from '../runner/output.ts'
import type { Line } from './conversation.ts'

export const lineOptions = {
  hex: { type: 'boolean', help: 'prints the bytes of each frame too, field by field, without credentials' },
  'no-pings': { type: 'boolean', help: 'does not print pings' },
} as const satisfies Record<string, Option>

/** Where and when a line belongs. */
export interface Origin {
  /** Seconds since the first packet, or since the proxy has started. */
  seconds: number
  /** The number of the connection, counted from 1. */
  connection: number
}

export class LinePrinter {
  readonly #out: Output
  readonly #values: { readonly hex: boolean; readonly 'no-pings': boolean }
  #written: Promise<unknown> = Promise.resolve()

  constructor(out: Output, values: { readonly hex: boolean; readonly 'no-pings': boolean }) {
    this.#out = out
    this.#values = values
  }

  /** Resolves when the reader of the output has taken what was printed. */
  get written(): Promise<unknown> {
    return this.#written
  }

  print({ sentence, dump, isPing, frame }: Line, origin?: Origin): void {
    const { hex, 'no-pings': omitsPings } = this.#values
    if (isPing && omitsPings) return
    const bytes = hex && dump !== '' ? dump : undefined
    if (this.#out.isJson)
      return this.#write(this.#out.json({ ...origin, ...frame, sentence, ...(bytes && { dump: bytes }) }))
    const start = origin === undefined ? '' : `${origin.seconds.toFixed(3).padStart(9)}  [${origin.connection}]  `
    this.#write(this.#out.line(start + sentence))
    if (bytes !== undefined) this.#write(this.#out.line(bytes.replace(/^/gm, ' '.repeat(11))))
  }

  #write(writing: Promise<void>): void {
    this.#written = writing
    // If the output is closed, the command ends. Nobody else needs the error.
    writing.catch(() => undefined)
  }
}
