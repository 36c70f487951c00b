// The worlds of recipes that are no locks: each process does one thing, tells what happened to it, and the judge compares.
import { ZooKeeperError } from '../../src/index.ts'
import { eventTypes, opcodes } from '../../src/protocol/index.ts'
import {
  Barrier,
  Cache,
  Counter,
  DoubleBarrier,
  Partitioner,
  PersistentEphemeral,
  Queue,
  SharedValue,
} from '../../src/recipes/index.ts'
import { names } from './lock-worlds.ts'
import type { Process, Told } from './process.ts'
import type { Outcome, Scenario } from './world.ts'
import { abortOf } from '../support/settled.ts'

/** Each writer increments once. Each increment is executed exactly once, unless its error says that this is not known. */
export const increments = (writers: number): Scenario => ({
  name: `Counter, ${writers} writers`,
  processes: names.slice(0, writers),
  areAlike: true,
  prepare: client => client.create('/counter', Buffer.alloc(8)),
  run: (process, { client }) =>
    attempted(process, async signal =>
      process.tell('incremented', await new Counter(client, '/counter').increment({ signal })),
    ),
  judge(end) {
    const value = Number(end.snapshot.nodes.get('/counter')?.data?.readBigInt64BE() ?? 0n)
    const values = valuesOf(end, 'incremented')
    const unknown = valuesOf(end, 'unknown').length
    const problems = leftIn(end)
    if (new Set(values).size < values.length) problems.push(`two increments resolved with ${values.join(' and ')}`)
    if (value < values.length || value > values.length + unknown)
      problems.push(`the counter is ${value} after ${values.length} increments, and ${unknown} of unknown fate`)
    return problems
  },
})

/** Each writer appends its letter to what is there. Each update that resolves is executed exactly once, and no other is twice. */
export const appenders = (writers: number): Scenario => ({
  name: `SharedValue, ${writers} writers`,
  processes: names.slice(0, writers),
  prepare: client => client.create('/text', ''),
  run: (process, { client }) =>
    attempted(process, async signal => {
      const append = (text: Buffer | null) => `${String(text ?? '')}${process.name.charAt(0)}`
      const { data } = await new SharedValue(client, '/text').update(append, { signal })
      process.tell('updated', String(data))
    }),
  judge(end) {
    const text = String(end.snapshot.nodes.get('/text')?.data ?? '')
    const problems = leftIn(end)
    for (const process of names.slice(0, writers)) {
      const count = text.split(process.charAt(0)).length - 1
      const isUpdated = end.told.some(told => told.process === process && told.what === 'updated')
      if (count > 1 || (isUpdated && count === 0))
        problems.push(`an update is not exact: ${process} ${count} times in ${text}`)
    }
    return problems
  },
})

/**
 * Each consumer takes one item. The one with the first item puts the second before it completes the first: so the other
 * consumer waits for it. Two have the same item only if the session of one has ended.
 */
export const consumers: Scenario = {
  name: 'Queue, 2 consumers',
  processes: names.slice(0, 2),
  areAlike: true,
  prepare: client => new Queue(client, '/queue').put('first'),
  run: (process, { client }) =>
    attempted(process, async signal => {
      const queue = new Queue(client, '/queue')
      try {
        const item = await queue.take({ signal })
        const data = String(item.data)
        process.tell('has', data)
        await process.step(`has the ${data} item, and ends its work`)
        if (data === 'first') await queue.put('second')
        process.tell('ends', data)
        await item.complete()
      } finally {
        await queue.close()
      }
    }),
  judge(end) {
    const isItem = (path: string) => path.startsWith('/queue/entries/')
    const items = [...end.snapshot.nodes.keys()].filter(isItem)
    const changes = end.log.flatMap(transaction => transaction.changes)
    // If two process the first item, because the session of one has ended, each puts a second one.
    const put = changes.filter(({ type, path }) => type === eventTypes.NodeCreated && isItem(path)).length
    const failures = end.told.filter(({ what }) => what === 'failed' || what === 'unknown').length
    const problems = [...leftIn(end), ...shared(end)]
    if (items.length > put - 2 + failures)
      problems.push(`an item is left: ${items.join()} of ${put}, although ${failures} of 2 consumers failed`)
    return problems
  },
}

/** All members enter, and all leave. None leaves the barrier before all have entered. */
export const rendezvous = (members: number): Scenario => ({
  name: `DoubleBarrier, ${members} members`,
  // One that never enters lets the others wait for ever, as it must.
  without: ['expire', 'abort', 'delete'],
  processes: names.slice(0, members),
  areAlike: true,
  async run(process, { client }) {
    const barrier = new DoubleBarrier(client, '/barrier', members)
    await process.step('enters the barrier')
    process.tell('enters')
    await barrier.enter()
    process.tell('is inside')
    await process.step('leaves the barrier')
    process.tell('leaves')
    await barrier.leave()
    process.tell('is outside')
  },
  judge: end => [
    ...leftIn(end),
    ...early(end, 'is inside', 'enters', members),
    ...early(end, 'is outside', 'leaves', members),
  ],
})

