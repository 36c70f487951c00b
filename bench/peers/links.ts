// A proxy for each contender: it counts the frames, delays them, and drops a connection when told to.
import { FaultProxy } from '../../environment/fault-proxy.ts'
import type { ContenderFrame } from './tally.ts'

export class Links {
  readonly #target: { host: string; port: number }
  readonly #proxies = new Map<number, FaultProxy>()

  constructor(target: { host: string; port: number }) {
    this.#target = target
  }

  /** Starts the proxy of a contender, and resolves with its address. */
  async open(who: number): Promise<string> {
    const proxy = await FaultProxy.start(this.#target)
    this.#proxies.set(who, proxy)
    return proxy.connectString
  }

  of(who: number): FaultProxy {
    const proxy = this.#proxies.get(who)
    if (proxy === undefined) throw new Error(`contender ${who} has no proxy`)
    return proxy
  }

  /** The number of frames since the last {@link take}. */
  get passed(): number {
    let passed = 0
    for (const { frames } of this.#proxies.values()) passed += frames.length
    return passed
  }

  /** Returns the frames since the last call, in the order of their times. */
  take(): ContenderFrame[] {
    return [...this.#proxies]
      .flatMap(([who, { frames }]) => frames.splice(0).map(frame => ({ ...frame, who })))
      .sort((a, b) => a.at - b.at)
  }

  /** @param ms delays each frame by this time, in both directions */
  delay(ms: number): void {
    for (const { conditions } of this.#proxies.values()) conditions.delay = ms
  }

  async close(): Promise<void> {
    await Promise.all([...this.#proxies.values()].map(proxy => proxy.close()))
    this.#proxies.clear()
  }
}
