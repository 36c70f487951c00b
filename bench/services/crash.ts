// The time to the next holder after the holder's process was killed or stopped, or its line was cut.
import { setTimeout as delay } from 'node:timers/promises'
import { Driver } from '../peers/driver.ts'
import { CountingProxy } from './counting-proxy.ts'
import { FAULTS, protocols, type Fault } from './locks.ts'
import { commandOf, type WorldOptions } from './world.ts'

export interface Crash {
  lock: string
  fault: Fault
  /** The time until the next holder of each lock, ms; null if there was none within the patience. */
  times: (number | null)[]
  /** What the lock promises, ms; null if it promises nothing. */
  bound: number | null
  patience: number
}

/** The locks for each fault, all held when it happens. */
const LOCKS = 3
/** The locks are acquired at different times, because the next renewal of each is due at another. */
const STAGGER = 9
/** How many timeouts long a next holder is awaited. */
const PATIENCE = 2.5

/** One lock, and its two contenders. Both have its number. */
interface Held {
  who: number
  fault: Fault
  /** The proxy of the holder. */
  proxy: CountingProxy
}

/** A program of holders for each fault, and one of waiters for all. */
export async function measureCrashes(options: WorldOptions): Promise<Crash[]> {
  const { lock, timeout } = options
  const patience = PATIENCE * timeout
  const command = await commandOf(lock)
  const waiters = new Driver(command)
  const holders = new Map(FAULTS.map(fault => [fault, new Driver(command)]))
  const proxies: CountingProxy[] = []
  try {
    const all: Held[] = []
    for (let i = 0; i < LOCKS; i++) {
      for (const [fault, driver] of holders) {
        const who = all.length
        const proxy = await join(options, driver, who, 'held')
        all.push({ who, fault, proxy })
        proxies.push(proxy, await join(options, waiters, who, 'joining'))
      }
      await delay(timeout / STAGGER)
    }
    const begun = new Map<Fault, number>()
    for (const [fault, driver] of holders) {
      begun.set(fault, performance.now())
      if (fault === 'kill') process.kill(driver.pid, 'SIGKILL')
      else if (fault === 'stop') process.kill(driver.pid, 'SIGSTOP')
      else for (const each of all) if (each.fault === fault) each.proxy.isCut = true
    }
    const everybody = all.map(({ who }) => who)
    await waiters.waitsFor(() => waiters.haveAll('held', everybody), patience)
    return FAULTS.map(fault => ({
      ...{ lock: lock.id, fault, bound: lock.bounds(timeout)[fault] ?? null, patience },
      times: all
        .filter(each => each.fault === fault)
        .map(({ who }) => {
          const event = waiters.events.find(each => each.is === 'held' && each.who === who)
          return event === undefined ? null : Math.max(0, event.at - (begun.get(fault) ?? NaN))
        }),
    }))
  } finally {
    // A stopped process is killed as well.
    await Promise.all([waiters, ...holders.values()].map(driver => driver.kill()))
    await Promise.all(proxies.map(proxy => proxy.close()))
  }
}

/** Opens a session and begins to acquire. Resolves with its proxy. */
async function join(
  { lock, service, timeout }: WorldOptions,
  driver: Driver,
  who: number,
  does: 'held' | 'joining',
): Promise<CountingProxy> {
  const proxy = await CountingProxy.start(service, protocols[lock.service])
  driver.send(`open ${who} ${proxy.address} ${timeout}`)
  await driver.until('opened session', () => driver.has('opened', who))
  proxy.take()
  driver.send(`join ${who} ${lock.recipe} /zkwire-crash-${lock.id}-${who} 0`)
  await driver.until('lock', () => driver.has(does, who))
  // The first request of a waiter has been sent, so that it is in the queue before the fault.
  while (!(await driver.waitsFor(() => proxy.passed.bytesSent > 0, 1)));
  return proxy
}
