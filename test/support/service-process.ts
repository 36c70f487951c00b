// A process of an example that serves HTTP.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { runAtExit } from '../../environment/at-exit.ts'

export class ServiceProcess {
  readonly port: number
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown[]>
  #output = ''

  /** @param script the compiled program */
  constructor(script: string, port: number, env: Readonly<Record<string, string>>) {
    this.port = port
    this.#child = spawn(process.execPath, [script], {
      ...{ env: { ...process.env, ...env, PORT: `${port}` }, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += String(chunk)))
    this.#ended = once(this.#child, 'close')
    const cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    void this.#ended.then(cancelAtExit)
  }

  /** All that the process has printed. */
  get output(): string {
    return this.#output
  }

  /** Returns the status of the answer, or 0 if there is none. */
  async status(path: string, method = 'GET'): Promise<number> {
    const response = await this.request(path, method).catch(() => undefined)
    await response?.arrayBuffer().catch(() => undefined)
    return response?.status ?? 0
  }

  request(path: string, method = 'GET'): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, { method })
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends a signal, and resolves with the exit status when the process has ended. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.kill(signal)
    const [status] = (await this.#ended) as [number | null]
    return status
  }
}
