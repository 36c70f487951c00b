// What each process does with each recipe.
import { Sessions, type Client } from '../../src/index.ts'
import {
  Barrier,
  Counter,
  DoubleBarrier,
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  MultiLock,
  Mutex,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
  type Held,
} from '../../src/recipes/index.ts'

export const PROCESSES = 3
/** How often each process increments the counter. */
export const ROUNDS = 10

interface Step {
  /** True if the processes increment the counter, one at a time. */
  counts: boolean
  run(client: Client, path: string, number: number, servers: string): Promise<void>
}

/** Reads the counter, and writes it plus one, without a condition: two holders at a time would lose an increment. */
async function increment(client: Client, path: string): Promise<void> {
  const { data } = await client.getData(`${path}/counter`)
  await client.setData(`${path}/counter`, String(Number(data) + 1))
}

/** Increments the counter in each round while it holds the lock. */
const exclusive = (lockOf: (client: Client, path: string) => { acquire(): Promise<Held> }): Step => ({
  counts: true,
  run: async (client, path) => {
    const lock = lockOf(client, path)
    for (let round = 0; round < ROUNDS; round++) {
      const held = await lock.acquire()
      await increment(client, path)
      await held.release()
    }
  },
})

export const steps: Readonly<Record<string, Step>> = {
  Mutex: exclusive((client, path) => new Mutex(client, `${path}/lock`)),
  'Mutex, with attempts that time out': exclusive((client, path) => {
    const lock = new Mutex(client, `${path}/lock`)
    const acquire = async () => {
      // On a busy machine no attempt of 3 ms gets the lock.
      for (let timeout = 3; ; timeout *= 2) {
        const held = await lock.acquire({ timeout }).catch((error: unknown) => {
          if ((error as { code?: string }).code !== 'TIMEOUT') throw error
        })
        if (held !== undefined) return held
      }
    }
    return { acquire }
  }),
  'Mutex, each in a session of its own': {
    counts: true,
    run: async (client, path, _number, servers) => {
      const sessions = new Sessions(servers, { idleTimeout: 0 })
      const lock = (own: Client) => new Mutex(own, `${path}/lock`)
      for (let round = 0; round < ROUNDS; round++)
        await sessions.withLock(lock, { timeout: 60_000 }, () => increment(client, path))
    },
  },
  TicketMutex: exclusive((client, path) => new TicketMutex(client, `${path}/lock`)),
  HerdMutex: exclusive((client, path) => new HerdMutex(client, `${path}/lock`)),
  EphemeralMutex: exclusive((client, path) => new EphemeralMutex(client, `${path}/lock`)),
  ReentrantMutex: exclusive((client, path) => new ReentrantMutex(client, `${path}/lock`)),
  MultiLock: exclusive(
    (client, path) => new MultiLock([new Mutex(client, `${path}/lock`), new TicketMutex(client, `${path}/other`)]),
  ),
  'the write lock of a ReadWriteLock': exclusive((client, path) => new ReadWriteLock(client, `${path}/lock`).writeLock),
  'the permit of a Semaphore': exclusive((client, path) => new Semaphore(client, `${path}/lock`, 1)),
  LeaderElection: exclusive((client, path) => {
    const election = new LeaderElection(client, `${path}/lock`)
    return { acquire: () => election.campaign() }
  }),
  'a ReadWriteLock, each as reader and writer': {
    counts: true,
    run: async (client, path) => {
      const { readLock, writeLock } = new ReadWriteLock(client, `${path}/lock`)
      for (let round = 0; round < ROUNDS; round++) {
        const read = await readLock.acquire()
        const first = await client.getData(`${path}/counter`)
        await client.sync(path)
        const second = await client.getData(`${path}/counter`)
        if (String(first.data) !== String(second.data)) throw new Error('the counter changed under the read lock')
        await read.release()
        const write = await writeLock.acquire()
        await increment(client, path)
        await write.release()
      }
    },
  },
  'two permits of a Semaphore': {
    counts: false,
    run: async (client, path, number) => {
      const semaphore = new Semaphore(client, `${path}/lock`, 2)
      for (let round = 0; round < ROUNDS; round++) {
        const permit = await semaphore.acquire()
        await client.create(`${path}/inside-${number}`, '', { mode: 'ephemeral' })
        const { children } = await client.getChildren(path)
        if (children.filter(name => name.startsWith('inside')).length > 2) throw new Error('three hold two permits')
        await client.delete(`${path}/inside-${number}`)
        await permit.release()
      }
    },
  },
  Barrier: {
    counts: false,
    run: async (client, path, number) => {
      const barrier = new Barrier(client, `${path}/lock`)
      if (number === 0) {
        await barrier.raise()
        await client.create(`${path}/raised`, '', { mode: 'ephemeral' })
        await barrier.lower()
        await client.delete(`${path}/raised`)
      }
      await barrier.wait()
    },
  },
  DoubleBarrier: {
    counts: false,
    run: async (client, path, number) => {
      const barrier = new DoubleBarrier(client, `${path}/lock`, PROCESSES)
      for (let round = 0; round < 3; round++) {
        await client.create(`${path}/arrived-${round}-${number}`, '', { mode: 'ephemeral' })
        await barrier.enter()
        const { children } = await client.getChildren(path)
        if (children.filter(name => name.startsWith(`arrived-${round}`)).length !== PROCESSES)
          throw new Error('a process entered before all had arrived')
        await barrier.leave()
      }
      for (let round = 0; round < 3; round++) await client.delete(`${path}/arrived-${round}-${number}`)
    },
  },
  Counter: {
    counts: true,
    run: async (client, path) => {
      const counter = new Counter(client, `${path}/counter`, { format: 'decimal' })
      for (let round = 0; round < ROUNDS; round++) await counter.increment()
      await client.settled()
    },
  },
  Queue: {
    counts: true,
    run: async (client, path) => {
      const queue = new Queue(client, `${path}/lock`)
      const counter = new Counter(client, `${path}/counter`, { format: 'decimal' })
      for (let round = 0; round < ROUNDS; round++) {
        await queue.put('item')
        const item = await queue.take()
        await counter.increment()
        await item.complete()
      }
      await queue.close()
      await client.settled()
    },
  },
}
