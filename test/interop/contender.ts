// Contenders of any library, which increment a counter under a lock. If two hold the lock at the same time, an
// increment is lost.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import type { Held, Lock } from '../../src/recipes/index.ts'

export interface Contender {
  readonly name: string
  acquire(): Promise<unknown>
  /** Reads the counter through the contender's own session, as write() does. */
  read(counter: string): Promise<string>
  write(counter: string, value: string): Promise<unknown>
  release(): Promise<unknown>
}

/** The counter's value that a contender read before its increment. */
export interface Increment {
  readonly name: string
  readonly previous: number
}

export function ours(name: string, client: Client, lock: Pick<Lock, 'acquire'>): Contender {
  let held: Held | undefined
  return {
    name,
    async acquire() {
      held = await lock.acquire()
    },
    read: async counter => String((await client.getData(counter)).data),
    write: (counter, value) => client.setData(counter, value),
    release: async () => held?.release(),
  }
}

/** Under the lock: reads the counter, waits `hold` ms, and writes the counter plus one. */
export async function increment(contender: Contender, counter: string, hold = 1): Promise<Increment> {
  await contender.acquire()
  const previous = Number(await contender.read(counter))
  await delay(hold)
  await contender.write(counter, String(previous + 1))
  await contender.release()
  return { name: contender.name, previous }
}

/** Under the lock: reads the counter, waits 1 ms, and reads it again. */
export async function readTwice(contender: Contender, counter: string): Promise<readonly [string, string]> {
  await contender.acquire()
  const first = await contender.read(counter)
  await delay(1)
  const second = await contender.read(counter)
  await contender.release()
  return [first, second]
}

/**
 * Each contender increments `rounds` times, all concurrently. Returns the increments ordered by the value that was
 * read.
 */
export async function incrementAll(
  contenders: readonly Contender[],
  counter: string,
  rounds: number,
): Promise<Increment[]> {
  const increments: Increment[] = []
  const each = async (contender: Contender) => {
    for (let round = 0; round < rounds; round++) increments.push(await increment(contender, counter))
  }
  await Promise.all(contenders.map(each))
  return increments.sort((a, b) => a.previous - b.previous)
}

/** How often the lock passed from one contender to another. */
export const handOverCount = (increments: readonly Increment[]): number =>
  increments.filter(({ name }, i) => i > 0 && name !== increments[i - 1]?.name).length

/** Counts the holders of a lock, as the process of the test sees them: from the end of acquire() to the begin of release(). */
export class Holders {
  /** The most that held the lock at the same time. */
  most = 0
  /** How often the lock was held. */
  turns = 0
  #inside = 0

  /** Acquires the lock, runs the function, and releases the lock. */
  async turn(contender: Contender, whileHeld: () => unknown): Promise<void> {
    await contender.acquire()
    this.turns++
    this.most = Math.max(this.most, ++this.#inside)
    await whileHeld()
    this.#inside--
    await contender.release()
  }
}
