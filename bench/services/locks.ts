// `npm run bench -- services`: the locks of other services beside those of ZooKeeper, through one counting proxy.
// This file: the locks, and what each promises. Pure.
// May import: bench/measure, bench/output, bench/peers, bench/services/clients, environment.
import { serviceClients } from '../../environment/needs.ts'
import type { LibraryName } from '../peers/libraries.ts'
import type { Protocol } from './framing.ts'

export type ServiceName = 'ZooKeeper' | 'etcd' | 'Redis' | 'PostgreSQL'

export const protocols: Readonly<Record<ServiceName, Protocol>> = {
  ZooKeeper: 'zookeeper',
  etcd: 'http2',
  Redis: 'redis',
  PostgreSQL: 'postgresql',
}

/** What happens to the process of a holder, or to its line. */
export const FAULTS = ['kill', 'stop', 'cut'] as const
export type Fault = (typeof FAULTS)[number]

/** The longest time until the next holder, ms; undefined if the lock promises none. */
export type Bounds = Readonly<Record<Fault, number | undefined>>

export interface ServiceLock {
  /** Unique among all locks. */
  id: string
  service: ServiceName
  name: string
  how: string
  /** The program of its contenders: that of a client library of ZooKeeper, our own of its service, or that of a package. */
  program: LibraryName | 'own' | 'npm'
  /** What the program calls it. */
  recipe: string
  /** True if a waiter asks again and again, so that its traffic has no end. */
  polls: boolean
  order: string
  fence: string
  /** Why the lock of a holder that has stopped ends. */
  ends: string
  /** @param timeout the session timeout, the time to live of a lease or of a key, ms */
  bounds: (timeout: number) => Bounds
}

/** The tickTime of the ZooKeeper that is measured, ms. A session ends at a multiple of it. */
const TICK = 500
/** etcd looks for leases that have expired once in this time, ms. */
const LEASE_CHECK = 500
/** The longest pause of a lock that polls, ms. */
const POLL = 300
/** A waiter of PostgreSQL that is notified asks again after this time, ms, in any case. */
const FALLBACK = 1000

const always = (ms: number | undefined): Bounds => ({ kill: ms, stop: ms, cut: ms })

const zookeeper = (
  id: string,
  name: string,
  how: string,
  recipe: string,
  program: LibraryName = 'zkwire',
): ServiceLock => ({
  ...{ id, service: 'ZooKeeper', name, how, recipe, program, polls: false },
  order:
    recipe === 'herd'
      ? 'first come, first served: all wake up, and the first in the queue has it'
      : 'first come, first served',
  fence: program === 'zkwire' ? '`held.token`, the node’s zxid' : 'the node’s czxid, read by the program',
  ends: 'the server ends the session',
  bounds: timeout => always(timeout + TICK),
})

const etcd = (
  id: string,
  name: string,
  how: string,
  recipe: string,
  program: 'own' | 'npm',
  fence = 'the revision of the key’s creation',
): ServiceLock => ({
  ...{ id, service: 'etcd', name, how, recipe, program, fence, polls: recipe === 'poll' },
  order: recipe === 'poll' ? 'by chance' : 'first come, first served',
  ends: 'the server ends the lease',
  bounds: timeout => always(Math.ceil(timeout / 1000) * 1000 + LEASE_CHECK + (recipe === 'poll' ? POLL : 0)),
})

const redis = (
  id: string,
  name: string,
  how: string,
  recipe: string,
  given: Pick<ServiceLock, 'order' | 'ends' | 'bounds'>,
  program: 'own' | 'npm' = 'own',
): ServiceLock => ({
  ...{ id, service: 'Redis', name, how, recipe, program, polls: recipe === 'poll' },
  fence: 'none',
  ...given,
})

const postgresql = (
  id: string,
  name: string,
  how: string,
  recipe: string,
  given: Pick<ServiceLock, 'order' | 'bounds'>,
): ServiceLock => ({
  ...{ id, service: 'PostgreSQL', name, how, recipe, program: 'own', polls: false },
  fence: 'none by itself; data in the same transaction needs none',
  ends: 'the server sees the connection close',
  ...given,
})

const polled: Pick<ServiceLock, 'order' | 'ends' | 'bounds'> = {
  order: 'by chance',
  ends: 'the key expires',
  bounds: timeout => always(timeout + POLL),
}

export const locks: readonly ServiceLock[] = [
  zookeeper('mutex', 'Mutex', 'each watches its predecessor, and looks ahead', 'mutex'),
  zookeeper('predecessor', 'Mutex, lookAhead: false', 'each watches its predecessor: the chain', 'predecessor'),
  zookeeper('ticket', 'TicketMutex', 'numbers, without lists', 'ticket'),
  zookeeper('herd', 'HerdMutex', 'all watch the directory', 'herd'),
  etcd('etcd-mutex', 'Mutex of the client', 'a key under a lease; each watches its predecessor', 'mutex', 'own'),
  etcd(
    'etcd3-election',
    `npm etcd3 ${serviceClients.etcd3}, Election`,
    'a lease for each attempt; each watches its predecessor',
    'election',
    'npm',
  ),
  etcd(
    'etcd3-lock',
    `npm etcd3 ${serviceClients.etcd3}, Lock`,
    'does not wait; the program asks again every 100 to 300 ms',
    'poll',
    'npm',
    'none: the package does not return the revision',
  ),
  redis('redis-poll', 'SET NX PX, polled', 'asks again after a pause, as redlock does', 'poll', polled),
  redis(
    'redis-redlock',
    `npm redlock ${serviceClients.redlock}`,
    'a script, sent again after 100 to 300 ms',
    'poll',
    polled,
    'npm',
  ),
  redis('redis-channel', 'SET NX PX, PUBLISH', 'the holder tells all waiters, as in Redisson', 'channel', {
    order: 'by chance: all wake up, and the fastest has it',
    ends: 'the key expires',
    bounds: timeout => always(timeout),
  }),
  redis('redis-list', 'BLPOP', 'takes the one element of a list', 'list', {
    order: 'first come, first served',
    ends: 'nothing ends it',
    bounds: () => always(undefined),
  }),
  postgresql('pg-advisory', 'pg_advisory_lock', 'one query, answered when its turn has come', 'advisory', {
    order: 'first come, first served',
    bounds: () => ({ kill: 0, stop: undefined, cut: undefined }),
  }),
  postgresql('pg-notify', 'LISTEN, NOTIFY', 'the holder notifies all waiters, and each tries', 'notify', {
    order: 'by chance: all wake up, and the fastest has it',
    bounds: () => ({ kill: FALLBACK, stop: undefined, cut: undefined }),
  }),
]

/** The locks of other libraries for ZooKeeper, which are measured after a crash only: docs/herd.md has their traffic. */
export const otherLibraries: readonly ServiceLock[] = [
  zookeeper('c-mutex', 'Curator, InterProcessMutex', 'each watches its predecessor', 'mutex', 'Curator'),
  zookeeper('k-lock', 'kazoo, Lock', 'each watches its predecessor', 'lock', 'kazoo'),
  zookeeper(
    'n-lock',
    'node-zookeeper-client, handwritten',
    'each watches its predecessor',
    'predecessor',
    'node-zookeeper-client',
  ),
]
