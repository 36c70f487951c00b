// Workers in workerd, the runtime of Cloudflare's, through miniflare.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** As much of miniflare as is used. It is no dependency, so that its own declarations are not at hand. */
interface Miniflare {
  dispatchFetch(
    url: string,
    init?: { method: string; body: string },
  ): Promise<{ status: number; text(): Promise<string> }>
  dispose(): Promise<void>
}

export interface WorkerOptions {
  bindings?: Record<string, string>
  /** Classes by the name that they are bound to. */
  durableObjects?: Record<string, string>
}

export class Worker {
  readonly #miniflare: Miniflare

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare
  }

  /** @param runtimes the folder that miniflare is installed in */
  static start(runtimes: string, script: string, options: WorkerOptions = {}): Worker {
    const { Miniflare } = createRequire(join(runtimes, 'package.json'))('miniflare') as {
      Miniflare: new (options: object) => Miniflare
    }
    return new Worker(
      new Miniflare({
        modules: [{ type: 'ESModule', path: 'worker.js', contents: script }],
        compatibilityDate: '2026-04-01',
        compatibilityFlags: ['nodejs_compat'],
        cf: false,
        ...options,
      }),
    )
  }

  /** What the worker answers. Rejects where it failed. */
  async ask(path: string, body = ''): Promise<string> {
    const response = await this.#miniflare.dispatchFetch(`http://worker${path}`, { method: 'POST', body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`the worker failed with ${response.status}: ${text}`)
    return text
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#miniflare.dispose()
  }
}
