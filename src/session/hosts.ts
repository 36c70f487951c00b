// Which server is tried next, and when.
import type { Address } from '../transport/transport.ts'
import type { Random } from './random.ts'

/** The hosts in an order of chance, over and over, so that clients spread and a dead host is left at once. */
export class HostList {
  readonly #hosts: Address[]
  #next = 0

  constructor(hosts: readonly Address[], random: Random) {
    this.#hosts = shuffled(hosts, random)
  }

  get size(): number {
    return this.#hosts.length
  }

  next(): Address {
    const host = this.#hosts[this.#next] as Address
    this.#next = (this.#next + 1) % this.#hosts.length
    return host
  }
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const result = [...all]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j] as T, result[i] as T]
  }
  return result
}

const FIRST_DELAY = 50
export const LONGEST_DELAY = 2000

/**
 * Milliseconds to wait before the next attempt, after `failures` in a row: exponential, at least half of it by chance, so that
 * clients that lost one server together do not come back together.
 */
export function backoff(failures: number, random: Random): number {
  const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 16))
  return delay * (0.5 + random() / 2)
}
