// The exclusive locks and their differences on the wire, for the tests of their common behaviour.
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type ContenderNode,
  type Lock,
  type LockOptions,
} from '../../../src/recipes/index.ts'

/** A point at which a lock awaits a reply: the request, and the state of the tree before the lock starts. */
export interface Step {
  name: string
  opcode: number
  /** The ordinal of the request among those with this opcode, from 1. Default 1. */
  nth?: number
  /** True if the directory and its parents do not exist. */
  isDirectoryMissing?: boolean
  /** True if the lock's node exists, and no life of the lock has begun. */
  isUnborn?: boolean
  /** True if another session holds the lock. */
  isTaken?: boolean
  /** True if two contenders after the holder have left the queue. */
  hasGap?: boolean
  /** True if another session is in the queue between the holder and the contender. */
  isBehindTwo?: boolean
  /** True if the request follows the holder's release. */
  isWoken?: boolean
}

type ListableLock = Lock & { contenders(): Promise<ContenderNode[]> }
type LockConstructor = new (client: Client, path: string, options?: LockOptions) => ListableLock

export interface Kind {
  Lock: LockConstructor
  /** Matches the path of the lock's node. */
  nodeName: RegExp
  /** True if the lock's path is a directory with a queue of contenders. */
  isQueue: boolean
  /** True if no two nodes ever have the same name. */
  hasUniqueNames: boolean
  /** The number of watches that this many waiters set. Default: one each. */
  watchesOf?: (waiters: number) => number
  /** The requests that acquire a free lock, sent together. */
  acquireRequests: readonly number[]
  /** The requests by which tryAcquire() finds out that the lock is held. */
  tryRequests: readonly number[]
  /**
   * Makes a lock ready, so that its next acquire takes one round trip. Default: creates the directory that the lock
   * creates.
   */
  prepare?: (client: Client, path: string) => Promise<unknown>
  /** The request that creates a directory. */
  directoryRequest: number
  /** Every await inside acquire(), except the wait for the lock itself. */
  acquireSteps: readonly Step[]
  /** Every await inside release(). */
  releaseSteps: readonly Step[]
}

const { createContainer, create2, getChildren2, getData, exists, multi, setWatches, sync } = opcodes
const behindTwo = { isTaken: true, isBehindTwo: true } as const

const queueKind = {
  nodeName: /\/lock\/_c_[\da-f-]{36}-lock-\d{10}$/,
  isQueue: true,
  hasUniqueNames: true,
  acquireRequests: [create2, getChildren2],
  tryRequests: [getChildren2],
  directoryRequest: createContainer,
  releaseSteps: [{ name: 'its node is being deleted', opcode: opcodes.delete }],
}
const firstListSteps: readonly Step[] = [
  { name: 'the directory is being created', opcode: createContainer, isDirectoryMissing: true },
  { name: 'its node is being created', opcode: create2 },
  { name: 'the contenders are being listed', opcode: getChildren2 },
  { name: 'its node is being created (another session holds the lock)', opcode: create2, isTaken: true },
  { name: 'the contenders are being listed (another session holds the lock)', opcode: getChildren2, isTaken: true },
]
/** The steps of a lock whose waiters list the contenders when they are woken. */
const listSteps: readonly Step[] = [
  ...firstListSteps,
  {
    name: 'the contenders are being listed again after a watch event',
    opcode: getChildren2,
    nth: 2,
    isTaken: true,
    isWoken: true,
  },
]
/** The steps of a lock whose waiters look ahead. */
const lookAheadSteps: readonly Step[] = [
  ...firstListSteps,
  { name: 'the watch on its own node is being set', opcode: getData, isTaken: true },
  { name: 'the predecessor’s watch is being set', opcode: getData, nth: 2, isTaken: true },
  {
    name: 'the watches on its own node and on the contender before its predecessor are being set',
    opcode: setWatches,
    ...behindTwo,
  },
  { name: 'the predecessor’s watch is being set behind another', opcode: getData, ...behindTwo },
  {
    name: 'the contenders are being listed again while its predecessor holds the lock',
    opcode: getChildren2,
    nth: 2,
    isTaken: true,
    isBehindTwo: true,
    isWoken: true,
  },
]
const watchStep: Step = { name: 'the predecessor’s watch is being set', opcode: getData, isTaken: true }

class TextbookMutex extends Mutex {
  constructor(client: Client, path: string, options?: LockOptions) {
    super(client, path, { ...options, lookAhead: false })
  }
}

/** Returns a constructor for one side of a ReadWriteLock, so that tests construct it like the other locks. */
function side(name: 'readLock' | 'writeLock'): LockConstructor {
  const construct = function (...args: ConstructorParameters<LockConstructor>): ListableLock {
    return new ReadWriteLock(...args)[name]
  }
  return Object.defineProperty(construct, 'name', { value: name }) as unknown as LockConstructor
}
const [readLock, writeLock] = [side('readLock'), side('writeLock')]

