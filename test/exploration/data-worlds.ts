// The worlds of recipes that keep data: a counter that each process changes once, and a queue of which each takes an item.
import { ZooKeeperError } from '../../src/index.ts'
import { Counter, DoubleBarrier, Queue, type QueueItem } from '../../src/recipes/index.ts'
import { names } from './lock-worlds.ts'
import type { Process } from './process.ts'
import type { Scenario, World } from './world.ts'

/** Each writer increments once. Each increment is executed exactly once, unless its error says that this is not known. */
export const increments = (writers: number): Scenario => ({
  name: `Counter, ${writers} writers`,
  processes: names.slice(0, writers),
  begin(world) {
    const values: bigint[] = []
    let unknown = 0
    return {
      run: (process, { client }) =>
        attempted(
          process,
          async signal => void values.push(await new Counter(client, '/counter').increment({ signal })),
          isUnknown => (unknown += isUnknown ? 1 : 0),
        ),
      judge() {
        const data = world.server.snapshot().nodes.get('/counter')?.data
        const value = Number(data?.readBigInt64BE() ?? 0n)
        const problems = leftBy(world)
        if (new Set(values).size < values.length) problems.push(`two increments resolved with ${values.join(' and ')}`)
        if (value < values.length || value > values.length + unknown)
          problems.push(`the counter is ${value} after ${values.length} increments, and ${unknown} of unknown fate`)
        return problems
      },
    }
  },
})

/**
 * Each consumer takes one item. Who takes the first item puts the second before it completes the first: so the other
 * consumer waits for it. Two have the same item only if the session of one has ended.
 */
export const consumers: Scenario = {
  name: 'Queue, 2 consumers',
  processes: names.slice(0, 2),
  prepare: client => new Queue(client, '/queue').put('first'),
  begin(world) {
    const takers = new Map<string, Process>()
    let failures = 0
    return {
      run: (process, { client }) =>
        attempted(
          process,
          async signal => {
            const queue = new Queue(client, '/queue')
            try {
              const item = await queue.take({ signal })
              await consume(process, queue, item)
            } finally {
              await queue.close()
            }
          },
          () => failures++,
        ),
      judge() {
        const items = [...world.server.snapshot().nodes.keys()].filter(path => path.startsWith('/queue/entries/'))
        const problems = leftBy(world)
        if (items.length > failures) problems.push(`${items.join(', ')} left, although ${failures} consumers failed`)
        return problems
      },
    }
    async function consume(process: Process, queue: Queue, item: QueueItem): Promise<void> {
      const data = String(item.data)
      const other = takers.get(data)
      if (other !== undefined && isAlive(world, other))
        world.violations.push(`two have an item: ${other.name} and ${process.name} have ${data}`)
      takers.set(data, process)
      await process.step(`has the ${data} item, and ends its work`)
      if (data === 'first') await queue.put('second')
      takers.delete(data)
      await item.complete()
    }
  },
}

/** All members enter, and all leave. None leaves the barrier before all have entered. */
export const rendezvous = (members: number): Scenario => ({
  name: `DoubleBarrier, ${members} members`,
  // One that never enters lets the others wait for ever, as it must.
  without: ['expire', 'abort', 'delete'],
  processes: names.slice(0, members),
  begin(world) {
    let entering = 0
    let leaving = 0
    return {
      async run(process, { client }) {
        const barrier = new DoubleBarrier(client, '/barrier', members)
        await process.step('enters the barrier')
        entering++
        await barrier.enter()
        if (entering < members) world.violations.push(`${process.name} has entered before all came`)
        await process.step('leaves the barrier')
        leaving++
        await barrier.leave()
        if (leaving < members) world.violations.push(`${process.name} has left before all wanted to leave`)
      },
      judge: () => leftBy(world),
    }
  },
})

/** Runs a call that a fault may end. */
async function attempted(
  process: Process,
  call: (signal: AbortSignal) => Promise<void>,
  failed: (isUnknown: boolean) => void,
): Promise<void> {
  try {
    await process.abortable(call)
  } catch (error) {
    failed(error === process.gaveUp || !(error instanceof ZooKeeperError) || error.fate === 'unknown')
  }
}

const isAlive = ({ server }: World, { session }: Process) => server.snapshot().sessions.some(({ id }) => id === session)

/** Returns the ephemeral nodes that are left. */
const leftBy = ({ server }: World): string[] =>
  server.snapshot().sessions.flatMap(({ ephemerals }) => ephemerals.map(path => `a node is left: ${path}`))
