// How a client of each recipe takes part: what it waits for, and what it holds then.
import type { Client } from '../../src/index.ts'
import {
  Barrier,
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Held,
} from '../../src/recipes/index.ts'
import type { Role } from './picture.ts'
import type { RecipeId } from './story.ts'

/** The node of the recipe. */
export const LOCK = '/lock'
/** How many clients a semaphore admits at a time. */
export const PERMITS = 2

/** What a client holds after it has waited. */
export interface Acquired {
  readonly role: Role
  /** The lock that is held; undefined for barriers. */
  readonly held: Held | undefined
  release(): Promise<void>
}

/** @param client the client, its number from 1, and the number of all clients */
export type Take = (client: Client, self: number, all: number) => Promise<Acquired>

const holding = (role: Role, acquired: Promise<Held>): Promise<Acquired> =>
  acquired.then(held => ({ role, held, release: () => held.release() }))

/** Every third client writes. */
export const isWriter = (self: number): boolean => self % 3 === 1

/** How each recipe is taken. Bare clients take nothing. */
export const takes: Readonly<Record<RecipeId, Take | undefined>> = {
  'ephemeral-mutex': client => holding('holding', new EphemeralMutex(client, LOCK).acquire()),
  'herd-mutex': client => holding('holding', new HerdMutex(client, LOCK).acquire()),
  mutex: client => holding('holding', new Mutex(client, LOCK).acquire()),
  'mutex-without-look-ahead': client => holding('holding', new Mutex(client, LOCK, { lookAhead: false }).acquire()),
  'ticket-mutex': client => holding('holding', new TicketMutex(client, LOCK).acquire()),
  'read-write-lock': (client, self) => {
    const { readLock, writeLock } = new ReadWriteLock(client, LOCK)
    return isWriter(self) ? holding('writing', writeLock.acquire()) : holding('reading', readLock.acquire())
  },
  semaphore: client => holding('inside', new Semaphore(client, LOCK, PERMITS).acquire()),
  'leader-election': (client, self) =>
    holding('leading', new LeaderElection(client, LOCK, { id: `client ${self}` }).campaign()),
  /** The first client raises the barrier and lowers it; the others wait. */
  barrier: async (client, self) => {
    const barrier = new Barrier(client, LOCK)
    if (self !== 1) {
      await barrier.wait()
      return { role: 'inside', held: undefined, release: () => Promise.resolve() }
    }
    await barrier.raise()
    return { role: 'holding', held: undefined, release: () => barrier.lower() }
  },
  'double-barrier': async (client, _self, all) => {
    const barrier = new DoubleBarrier(client, LOCK, all)
    await barrier.enter()
    return { role: 'inside', held: undefined, release: () => barrier.leave() }
  },
  'bare-clients': undefined,
}
