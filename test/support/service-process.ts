// A process of an example that serves HTTP.
import { ChildProgram, type Ended } from '../../environment/child-program.ts'

export class ServiceProcess extends ChildProgram {
  readonly port: number

  /** @param script the compiled program */
  constructor(script: string, port: number, env: Readonly<Record<string, string>>) {
    super([script], { env: { ...process.env, ...env, PORT: `${port}` } })
    this.port = port
  }

  /** All that the process has printed. */
  get output(): string {
    return this.out + this.err
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

  /** Sends a signal, and resolves with the exit status when the process has ended. */
  async end(signal: NodeJS.Signals): Promise<Ended['status']> {
    this.kill(signal)
    return (await this.ended).status
  }
}
