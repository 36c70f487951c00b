// Contenders of any library, who count under a lock: whoever is let in beside another loses a count.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import type { Held, Lock } from '../../src/recipes/index.ts'

export interface Contender {
  readonly who: string
  acquire(): Promise<unknown>
  /** By the contender's own session, as what follows. */
  read(counter: string): Promise<string>
  write(counter: string, value: string): Promise<unknown>
  release(): Promise<unknown>
}

/** What one saw who was let in. */
export interface Passage {
  readonly who: string
  readonly found: number
}

export function ours(who: string, client: Client, lock: Pick<Lock, 'acquire'>): Contender {
  let held: Held | undefined
  return {
    who,
    async acquire() {
      held = await lock.acquire()
    },
    read: async counter => String((await client.getData(counter)).data),
    write: (counter, value) => client.setData(counter, value),
    release: async () => held?.release(),
  }
}

/** One reads the counter, lets some time go by, and writes it back with one more. */
export async function count(contender: Contender, counter: string, hold = 1): Promise<Passage> {
  await contender.acquire()
  const found = Number(await contender.read(counter))
  await delay(hold)
  await contender.write(counter, String(found + 1))
  await contender.release()
  return { who: contender.who, found }
}

/** One reads the counter twice, with some time in between. */
export async function look(contender: Contender, counter: string): Promise<readonly [string, string]> {
  await contender.acquire()
  const first = await contender.read(counter)
  await delay(1)
  const second = await contender.read(counter)
  await contender.release()
  return [first, second]
}

/** All of them at once, each so many times. In the order of what they found. */
export async function countAll(contenders: readonly Contender[], counter: string, rounds: number): Promise<Passage[]> {
  const passages: Passage[] = []
  const each = async (contender: Contender) => {
    for (let round = 0; round < rounds; round++) passages.push(await count(contender, counter))
  }
  await Promise.all(contenders.map(each))
  return passages.sort((a, b) => a.found - b.found)
}

/** How many times the lock went from one to another. */
export const handOvers = (passages: readonly Passage[]): number =>
  passages.filter(({ who }, i) => i > 0 && who !== passages[i - 1]?.who).length
