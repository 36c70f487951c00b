// Contenders of any library, who count under a lock: whoever is let in beside another loses a count.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import type { Held, Lock } from '../../src/recipes/index.ts'

export interface Contender {
  readonly name: string
  acquire(): Promise<unknown>
  /** By the contender's own session, as what follows. */
  read(counter: string): Promise<string>
  write(counter: string, value: string): Promise<unknown>
  release(): Promise<unknown>
}

/** What one saw who was let in. */
export interface Increment {
  readonly name: string
  readonly previous: number
}

export function ours(name: string, client: Client, lock: Lock): Contender {
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

/** One reads the counter, lets some time go by, and writes it back with one more. */
export async function increment(contender: Contender, counter: string, hold = 1): Promise<Increment> {
  await contender.acquire()
  const previous = Number(await contender.read(counter))
  await delay(hold)
  await contender.write(counter, String(previous + 1))
  await contender.release()
  return { name: contender.name, previous }
}

/** One reads the counter twice, with some time in between. */
export async function readTwice(contender: Contender, counter: string): Promise<readonly [string, string]> {
  await contender.acquire()
  const first = await contender.read(counter)
  await delay(1)
  const second = await contender.read(counter)
  await contender.release()
  return [first, second]
}

/** All of them at once, each so many times. In the order of what they found. */
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

/** How many times the lock went from one to another. */
export const handOverCount = (increments: readonly Increment[]): number =>
  increments.filter(({ name }, i) => i > 0 && name !== increments[i - 1]?.name).length
