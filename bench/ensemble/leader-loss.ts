// The loss of the leader, while a lock is handed over all the time and sessions watch a node.
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { Mutex, type Held } from '../../src/recipes/index.ts'
import type { Ensemble } from '../../environment/ensemble.ts'
import { until } from '../../environment/until.ts'
import { median } from '../measure/statistics.ts'
import type { LeaderLoss } from './figures.ts'

const CONTENDERS = 6
const WATCHERS = 30
/** Longer than an election. */
const SESSION_TIMEOUT = 20_000
/** Hand-overs before the kill, and after the outage. */
const HAND_OVERS = 100
/** The time for which each contender holds the lock, ms. */
const HOLD = 1
const PATIENCE = { within: 60_000 }

/** Kills the leader in the middle of hand-overs, and starts it again at the end. */
export async function measureLeaderLoss(ensemble: Ensemble, root: string, signal: AbortSignal): Promise<LeaderLoss> {
  const stop = new AbortController()
  const clients: Client[] = []
  const leader = await ensemble.leader()
  let isKilled = false
  try {
    // The connect string names all servers, in a random order for each session, so the sessions are on all of them.
    for (let i = 0; i < CONTENDERS + WATCHERS; i++)
      clients.push(await connect(ensemble.connectString, { sessionTimeout: SESSION_TIMEOUT, signal }))
    const contenders = clients.slice(0, CONTENDERS)
    const watchers = clients.slice(CONTENDERS)
    const [first] = contenders
    if (first === undefined) throw new Error('no session')
    const path = `${root}/news`
    await first.create(path, 'before')
    const readers = watchers.map(client => new Reader(client, path))
    await Promise.all(readers.map(reader => reader.read()))
    const states = new StateLog(clients)
    const log = new HandOverLog()
    const loops = contenders.map(client => contend(client, `${root}/lost-leader`, log, stop.signal))
    await until(() => log.grants.length > HAND_OVERS, PATIENCE)
    signal.throwIfAborted()
    const killed = performance.now()
    isKilled = true
    await leader.kill()
    const since = () => performance.now() - killed
    const written = first.retry(() => first.setData(path, 'meanwhile')).then(since)
    // If no server leads again, that is the error of this measurement, and nobody awaits the write.
    written.catch(() => undefined)
    await ensemble.leader()
    const newLeaderMs = since()
    const firstWriteMs = await written
    await until(() => clients.every(({ state }) => state === 'connected'), PATIENCE)
    const outageEnds = performance.now()
    const before = log.grants.length
    await until(() => log.grants.length > before + HAND_OVERS, PATIENCE)
    stop.abort()
    await Promise.all(loops)
    await first.retry(() => first.setData(path, 'after'))
    const isInformed = (reader: Reader) => reader.latest === 'after'
    await until(() => readers.every(isInformed), { within: 10_000 }).catch(() => undefined)
    return {
      ...{ leader: leader.connectString, newLeaderMs, firstWriteMs },
      ...pausesIn(log.grants, killed, outageEnds),
      ...{ sessions: clients.length, disconnected: states.disconnected.size, expired: states.expired.size },
      reconnectedMs: states.lastConnectedAt - killed,
      ...{ overlapped: log.overlapped, watchers: readers.length, informed: readers.filter(isInformed).length },
    }
  } finally {
    stop.abort()
    await Promise.allSettled(clients.map(client => client.close()))
    if (isKilled && !signal.aborted) await leader.start()
  }
}

/**
 * Returns the usual time between two grants before the kill, and the longest one that touches the outage.
 * @param grants times in ms, ascending
 */
export function pausesIn(
  grants: readonly number[],
  killed: number,
  outageEnds: number,
): Pick<LeaderLoss, 'longestPauseMs' | 'usualPauseMs'> {
  const pauses = grants.slice(1).map((to, i) => ({ from: grants[i] ?? to, to }))
  const lengthOf = ({ from, to }: { from: number; to: number }) => to - from
  return {
    usualPauseMs: median(pauses.filter(({ to }) => to < killed).map(lengthOf)),
    longestPauseMs: Math.max(...pauses.filter(({ from, to }) => to >= killed && from <= outageEnds).map(lengthOf)),
  }
}

/** Records each grant, and whether two sessions held the lock at once. */
class HandOverLog {
  readonly grants: number[] = []
  overlapped = false
  #holder: Held | undefined

  granted(held: Held): void {
    this.grants.push(performance.now())
    if (this.#holder !== undefined && !this.#holder.signal.aborted) this.overlapped = true
    this.#holder = held
  }

  releasing(held: Held): void {
    if (this.#holder === held) this.#holder = undefined
  }
}

async function contend(client: Client, path: string, log: HandOverLog, signal: AbortSignal): Promise<void> {
  const mutex = new Mutex(client, path)
  while (!signal.aborted)
    try {
      const held = await mutex.acquire({ signal })
      log.granted(held)
      await delay(HOLD)
      log.releasing(held)
      await held.release()
    } catch {
      // The connection was lost, or the run ends. Do not retry at once, because the next attempt may fail at once too.
      await delay(10)
    }
}

/** A session that reads a node whenever it is notified of a change. */
class Reader {
  latest = ''
  readonly #client: Client
  readonly #path: string

  constructor(client: Client, path: string) {
    this.#client = client
    this.#path = path
  }

  async read(): Promise<void> {
    const client = this.#client
    const watch = () => void this.read().catch(() => undefined)
    const { data } = await client.retry(() => client.getData(this.#path, { watch }))
    this.latest = String(data)
  }
}

class StateLog {
  readonly disconnected = new Set<Client>()
  readonly expired = new Set<Client>()
  lastConnectedAt = 0

  constructor(clients: readonly Client[]) {
    for (const client of clients)
      client.on('state', state => {
        if (state === 'connected') this.lastConnectedAt = performance.now()
        else if (state === 'expired') this.expired.add(client)
        else if (state !== 'closed') this.disconnected.add(client)
      })
  }
}
