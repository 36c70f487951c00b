// What may be chosen about an embedded server, in the words of zoo.cfg and of the server's switches.
import { systemClock, type Clock } from '../runtime/clock.ts'
import { systemRandom, type Random } from '../runtime/random.ts'
import type { TransactionRecord } from './database.ts'

export interface ServerOptions {
  /** Where to listen. Default: a port that is free. */
  port?: number
  /** Default '127.0.0.1': what is open to everybody has no business on another address. */
  host?: string
  /** Take TCP connections at all? Without them there is `server.dial`. Default true. */
  listen?: boolean
  /** Sessions end at whole ticks, ms. Default 2 000. */
  tickTime?: number
  /** The shortest session timeout, ms. Default: two ticks. */
  minSessionTimeout?: number
  /** The longest session timeout, ms. Default: twenty ticks. */
  maxSessionTimeout?: number
  /** The longest request, bytes (jute.maxbuffer): a longer one costs its connection. Default 1 048 575. */
  maxRequestBytes?: number
  /** May nodes have a ttl (zookeeper.extendedTypesEnabled)? Where not, they are refused as UNIMPLEMENTED. Default false, as in ZooKeeper. */
  extendedTypes?: boolean
  /** How often containers and nodes with a ttl are looked at, ms (znode.container.checkIntervalMs). Default 60 000. */
  containerCheckInterval?: number
  /** Answer a create2 in a multi with a Stat? 3.8 does not (ZOOKEEPER-4026), later servers do. Default false. */
  createdStatInMulti?: boolean
  /**
   * Hears of each transaction that is done, before anybody else does: of all that changes something, and of sessions; of nothing that is
   * refused. What it throws is thrown where nobody catches it, and stops nothing here.
   */
  onTransaction?: (transaction: TransactionRecord) => void
  clock?: Clock
  random?: Random
}

export type Settings = Required<ServerOptions>

/** @throws RangeError */
export function settingsOf(options: ServerOptions): Settings {
  const tickTime = options.tickTime ?? 2000
  const settings = {
    port: 0,
    host: '127.0.0.1',
    listen: true,
    minSessionTimeout: 2 * tickTime,
    maxSessionTimeout: 20 * tickTime,
    maxRequestBytes: 1_048_575,
    extendedTypes: false,
    containerCheckInterval: 60_000,
    createdStatInMulti: false,
    onTransaction: () => undefined,
    clock: systemClock,
    random: systemRandom,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    tickTime,
  }
  for (const name of [
    'tickTime',
    'minSessionTimeout',
    'maxSessionTimeout',
    'maxRequestBytes',
    'containerCheckInterval',
  ] as const) {
    const value = settings[name]
    if (!Number.isSafeInteger(value) || value < 1 || value > 0x7fff_ffff)
      throw new RangeError(`${name} is to be a whole number from 1 to 2147483647, and is ${value}`)
  }
  if (settings.minSessionTimeout > settings.maxSessionTimeout)
    throw new RangeError(
      `minSessionTimeout ${settings.minSessionTimeout} is above maxSessionTimeout ${settings.maxSessionTimeout}`,
    )
  return settings
}
