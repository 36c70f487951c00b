// What a command prints: text for people, or JSON for programs.
import { write } from 'node:fs'
import { OutputClosed } from './failure.ts'
import { escaped } from './text.ts'

const colours = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const

/** One stream of a command. */
export class Output {
  readonly stream: NodeJS.WritableStream
  /** True if the user wants JSON. */
  readonly isJson: boolean
  readonly hasColour: boolean
  readonly #closed: AbortController

  /** @param closed aborts with an {@link OutputClosed} when the reader has closed the stream */
  constructor(
    stream: NodeJS.WritableStream,
    closed: AbortController,
    { isJson, hasColour }: Pick<Output, 'isJson' | 'hasColour'>,
  ) {
    this.stream = stream
    this.isJson = isJson
    this.hasColour = hasColour
    this.#closed = closed
  }

  /** Writes text or bytes. Waits while the reader is slow. */
  async write(chunk: string | Uint8Array): Promise<void> {
    const { signal } = this.#closed
    if (signal.aborted) throw signal.reason as Error
    if (this.stream.write(chunk)) return
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        this.stream.off('drain', end)
        signal.removeEventListener('abort', end)
        if (signal.aborted) reject(signal.reason as Error)
        else resolve()
      }
      this.stream.on('drain', end)
      signal.addEventListener('abort', end)
    })
  }

  /**
   * Writes a line of text, and returns before it is written. Unlike {@link write}, this never blocks the process: Node
   * writes to a terminal synchronously, and the user may have stopped it with Ctrl-S.
   */
  notice(text: string): void {
    const { stream } = this
    if (!('fd' in stream) || !isTerminal(stream)) stream.write(`${text}\n`)
    else {
      const written = new Promise<void>(resolve => {
        void noticesWritten(stream).then(() => write(stream.fd as number, `${text}\n`, () => resolve()))
      })
      notices.set(stream, written)
    }
  }

  /** Writes a line of text. The caller has escaped names and data. */
  line(text = ''): Promise<void> {
    return this.write(`${text}\n`)
  }

  /** Writes one JSON document, or one event, as a line. */
  json(value: unknown): Promise<void> {
    return this.line(jsonText(value))
  }

  /** Writes the JSON value if the user wants JSON, and otherwise the lines. */
  async show(value: unknown, lines: () => string | readonly string[]): Promise<void> {
    if (this.isJson) return this.json(value)
    const text = lines()
    for (const line of typeof text === 'string' ? [text] : text) await this.line(line)
  }

  paint(colour: keyof typeof colours, text: string): string {
    return this.hasColour ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text
  }
}

/**
 * Returns a value as JSON. Numbers of 64 bits become decimal strings. Control characters, which JSON allows in part, are
 * escaped as JSON does it.
 */
export const jsonText = (value: unknown): string =>
  escaped(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)))

/** The notices of each terminal that are not written yet. */
const notices = new WeakMap<NodeJS.WritableStream, Promise<void>>()

/** Resolves when all notices to the stream are written. A terminal that is stopped delays this. */
export const noticesWritten = (stream: NodeJS.WritableStream): Promise<void> => notices.get(stream) ?? Promise.resolve()

const isTerminal = (stream: NodeJS.WritableStream): boolean => 'isTTY' in stream && stream.isTTY === true

/** Aborts the controller when the reader of the stream has closed it. Returns a function that stops listening. */
export function watchClosing(stream: NodeJS.WritableStream, closed: AbortController): () => void {
  const onError = (error: Error & { code?: string }) =>
    closed.abort(error.code === 'EPIPE' ? new OutputClosed('the output is closed') : error)
  stream.on('error', onError)
  return () => stream.off('error', onError)
}

/** True if text may be coloured: on a terminal, unless NO_COLOR is set (no-color.org) or the terminal is dumb. */
export const mayColour = (stream: NodeJS.WritableStream, env: Readonly<Record<string, string | undefined>>): boolean =>
  isTerminal(stream) && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