export const kinds: readonly Kind[] = [
  {
    Lock: Mutex,
    ...queueKind,
    // On its own node, its predecessor and the contender before that, which the first waiter does not have.
    watchesOf: waiters => 3 * waiters - 1,
    acquireSteps: lookAheadSteps,
  },
  { Lock: TextbookMutex, ...queueKind, acquireSteps: [...listSteps, watchStep] },
  { Lock: HerdMutex, ...queueKind, acquireSteps: listSteps },
  {
    Lock: writeLock,
    ...queueKind,
    nodeName: /\/lock\/_c_[\da-f-]{36}-__WRIT__\d{10}$/,
    acquireSteps: [...listSteps, watchStep],
  },
  {
    Lock: TicketMutex,
    nodeName: /\/lock\/[\da-f-]{36}\/t-\d{10}$/,
    isQueue: true,
    hasUniqueNames: true,
    prepare: (client, path) => new TicketMutex(client, path).use(() => undefined),
    // On its own node, its predecessor and the contender before that, which the first waiter does not have.
    watchesOf: waiters => 3 * waiters - 1,
    acquireRequests: [create2, getData],
    tryRequests: [exists],
    directoryRequest: create2,
    acquireSteps: [
      { name: 'its parent is being created', opcode: create2, isDirectoryMissing: true },
      { name: 'its first life is being begun', opcode: multi, nth: 2, isDirectoryMissing: true },
      { name: 'its claim is being created', opcode: create2, isUnborn: true },
      { name: 'its life is being read after the claim', opcode: getChildren2, nth: 2, isUnborn: true },
      { name: 'its life is being begun', opcode: multi, isUnborn: true },
      { name: 'its life is being read', opcode: getData },
      { name: 'its older contenders are being listed', opcode: getChildren2 },
      { name: 'its ticket is being created', opcode: create2 },
      { name: 'the directory is being read', opcode: getData, nth: 2 },
      { name: 'its ticket is being created (another session holds the lock)', opcode: create2, isTaken: true },
      { name: 'the directory is being read (another session holds the lock)', opcode: getData, nth: 2, isTaken: true },
      { name: 'the watch on its own ticket is being set', opcode: getData, nth: 3, isTaken: true },
      { name: 'the previous ticket is being watched', opcode: getData, nth: 4, isTaken: true },
      { name: 'its own ticket and the one before the previous are being watched', opcode: setWatches, ...behindTwo },
      { name: 'the previous ticket is being watched behind another', opcode: getData, nth: 3, ...behindTwo },
      {
        name: 'the directory is being read while the previous ticket holds the lock',
        opcode: getData,
        nth: 4,
        ...behindTwo,
        isWoken: true,
      },
      { name: 'two tickets before it are found deleted', opcode: setWatches, isTaken: true, hasGap: true },
      { name: 'the likely head is being watched', opcode: getData, nth: 4, isTaken: true, hasGap: true },
      { name: 'the tickets are being listed after a gap', opcode: getChildren2, nth: 2, isTaken: true, hasGap: true },
    ],
    releaseSteps: [{ name: 'its ticket is being released', opcode: multi }],
  },
  {
    Lock: EphemeralMutex,
    nodeName: /\/lock$/,
    isQueue: false,
    hasUniqueNames: false,
    acquireRequests: [create2],
    tryRequests: [exists],
    directoryRequest: createContainer,
    acquireSteps: [
      { name: 'its parent is being created', opcode: createContainer, isDirectoryMissing: true },
      { name: 'its node is being created', opcode: create2 },
      { name: 'its node is being created (the holder’s node exists)', opcode: create2, isTaken: true },
      { name: 'the holder’s node is being watched', opcode: getData, isTaken: true },
      {
        name: 'its node is being created after a watch event',
        opcode: create2,
        nth: 2,
        isTaken: true,
        isWoken: true,
      },
    ],
    releaseSteps: [
      { name: 'sync is pending', opcode: sync },
      { name: 'its own node is being checked', opcode: exists },
      { name: 'its node is being deleted', opcode: opcodes.delete },
    ],
  },
]

/** A semaphore with one permit; contenders() includes those that wait at the gate. */
class SemaphoreOfOne extends Semaphore {
  readonly #gate: Mutex

  constructor(client: Client, path: string, options?: LockOptions) {
    super(client, path, 1, options)
    this.#gate = new Mutex(client, `${path}/locks`, options)
  }

  override async contenders(): Promise<ContenderNode[]> {
    return [...(await super.contenders()), ...(await this.#gate.contenders())]
  }
}

interface FaultTestKind extends Kind {
  /** The lock that excludes this one. Default: the lock itself. */
  Rival?: LockConstructor
  /** The request whose reply grants the lock. Default: the last of {@link Kind.acquireRequests}. */
  grantingRequest?: number
  /** Which request of that operation grants it, counted from 1. Default: the first. */
  grantingNth?: number
}

/** All kinds, including locks that are shared or that take several round trips to acquire. */
export const kindsUnderFaults: readonly FaultTestKind[] = [
  ...kinds,
  {
    Lock: readLock,
    Rival: writeLock,
    ...queueKind,
    nodeName: /-__READ__\d{10}$/,
    acquireSteps: [...listSteps, watchStep],
  },
  {
    Lock: SemaphoreOfOne,
    ...queueKind,
    nodeName: /\/leases\/_c_[\da-f-]{36}-lease-\d{10}$/,
    // The first node is that at the gate.
    grantingRequest: create2,
    grantingNth: 2,
    watchesOf: waiters => 2 * waiters,
    acquireSteps: [
      { name: 'the gate is being created', opcode: createContainer, nth: 2, isDirectoryMissing: true },
      { name: 'the directory of leases is being created', opcode: createContainer, nth: 3, isDirectoryMissing: true },
      { name: 'its node at the gate is being created', opcode: create2 },
      { name: 'the gate is being listed', opcode: getChildren2 },
      { name: 'its node at the gate is being watched', opcode: exists },
      { name: 'its lease is being created', opcode: create2, nth: 2, isTaken: true },
      { name: 'the leases are being listed', opcode: getChildren2, nth: 2, isTaken: true },
      {
        name: 'the leases are being listed again after a watch event',
        opcode: getChildren2,
        nth: 3,
        isTaken: true,
        isWoken: true,
      },
    ],
  },
]
