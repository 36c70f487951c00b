// What is measured: a recipe is a line here.
import type { Client } from '../src/index.ts'
import { HerdMutex, Mutex } from '../src/recipes/index.ts'

export interface Lock {
  acquire(options: { signal: AbortSignal }): Promise<Grant>
}

export interface Grant {
  release(): Promise<void>
}

export interface Recipe {
  name: string
  lock: (client: Client, directory: string) => Lock
  /** Per release, with N contenders: the exponent of N that theory foretells (section "What it costs" of README.md). */
  theory: { notifications: number; bytes: number }
}

export const recipes: readonly Recipe[] = [
  { name: 'mutex', lock: (client, path) => new Mutex(client, path), theory: { notifications: 0, bytes: 1 } },
  { name: 'herd', lock: (client, path) => new HerdMutex(client, path), theory: { notifications: 1, bytes: 2 } },
]
