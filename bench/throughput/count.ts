// A process that counts what a call costs, without a clock and sockets: see counts.ts. Run with the options of FLAGS
// there. Arguments: the file URL of a built client, and the names of the calls, or none for all. Sends the counts to
// its parent.
import { createHook } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { createRequire } from 'node:module'
import { Session } from 'node:inspector/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import type { Client, ConnectOptions } from '../../src/index.ts'
import type { AllCounts, CallCounts, GrantCounts } from './counts.ts'
import { connectResponse, emptyReply, replies, XID } from './replies.ts'
import { DATA_BYTES, paths } from './workloads.ts'

const [dist = '', ...wanted] = process.argv.slice(2)
const { connect } = (await import(`${dist}/index.js`)) as typeof import('../../src/index.ts')

/** Calls in one turn of the event loop. */
const CALLS = 64
const TURNS = 50
const WARM_UP_TURNS = 20

const sent = { frames: 0, writes: 0 }

/** Answers all frames of a write at once, in the next turn, from memory that is allocated once for each operation. */
const dial: NonNullable<ConnectOptions['dial']> = (_address, handler) => {
  const chunks = new Map([...replies].map(([opcode, reply]) => [opcode, tiled(reply)] as const))
  const plain = tiled(emptyReply)
  let isConnected = false
  queueMicrotask(() => handler.opened())
  return {
    write(bytes: Buffer) {
      if (!isConnected) {
        isConnected = true
        setImmediate(() => handler.received(connectResponse))
        return
      }
      sent.writes++
      const { chunk, size } = chunks.get(bytes.readInt32BE(8)) ?? plain
      let count = 0
      for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at))
        chunk.writeInt32BE(bytes.readInt32BE(at + 4), count++ * size + XID)
      sent.frames += count
      setImmediate(() => handler.received(count === CALLS ? chunk : chunk.subarray(0, count * size)))
    },
    destroy: () => undefined,
  }
}

const tiled = (reply: Buffer) => ({
  chunk: Buffer.concat(Array.from({ length: CALLS }, () => reply)),
  size: reply.length,
})

const data = Buffer.alloc(DATA_BYTES, 'x')
/** A clock that stands still, so that no timer fires. */
const clock = { now: () => 1.5, wallNow: () => 1_600_000_000_000.5, setTimeout: () => 0, clearTimeout: () => undefined }
const client: Client = await connect('127.0.0.1:1', { dial, clock })

const calls = {
  getData: () => client.getData(paths.data),
  setData: () => client.setData(paths.data, data),
  create: () => client.create(`${paths.mock}/n-`, data, { mode: 'ephemeralSequential' }),
  delete: () => client.delete(paths.data),
  exists: () => client.exists(paths.data),
} satisfies Record<string, () => Promise<unknown>>

/** The contenders of a lock whose hand-overs are counted, and how often each acquires it. */
const CONTENDERS = 20
const ACQUISITIONS = 5

/** What one hand-over costs, among contenders on the embedded server, which is loaded twice so that it counts not. */
async function grantCountsOf(lock: 'Mutex' | 'TicketMutex'): Promise<GrantCounts> {
  const recipes = (await import(`${dist}/recipes/index.js`)) as typeof import('../../src/recipes/index.ts')
  const { Server } = createRequire(`${dist}/`)('./cjs/server/index.js') as typeof import('../../src/server/index.ts')
  const server = await Server.start({ listen: false, clock })
  const open = () => connect('127.0.0.1:1', { dial: server.dial, clock })
  const locks = await Promise.all(
    Array.from({ length: CONTENDERS }, async () => new recipes[lock](await open(), '/lock')),
  )
  const round = async () => {
    await Promise.all(
      locks.map(async each => {
        for (let i = 0; i < ACQUISITIONS; i++) await (await each.acquire()).release()
      }),
    )
  }
  const grants = CONTENDERS * ACQUISITIONS
  for (let i = 0; i < WARM_UP_ROUNDS; i++) await round()
  const [before, promisesBefore] = [server.stats, promises]
  promiseHook.enable()
  await round()
  promiseHook.disable()
  const { stats } = server
  const each = (count: number) => Math.round(count / grants)
  return {
    sent: each(stats.received - before.received),
    received: each(stats.sent - before.sent),
    promises: each(promises - promisesBefore),
    functions: each((await enteredBy(round)).reduce((sum, [, count]) => sum + count, 0)),
  }
}
const WARM_UP_ROUNDS = 2

