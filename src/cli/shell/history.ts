// The lines that a user has typed, in a file.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const HISTORY_SIZE = 1000

/** Returns the file of the history, or undefined if the user has no folder for such files (XDG base directories). */
export const historyFile = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  env['XDG_STATE_HOME'] === undefined || env['XDG_STATE_HOME'] === ''
    ? undefined
    : join(env['XDG_STATE_HOME'], 'zkwire', 'history')

export class History {
  readonly #file: string | undefined

  /** @param file undefined for a history that ends with the shell */
  constructor(file: string | undefined) {
    this.#file = file
  }

  /** Returns the lines, the newest first. Shortens a long file. */
  read(): string[] {
    if (this.#file === undefined) return []
    try {
      const lines = readFileSync(this.#file, 'utf8')
        .split('\n')
        .filter(line => line !== '')
      if (lines.length > 2 * HISTORY_SIZE) this.#write(lines.slice(-HISTORY_SIZE))
      return lines.slice(-HISTORY_SIZE).toReversed()
    } catch {
      return []
    }
  }

  /** Adds a line. Without a file, or if it cannot be written, does nothing: the history is a convenience. */
  add(line: string): void {
    if (this.#file === undefined) return
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
      appendFileSync(this.#file, `${line}\n`, { mode: 0o600 })
    } catch {
      // See above.
    }
  }

  #write(lines: readonly string[]): void {
    if (this.#file !== undefined) writeFileSync(this.#file, lines.map(line => `${line}\n`).join(''), { mode: 0o600 })
  }
}
