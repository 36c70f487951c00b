// The contenders of zkwire.
import { connect, type Client } from '../../../src/index.ts'
import {
  HerdMutex,
  LeaderElection,
  RecipeError,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Held,
} from '../../../src/recipes/index.ts'
import { serve } from './lines.ts'

type Acquire = (options: { timeout?: number }) => Promise<Held>

const lockOf = (lock: { acquire: Acquire }): Acquire => lock.acquire.bind(lock)

const makers: Record<string, (client: Client, path: string) => Acquire> = {
  mutex: (client, path) => lockOf(new Mutex(client, path)),
  predecessor: (client, path) => lockOf(new Mutex(client, path, { lookAhead: false })),
  herd: (client, path) => lockOf(new HerdMutex(client, path)),
  ticket: (client, path) => lockOf(new TicketMutex(client, path)),
  semaphore: (client, path) => lockOf(new Semaphore(client, path, 1)),
  write: (client, path) => lockOf(new ReadWriteLock(client, path).writeLock),
  read: (client, path) => lockOf(new ReadWriteLock(client, path).readLock),
  election: (client, path) => {
    const election = new LeaderElection(client, path)
    return options => election.campaign(options)
  },
}

await serve(async (address, sessionTimeout) => {
  const client = await connect(address, { sessionTimeout })
  const locks = new Map<string, Acquire>()
  return {
    acquire: async (recipe, path, patience) => {
      const key = `${recipe} ${path}`
      const acquire = locks.get(key) ?? makers[recipe]?.(client, path)
      if (acquire === undefined) throw new Error(`unknown recipe: ${recipe}`)
      locks.set(key, acquire)
      try {
        const held = await acquire(patience === 0 ? {} : { timeout: patience })
        return () => held.release()
      } catch (error) {
        if (error instanceof RecipeError && error.code === 'TIMEOUT') return undefined
        throw error
      }
    },
    close: () => client.close(),
  }
})
