// The exclusive locks, and in what they differ on the wire: for tests of what they promise alike.
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

/** A place where acquire() waits for an answer: the request it waits for, and what is there before it starts. */
export interface Step {
  name: string
  opcode: number
  /** Which of the requests of that kind it is, counted from 1, the default. */
  nth?: number
  /** The directory and all above it. */
  isDirectoryMissing?: boolean
  isTaken?: boolean
  /** One who had queued behind the holder has gone. */
  hasGap?: boolean
  /** It comes behind the holder's release. */
  isWoken?: boolean
}

type ListableLock = Lock & { contenders(): Promise<ContenderNode[]> }
type LockConstructor = new (client: Client, path: string, options?: LockOptions) => ListableLock

export interface Kind {
  Lock: LockConstructor
  /** Of its node. */
  nodeName: RegExp
  /** Its path is a directory in which contenders stand in line. */
  isQueue: boolean
  /** Its node's name is given once and never again. */
  hasUniqueNames: boolean
  /** The requests by which a free lock is taken, sent together. */
  acquireRequests: readonly number[]
  /** Those by which one who only tries learns that somebody has it. */
  tryRequests: readonly number[]
  /** The request that makes a directory. */
  directoryRequest: number
  /** Each await inside acquire(), but for the waiting itself. */
  acquireSteps: readonly Step[]
  /** Those inside release(). */
  releaseSteps: readonly Step[]
}

const { createContainer, create2, getChildren2, getData, exists, multi, sync } = opcodes

const queueing = {
  nodeName: /\/lock\/_c_[\da-f-]{36}-lock-\d{10}$/,
  isQueue: true,
  hasUniqueNames: true,
  acquireRequests: [create2, getChildren2],
  tryRequests: [getChildren2],
  directoryRequest: createContainer,
  releaseSteps: [{ name: 'its node is being deleted', opcode: opcodes.delete }],
}
const listing: readonly Step[] = [
  { name: 'the directory is being made', opcode: createContainer, isDirectoryMissing: true },
  { name: 'its node is being created', opcode: create2 },
  { name: 'the contenders are being listed', opcode: getChildren2 },
  { name: 'its node is being created behind a holder', opcode: create2, isTaken: true },
  { name: 'the contenders are being listed behind a holder', opcode: getChildren2, isTaken: true },
  {
    name: 'the contenders are being listed again when it is woken',
    opcode: getChildren2,
    nth: 2,
    isTaken: true,
    isWoken: true,
  },
]
const watching: Step = { name: 'the predecessor’s watch is being set', opcode: getData, isTaken: true }

/** One side of a lock, made as the others are. */
function side(name: 'readLock' | 'writeLock'): LockConstructor {
  const construct = function (...args: ConstructorParameters<LockConstructor>): ListableLock {
    return new ReadWriteLock(...args)[name]
  }
  return Object.defineProperty(construct, 'name', { value: name }) as unknown as LockConstructor
}
const [readLock, writeLock] = [side('readLock'), side('writeLock')]

export const kinds: readonly Kind[] = [
  { Lock: Mutex, ...queueing, acquireSteps: [...listing, watching] },
  { Lock: HerdMutex, ...queueing, acquireSteps: listing },
  {
    Lock: writeLock,
    ...queueing,
    nodeName: /\/lock\/_c_[\da-f-]{36}-__WRIT__\d{10}$/,
    acquireSteps: [...listing, watching],
  },
  {
    Lock: TicketMutex,
    nodeName: /\/lock\/t-\d{10}$/,
    isQueue: true,
    hasUniqueNames: false,
    acquireRequests: [create2, getData],
    tryRequests: [exists, getChildren2],
    directoryRequest: create2,
    acquireSteps: [
      { name: 'the directory is being made', opcode: create2, nth: 2, isDirectoryMissing: true },
      { name: 'its ticket is being drawn', opcode: create2 },
      { name: 'the directory is being read', opcode: getData },
      { name: 'its ticket is being drawn behind a holder', opcode: create2, isTaken: true },
      { name: 'the directory is being read behind a holder', opcode: getData, isTaken: true },
      { name: 'the ticket before is being watched', opcode: getData, nth: 2, isTaken: true },
      { name: 'the ticket before is found gone', opcode: getData, nth: 2, isTaken: true, hasGap: true },
      { name: 'the tickets are being listed behind a gap', opcode: getChildren2, isTaken: true, hasGap: true },
      { name: 'the nearest ticket is being watched', opcode: getData, nth: 3, isTaken: true, hasGap: true },
      { name: 'the directory is being read when it is woken', opcode: getData, nth: 3, isTaken: true, isWoken: true },
      { name: 'its own ticket is being looked at', opcode: exists, isTaken: true, isWoken: true },
    ],
    releaseSteps: [
      { name: 'the server is catching up', opcode: sync },
      { name: 'its own ticket is being looked at', opcode: exists },
      { name: 'the ticket is being given back', opcode: multi },
    ],
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
      { name: 'what is above it is being made', opcode: createContainer, isDirectoryMissing: true },
      { name: 'its node is being created', opcode: create2 },
      { name: 'its node is being created where the holder’s is', opcode: create2, isTaken: true },
      { name: 'the holder’s node is being watched', opcode: getData, isTaken: true },
      {
        name: 'its node is being created when it is woken',
        opcode: create2,
        nth: 2,
        isTaken: true,
        isWoken: true,
      },
    ],
    releaseSteps: [
      { name: 'the server is catching up', opcode: sync },
      { name: 'its own node is being looked at', opcode: exists },
      { name: 'its node is being deleted', opcode: opcodes.delete },
    ],
  },
]

/** Shows the gate's contenders too. */
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
  /** Whose hold keeps it from being held. Default: its own. */
  Rival?: LockConstructor
  /** Of one who waits. Default 1. */
  watchesPerWaiter?: number
  /** The request whose answer grants it. Default: the last of those by which it is taken. */
  grantingRequest?: number
}

/** With those that are not exclusive, or not taken in one round trip: under faults they are locks like the others. */
export const kindsUnderFaults: readonly FaultTestKind[] = [
  ...kinds,
  { Lock: readLock, Rival: writeLock, ...queueing, nodeName: /-__READ__\d{10}$/, acquireSteps: [...listing, watching] },
  {
    Lock: SemaphoreOfOne,
    ...queueing,
    nodeName: /\/leases\/_c_[\da-f-]{36}-lease-\d{10}$/,
    grantingRequest: opcodes.delete,
    watchesPerWaiter: 2,
    acquireSteps: [
      { name: 'the gate is being made', opcode: createContainer, nth: 2, isDirectoryMissing: true },
      { name: 'the directory of leases is being made', opcode: createContainer, nth: 3, isDirectoryMissing: true },
      { name: 'its node at the gate is being created', opcode: create2 },
      { name: 'the gate is being looked at', opcode: getChildren2 },
      { name: 'its node at the gate is being watched', opcode: exists },
      { name: 'its lease is being created', opcode: create2, nth: 2, isTaken: true },
      { name: 'the leases are being listed', opcode: getChildren2, nth: 2, isTaken: true },
      {
        name: 'the leases are being listed again when it is woken',
        opcode: getChildren2,
        nth: 3,
        isTaken: true,
        isWoken: true,
      },
      { name: 'it is leaving the gate', opcode: opcodes.delete },
    ],
  },
]
