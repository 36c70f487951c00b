// Writes and reads through each server, and hand-overs between each two of them.
import { connect, type Client } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { SESSION_TIMEOUT } from '../harness/sessions.ts'
import { latencyOf } from '../measure/latency.ts'
import type { Calls, HandOver } from './figures.ts'
import type { PlacementPlan } from './placements.ts'
import { shuffle } from '../../src/runtime/shuffle.ts'

type Plan = Pick<PlacementPlan, 'root' | 'sites' | 'random' | 'signal'>

/** Calls through each server, of which the first ones warm up the code and are not counted. */
const CALLS = { warmUp: 10, counted: 60 }
/** Hand-overs in each direction between each two sessions. */
const HAND_OVERS = { warmUp: 2, counted: 12 }

/** Two sessions on each server. */
export class Pairs implements AsyncDisposable {
  readonly #clients: readonly (readonly [Client, Client])[]

  private constructor(clients: readonly (readonly [Client, Client])[]) {
    this.#clients = clients
  }

  static async open(addresses: readonly string[], signal: AbortSignal): Promise<Pairs> {
    const open = (address: string) => connect(address, { sessionTimeout: SESSION_TIMEOUT, signal })
    return new Pairs(await Promise.all(addresses.map(async each => [await open(each), await open(each)] as const)))
  }

  at(server: number, which: 0 | 1 = 0): Client {
    const client = this.#clients[server]?.[which]
    if (client === undefined) throw new Error(`no session on server ${server}`)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#clients.flat().map(client => client.close()))
  }
}

/** Writes and reads one node through each server, one call after the other. */
export async function measureCalls(pairs: Pairs, { root, sites, signal }: Plan): Promise<Calls[]> {
  const path = `${root}/calls`
  await pairs.at(0).create(path)
  const proposals = () =>
    Promise.all(sites.map(async ({ reporter }) => (await reporter?.read().catch(() => undefined))?.proposals))
  const all: Calls[] = []
  for (const server of sites.keys()) {
    const client = pairs.at(server)
    // So that the server has the node.
    await client.sync(path)
    const timed = async (call: () => Promise<unknown>) => {
      const times: number[] = []
      for (let i = 0; i < CALLS.warmUp + CALLS.counted; i++) {
        signal.throwIfAborted()
        const begun = performance.now()
        await call()
        if (i >= CALLS.warmUp) times.push(performance.now() - begun)
      }
      return latencyOf(times)
    }
    const before = await proposals()
    const write = await timed(() => client.setData(path, 'news'))
    const after = await proposals()
    all.push({
      ...{ server, write, read: await timed(() => client.getData(path)), writes: CALLS.warmUp + CALLS.counted },
      proposals: after.map((count, i) => {
        const earlier = before[i]
        return count === undefined || earlier === undefined ? undefined : count - earlier
      }),
    })
  }
  return all
}

/** Hands a Mutex back and forth between each two servers, and between two sessions of each server. */
export async function measureHandOvers(pairs: Pairs, { root, sites, random, signal }: Plan): Promise<HandOver[]> {
  const couples = [...sites.keys()].flatMap(a => [...sites.keys()].filter(b => b >= a).map(b => [a, b] as const))
  const times = new Map<string, number[]>()
  for (const [a, b] of shuffle(couples, random)) {
    signal.throwIfAborted()
    const [one, other] = [pairs.at(a, 0), pairs.at(b, 1)]
    const path = `${root}/lock-${a}-${b}`
    let [holder, waiter] = [
      { client: one, server: a },
      { client: other, server: b },
    ]
    let held = await new Mutex(holder.client, path).acquire({ signal })
    for (let i = 0; i < 2 * (HAND_OVERS.warmUp + HAND_OVERS.counted); i++) {
      let begun = NaN
      const acquiring = new Mutex(waiter.client, path)
        .acquire({ signal })
        .then(next => ({ next, ms: performance.now() - begun }))
      const releasing = untilQueued(waiter.client, path).then(() => {
        begun = performance.now()
        return held.release()
      })
      // Both are awaited from the start, because an aborted run rejects either of them first.
      const [{ next, ms }] = await Promise.all([acquiring, releasing])
      held = next
      const key = `${holder.server} ${waiter.server}`
      if (i >= 2 * HAND_OVERS.warmUp) times.set(key, [...(times.get(key) ?? []), ms])
      ;[holder, waiter] = [waiter, holder]
    }
    await held.release()
  }
  return [...times].map(([key, ms]) => {
    const [from = 0, to = 0] = key.split(' ').map(Number)
    return { from, to, latency: latencyOf(ms) }
  })
}

/** Resolves when the waiter has its node, and its server has replied to the requests that follow the list. */
async function untilQueued(client: Client, path: string): Promise<void> {
  for (let children = 0; children < 2;) {
    await client.sync(path)
    children = (await client.getChildren(path)).children.length
  }
  await client.sync(path)
}