/** The first process lowers the barrier at which the others wait. */
export const barrier = (waiters: number): Scenario => ({
  name: `Barrier, ${waiters} waiter${waiters === 1 ? '' : 's'}`,
  without: ['expire', 'delete'],
  processes: names.slice(0, 1 + waiters),
  prepare: client => new Barrier(client, '/barrier').raise(),
  async run(process, { client }) {
    const own = new Barrier(client, '/barrier')
    if (process.nth > 0)
      return attempted(process, async signal => {
        await own.wait({ signal })
        process.tell('passes')
      })
    await process.step('lowers the barrier')
    process.tell('lowers')
    return own.lower()
  },
  judge: end => [
    ...leftIn(end),
    ...early(end, 'passes', 'lowers', 1),
    ...(end.snapshot.nodes.has('/barrier') ? ['a node is left: /barrier'] : []),
  ],
})

/** It keeps its node until it is closed. */
export const persistentEphemeral: Scenario = {
  name: 'PersistentEphemeral',
  hasOperator: true,
  processes: names.slice(0, 1),
  run: (process, { client }) =>
    attempted(process, async signal => {
      const node = new PersistentEphemeral('/node', { data: 'a' })
      try {
        await node.start(client, { signal })
        await process.step('changes the data')
        await node.setData('b', { signal })
        process.tell('keeps', 'b')
        await process.step('closes it')
      } finally {
        await node.close()
      }
    }),
  judge: end => leftIn(end),
}

/** Each member works on its items until it leaves. An item has one owner at a time, if no session has ended. */
export const partitioner = (items: readonly string[]): Scenario => ({
  name: `Partitioner, 2 members, ${items.length} items`,
  processes: names.slice(0, 2),
  run: (process, { client }) =>
    attempted(process, async signal => {
      const stop = new AbortController()
      signal.addEventListener('abort', () => stop.abort())
      const partitioned = new Partitioner(client, '/shards', items, { id: process.name })
      const running = partitioned.run(
        async (item, held) => {
          process.tell('has', item)
          await abortOf(held.signal)
          process.tell('ends', item)
        },
        { signal: stop.signal },
      )
      void process.step('leaves').then(() => stop.abort())
      await running
    }),
  judge: end => [...leftIn(end), ...shared(end)],
})

/** A process has a copy of what another one writes twice. It sees the last value, and no older one after a newer one. */
export const cache: Scenario = {
  name: 'Cache, 2 writes',
  without: ['expire', 'abort', 'delete'],
  processes: names.slice(0, 2),
  prepare: client => client.create('/app', '0'),
  async run(process, { client }) {
    if (process.nth > 0) {
      await process.step('writes 1')
      await client.retry(() => client.setData('/app', '1'))
      await client.retry(() => client.setData('/app', '2'))
      return
    }
    const copy = new Cache(client, '/app')
    const see = () => process.tell('sees', String(copy.get('/app')?.data))
    await copy.ready
    see()
    await new Promise<void>(resolve => {
      const look = () => {
        see()
        if (String(copy.get('/app')?.data) === '2') resolve()
      }
      copy.on('change', look)
      if (String(copy.get('/app')?.data) === '2') resolve()
    })
    await copy.close()
  },
  judge(end) {
    const seen = valuesOf(end, 'sees').map(Number)
    return seen.some((value, i) => value < (seen[i - 1] ?? 0)) ? [`an older value is seen again: ${seen.join()}`] : []
  },
}

/** Runs a call that a fault may end. */
async function attempted(process: Process, call: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await process.abortable(call)
  } catch (error) {
    const isUnknown = error === process.gaveUp || !(error instanceof ZooKeeperError) || error.fate === 'unknown'
    process.tell(isUnknown ? 'unknown' : 'failed')
  }
}

const valuesOf = ({ told }: Outcome, what: string): unknown[] =>
  told.filter(each => each.what === what).map(({ value }) => value)

/** Returns what two processes had at the same time, unless the session of the first had ended. */
function shared({ told, log, events }: Outcome): string[] {
  const problems: string[] = []
  const owners = new Map<unknown, Told>()
  for (const each of told) {
    const owner = owners.get(each.value)
    if (each.what === 'ends' && owner?.process === each.process) owners.delete(each.value)
    if (each.what !== 'has') continue
    const isKilled = events.some(
      event => event.is === 'killed' && event.session === owner?.session && event.at < each.at,
    )
    const isExpired = log.some(({ opcode, session }) => opcode === opcodes.closeSession && session === owner?.session)
    if (owner !== undefined && owner.process !== each.process && !isKilled && !isExpired)
      problems.push(`two have the same: ${owner.process} and ${each.process} have ${String(each.value)}`)
    owners.set(each.value, each)
  }
  return problems
}

/** Returns who told `what` before `count` had told `first`. */
const early = ({ told }: Outcome, what: string, first: string, count: number): string[] =>
  told.flatMap((each, i) =>
    each.what === what && told.slice(0, i).filter(other => other.what === first).length < count
      ? [`too early: ${each.process} ${what}`]
      : [],
  )

/** Returns the ephemeral nodes that are left. */
const leftIn = ({ snapshot }: Outcome): string[] =>
  snapshot.sessions.flatMap(({ ephemerals }) => ephemerals.map(path => `a node is left: ${path}`))
