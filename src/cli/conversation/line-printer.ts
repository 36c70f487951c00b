// Prints the lines of conversations, for people or as JSON.
import type { Option } from '../runner/command.ts'
import { jsonText, type Output } from '../runner/output.ts'
import type { Line } from './conversation.ts'
import { toldLineOf } from './told-line.ts'

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
  readonly #mostPending: number
  /** What is printed when the reader of the output has taken the text before. */
  #pending: string[] = []
  #length = 0
  #omitted = 0
  #writing: Promise<void> | undefined

  /** @param mostPending how many characters wait for the reader of the output before lines are left out. Default: any */
  constructor(
    out: Output,
    values: { readonly hex: boolean; readonly 'no-pings': boolean },
    { mostPending = Infinity }: { mostPending?: number } = {},
  ) {
    this.#out = out
    this.#values = values
    this.#mostPending = mostPending
  }

  /** Resolves when the reader of the output has taken what was printed. */
  get written(): Promise<void> {
    return this.#writing ?? Promise.resolve()
  }

  print(line: Line, origin?: Origin): void {
    const { sentence, dump, isPing } = line
    const { hex, 'no-pings': omitsPings } = this.#values
    if (isPing && omitsPings) return
    const bytes = hex && dump !== '' ? dump : undefined
    if (this.#out.isJson) this.#add(jsonText({ ...origin, ...toldLineOf(line, hex) }))
    else {
      const start = origin === undefined ? '' : `${origin.seconds.toFixed(3).padStart(9)}  [${origin.connection}]  `
      this.#add(start + sentence)
      if (bytes !== undefined) this.#add(bytes.replace(/^/gm, ' '.repeat(11)))
    }
  }

  /** Prints the JSON value if the user wants JSON, and otherwise the lines. */
  show(value: unknown, lines: () => readonly string[]): void {
    this.#add(this.#out.isJson ? jsonText(value) : lines().join('\n'))
  }

  #add(line: string): void {
    if (this.#length > this.#mostPending) {
      this.#omitted++
      return
    }
    this.#pending.push(line)
    this.#length += line.length
    if (this.#writing !== undefined) return
    this.#writing = this.#write()
    // If the output is closed, the command ends. Nobody else needs the error.
    this.#writing.catch(() => undefined)
  }

  /** Writes everything that is printed in one turn at once, because each write waits for the reader. */
  async #write(): Promise<void> {
    await Promise.resolve()
    while (this.#pending.length > 0) {
      if (this.#omitted > 0) this.#pending.push(this.#omission())
      const lines = this.#pending
      this.#pending = []
      this.#length = 0
      await this.#out.line(lines.join('\n'))
    }
    this.#writing = undefined
  }

  #omission(): string {
    const sentence = `${this.#omitted} lines are left out here, because the reader of the output is too slow`
    this.#omitted = 0
    return this.#out.isJson ? jsonText({ sentence }) : sentence
  }
}