async function run(call: () => Promise<unknown>, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    for (let left = CALLS; left > 1; left--) void call()
    await call()
  }
}

/** Runs the calls, and returns by how much a figure grew, for each call. */
async function growthOf(figure: () => number, call: () => Promise<unknown>): Promise<number> {
  const before = figure()
  await run(call, TURNS)
  return (figure() - before) / (TURNS * CALLS)
}

const session = new Session()
session.connect()

/** Returns how often some calls enter each function of the client, by its name and file. */
async function enteredBy(calls: () => Promise<void>): Promise<[string, number][]> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await entered()
  await calls()
  const functions = [...(await entered())]
  await session.post('Profiler.stopPreciseCoverage')
  return functions
}

async function entered(): Promise<Map<string, number>> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const counts = new Map<string, number>()
  for (const { url, functions } of result)
    if (url.startsWith(dist) && !url.startsWith(`${dist}/cjs/`))
      for (const { functionName, ranges } of functions) {
        const name = `${functionName || '(anonymous)'} ${url.slice(dist.length + 1)}`
        counts.set(name, (counts.get(name) ?? 0) + (ranges[0]?.count ?? 0))
      }
  return counts
}

let promises = 0
const promiseHook = createHook({ init: (_id, type) => (promises += type === 'PROMISE' ? 1 : 0) })

let builtins = 0
/** Counts the calls of the static functions of an object. Returns a function that stops counting. */
function counting(object: object): () => void {
  const originals = Object.getOwnPropertyDescriptors(object) as Record<string, PropertyDescriptor>
  for (const [name, descriptor] of Object.entries(originals)) {
    const { value } = descriptor as { value: unknown }
    if (typeof value !== 'function') continue
    const counted = function (this: unknown, ...args: unknown[]): unknown {
      builtins++
      return apply(value, this, args)
    }
    Object.defineProperty(object, name, { ...descriptor, value: counted })
  }
  return () => void Object.defineProperties(object, originals)
}
const { apply } = Reflect

/** The bytes in V8's young generation, where all objects of a call are allocated. */
const youngBytes = () =>
  getHeapSpaceStatistics().find(space => space.space_name === 'new_space')?.space_used_size ?? NaN

async function countsOf(call: () => Promise<unknown>): Promise<CallCounts> {
  await run(call, WARM_UP_TURNS)
  // The least of several times, because V8 rarely allocates more itself.
  let bytes = Infinity
  for (let i = 0; i < REPEATS; i++) {
    globalThis.gc?.()
    bytes = Math.min(bytes, await growthOf(youngBytes, call))
  }
  promiseHook.enable()
  const promisesEach = await growthOf(() => promises, call)
  promiseHook.disable()
  const entries = await enteredBy(() => run(call, TURNS))
  const functions = entries.map(([name, count]) => [name, count / (TURNS * CALLS)] as const)
  const stops = [Object, Reflect].map(counting)
  const builtinsEach = await growthOf(() => builtins, call)
  for (const stop of stops) stop()
  const counts = {
    functions: Math.round(functions.reduce((sum, [, count]) => sum + count, 0)),
    builtins: Math.round(builtinsEach),
    promises: Math.round(promisesEach),
    bytes: Math.round(bytes),
    frames: await growthOf(() => sent.frames, call),
    writesPerTurn: (await growthOf(() => sent.writes, call)) * CALLS,
  }
  return { counts, functions: functions.filter(([, count]) => count >= 1 / CALLS).sort(([, a], [, b]) => b - a) }
}
const REPEATS = 3

await session.post('Profiler.enable')
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name)
const all: AllCounts = { calls: {}, grants: {} }
for (const [name, call] of Object.entries(calls)) if (isWanted(name)) all.calls[name] = await countsOf(call)
for (const lock of ['Mutex', 'TicketMutex'] as const) if (isWanted(lock)) all.grants[lock] = await grantCountsOf(lock)
process.send?.(all, () => process.exit(0))
