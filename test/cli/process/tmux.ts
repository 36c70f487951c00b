// A program in a real terminal, which tmux provides: keys go in, and the screen is read.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { runAtExit } from '../../../environment/at-exit.ts'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { tmux } from '../../../environment/needs.ts'
import { until } from '../../../environment/until.ts'

const run = promisify(execFile)

export const installTmux = (): Promise<void> => ensureInstalled(tmux)

let count = 0

export class Tmux {
  readonly #socket: string
  readonly #cancelAtExit: () => void

  private constructor(socket: string) {
    this.#socket = socket
    this.#cancelAtExit = runAtExit(() => void execFile('tmux', ['-L', socket, 'kill-server']))
  }

  /**
   * Starts a shell with a prompt `$ ` in a terminal of 80 columns and 24 rows.
   * @param words default: bash
   */
  static async start(
    env: Readonly<Record<string, string>>,
    words: readonly string[] = ['bash', '--norc', '--noprofile'],
  ): Promise<Tmux> {
    const socket = `zkwire-${process.pid}-${++count}`
    const variables = Object.entries({ PS1: '$ ', LC_ALL: 'C.UTF-8', ...env }).flatMap(([name, value]) => [
      '-e',
      `${name}=${value}`,
    ])
    await run('tmux', [
      '-L',
      socket,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '80',
      '-y',
      '24',
      ...variables,
      ...words,
    ])
    const tmux = new Tmux(socket)
    await tmux.until(screen => screen.startsWith('$'))
    return tmux
  }

  /** Types text. */
  async type(text: string): Promise<void> {
    await this.#do('send-keys', '-l', text)
  }

  /** Presses keys by their names: Enter, Tab, Up, C-c. */
  async press(...keys: string[]): Promise<void> {
    await this.#do('send-keys', ...keys)
  }

  /** Types a line, and presses Enter. */
  async line(text: string): Promise<void> {
    await this.type(text)
    await this.press('Enter')
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#do('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** Returns what is on the screen, without empty lines at its end. */
  async screen(): Promise<string> {
    const { stdout } = await this.#do('capture-pane', '-p')
    return stdout.trimEnd()
  }

  /** Waits until the screen is as expected. Returns it. */
  async until(isExpected: (screen: string) => boolean): Promise<string> {
    let screen = ''
    try {
      await until(async () => isExpected((screen = await this.screen())))
    } catch (error) {
      throw new Error(`${(error as Error).message}\nThe screen:\n${screen}`, { cause: error })
    }
    return screen
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#do('kill-server')
    this.#cancelAtExit()
  }

  #do(...args: string[]): Promise<{ stdout: string }> {
    return run('tmux', ['-L', this.#socket, ...args])
  }
}
