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
  k?: number
  /** The directory and all above it. */
  isMissing?: boolean
  isTaken?: boolean
  /** One who had queued behind the holder has gone. */
  hasGap?: boolean
  /** It comes behind the holder's release. */
  isWoken?: boolean
}

type Listed = Lock & { contenders(): Promise<ContenderNode[]> }
type Constructor = new (client: Client, path: string, options?: LockOptions) => Listed

export interface Kind {
  Lock: Constructor
  /** Of its node. */
  name: RegExp
  /** Its path is a directory in which contenders stand in line. */
  isQueue: boolean
  /** Its node's name is given once and never again. */
  isUnique: boolean
  /** The requests by which a free lock is taken, sent together. */
  taking: readonly number[]
  /** Those by which one who only tries learns that somebody has it. */
  trying: readonly number[]
  /** The request that makes a directory. */
  making: number
  /** Each await inside acquire(), but for the waiting itself. */
  steps: readonly Step[]
  /** Those inside release(). */
  leaving: readonly Step[]
}

const { createContainer, create2, getChildren2, getData, exists, multi, sync } = opcodes

const queueing = {
  name: /\/lock\/_c_[\da-f-]{36}-lock-\d{10}$/,
  isQueue: true,
  isUnique: true,
  taking: [create2, getChildren2],
  trying: [getChildren2],
  making: createContainer,
  leaving: [{ name: 'its node is being deleted', opcode: opcodes.delete }],
}
const listing: readonly Step[] = [
  { name: 'the directory is being made', opcode: createContainer, isMissing: true },
  { name: 'its node is being created', opcode: create2 },
  { name: 'the contenders are being listed', opcode: getChildren2 },
  { name: 'its node is being created behind a holder', opcode: create2, isTaken: true },
  { name: 'the contenders are being listed behind a holder', opcode: getChildren2, isTaken: true },
  {
    name: 'the contenders are being listed again when it is woken',
    opcode: getChildren2,
    k: 2,
    isTaken: true,
    isWoken: true,
  },
]
const watching: Step = { name: 'the predecessor’s watch is being set', opcode: getData, isTaken: true }

/** One side of a lock, made as the others are. */
function side(name: 'readLock' | 'writeLock'): Constructor {
  const construct = function (...args: ConstructorParameters<Constructor>): Listed {
    return new ReadWriteLock(...args)[name]
  }
  return Object.defineProperty(construct, 'name', { value: name }) as unknown as Constructor
}
const [readLock, writeLock] = [side('readLock'), side('writeLock')]

export const kinds: readonly Kind[] = [
  { Lock: Mutex, ...queueing, steps: [...listing, watching] },
  { Lock: HerdMutex, ...queueing, steps: listing },
  { Lock: writeLock, ...queueing, name: /\/lock\/_c_[\da-f-]{36}-__WRIT__\d{10}$/, steps: [...listing, watching] },
  {
    Lock: TicketMutex,
    name: /\/lock\/t-\d{10}$/,
    isQueue: true,
    isUnique: false,
    taking: [create2, getData],
    trying: [exists, getChildren2],
    making: create2,
    steps: [
      { name: 'the directory is being made', opcode: create2, k: 2, isMissing: true },
      { name: 'its ticket is being drawn', opcode: create2 },
      { name: 'the directory is being read', opcode: getData },
      { name: 'its ticket is being drawn behind a holder', opcode: create2, isTaken: true },
      { name: 'the directory is being read behind a holder', opcode: getData, isTaken: true },
      { name: 'the ticket before is being watched', opcode: getData, k: 2, isTaken: true },
      { name: 'the ticket before is found gone', opcode: getData, k: 2, isTaken: true, hasGap: true },
      { name: 'the tickets are being listed behind a gap', opcode: getChildren2, isTaken: true, hasGap: true },
      { name: 'the nearest ticket is being watched', opcode: getData, k: 3, isTaken: true, hasGap: true },
      { name: 'the directory is being read when it is woken', opcode: getData, k: 3, isTaken: true, isWoken: true },
      { name: 'its own ticket is being looked at', opcode: exists, isTaken: true, isWoken: true },
    ],
    leaving: [
      { name: 'the server is catching up', opcode: sync },
      { name: 'its own ticket is being looked at', opcode: exists },
      { name: 'the ticket is being given back', opcode: multi },
    ],
  },
  {
    Lock: EphemeralMutex,
    name: /\/lock$/,
    isQueue: false,
    isUnique: false,
    taking: [create2],
    trying: [exists],
    making: createContainer,
    steps: [
      { name: 'what is above it is being made', opcode: createContainer, isMissing: true },
      { name: 'its node is being created', opcode: create2 },
      { name: 'its node is being created where the holder’s is', opcode: create2, isTaken: true },
      { name: 'the holder’s node is being watched', opcode: getData, isTaken: true },
      {
        name: 'its node is being created when it is woken',
        opcode: create2,
        k: 2,
        isTaken: true,
        isWoken: true,
      },
    ],
    leaving: [
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

interface Faulted extends Kind {
  /** Whose hold keeps it from being held. Default: its own. */
  Rival?: Constructor
  /** Of one who waits. Default 1. */
  watches?: number
  /** The request whose answer grants it. Default: the last of those by which it is taken. */
  granting?: number
}

/** With those that are not exclusive, or not taken in one round trip: under faults they are locks like the others. */
export const kindsUnderFaults: readonly Faulted[] = [
  ...kinds,
  { Lock: readLock, Rival: writeLock, ...queueing, name: /-__READ__\d{10}$/, steps: [...listing, watching] },
  {
    Lock: SemaphoreOfOne,
    ...queueing,
    name: /\/leases\/_c_[\da-f-]{36}-lease-\d{10}$/,
    granting: opcodes.delete,
    watches: 2,
    steps: [
      { name: 'the gate is being made', opcode: createContainer, k: 2, isMissing: true },
      { name: 'the directory of leases is being made', opcode: createContainer, k: 3, isMissing: true },
      { name: 'its node at the gate is being created', opcode: create2 },
      { name: 'the gate is being looked at', opcode: getChildren2 },
      { name: 'its node at the gate is being watched', opcode: exists },
      { name: 'its lease is being created', opcode: create2, k: 2, isTaken: true },
      { name: 'the leases are being listed', opcode: getChildren2, k: 2, isTaken: true },
      {
        name: 'the leases are being listed again when it is woken',
        opcode: getChildren2,
        k: 3,
        isTaken: true,
        isWoken: true,
      },
      { name: 'it is leaving the gate', opcode: opcodes.delete },
    ],
  },
]
