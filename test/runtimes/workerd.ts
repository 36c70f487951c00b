// Runs workers in workerd, Cloudflare's runtime, through miniflare.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * The used part of miniflare's API. miniflare is not a dependency of this package, so its own declarations are missing.
 */
interface Miniflare {
  dispatchFetch(
    url: string,
    init?: { method: string; body: string },
  ): Promise<{ status: number; text(): Promise<string> }>
  dispose(): Promise<void>
}

export interface WorkerOptions {
  bindings?: Record<string, string>
  /** Class names, keyed by the name of their binding. */
  durableObjects?: Record<string, string>
}

export class Worker {
  readonly #miniflare: Miniflare

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare
  }

  /** @param runtimes the folder in which miniflare is installed */
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

  /** Sends a POST and returns the response's body. Rejects if the status is not 200. */
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
