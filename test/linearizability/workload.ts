// The workload of the fault tests: attempts to hold random locks, in every way that the API offers.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { Lock } from '../../src/recipes/index.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'
import type { RecordedClient } from './recorder.ts'
import type { Kind, Locks } from './tenures.ts'

export interface LockUnderTest {
  /** True if its calls have the option `owner`. */
  hasOwner?: boolean
  /** Makes the lock object of one session. */
  make: (client: Client, path: string, random: Random) => Lock
  kind: Kind
  /**
   * True if the server may give a node's name to another node after a foreign client has deleted nodes. A session that
   * checks its node and then deletes it may hit another session's node. Foreign deletes can therefore let two
   * contenders in.
   */
  reusesNames?: boolean
  /** The locks that this lock uses internally. */
  inner?: Locks
}

/** The locks of a test, keyed by path. */
export type LocksUnderTest = ReadonlyMap<string, LockUnderTest>

export const kindsOf = (locks: LocksUnderTest): Locks =>
  new Map([...locks].flatMap(([path, { kind, inner = [] }]) => [[path, kind] as const, ...inner]))

/** The requests that locks send. */
export const lockOpcodes = [
  opcodes.create2,
  opcodes.createContainer,
  opcodes.delete,
  opcodes.exists,
  opcodes.getChildren2,
  opcodes.getData,
  opcodes.multi,
  opcodes.sync,
]

interface AttemptConditions {
  locks: LocksUnderTest
  sessionTimeout: number
  random: Random
  /** Aborts the attempt if it is still pending. */
  end: AbortSignal
}

/**
 * Makes one attempt at a random lock: without a limit, with a signal that aborts it, with a timeout, or with
 * tryAcquire().
 */
export async function attemptOne(
  recorded: RecordedClient,
  { locks, sessionTimeout, random, end }: AttemptConditions,
): Promise<void> {
  const [path, { make }] = oneOf(random, [...locks])
  const kind = random()
  const length = random()
  // Most holds are short. Some last longer than the session of a disconnected holder.
  const hold = length < 0.005 ? 2 * sessionTimeout : length < 0.1 ? 30 * random() : 2 * random()
  const patience = 1 + Math.floor(60 * random())
  await recorded.attempt(make(recorded.client, path, random), () => delay(hold), {
    signal: kind < 0.25 ? AbortSignal.any([AbortSignal.timeout(patience), end]) : end,
    watchOwnNode: true,
    timeout: kind > 0.9 ? patience : undefined,
    isTry: kind > 0.8 && kind < 0.9,
    downgrade: random() < 0.3,
  })
}
