// How those who are tortured want their locks: any of them, in every kind there is.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { Lock } from '../../src/recipes/index.ts'
import { oneOf, type Chance } from '../support/seeded-random.ts'
import type { RecordedClient } from './recorder.ts'
import type { Kind, Locks } from './tenures.ts'

export interface LockUnderTest {
  /** The lock as one session has it. */
  make: (client: Client, path: string, random: Chance) => Lock
  kind: Kind
  /**
   * A name that was given may be given again when somebody else deletes nodes. Between a look at one's own node and its delete another's may
   * come to stand there: who deletes nodes that are not his can let two in.
   */
  reusesNames?: boolean
  /** Locks that it uses itself. */
  inner?: Locks
}

/** By their paths. */
export type LocksUnderTest = ReadonlyMap<string, LockUnderTest>

export const kindsOf = (locks: LocksUnderTest): Locks =>
  new Map([...locks].flatMap(([path, { kind, inner = [] }]) => [[path, kind] as const, ...inner]))

/** What locks ask of a server. */
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
  random: Chance
  /** Gives up what is still wanted. */
  end: AbortSignal
}

/** One try: patient, or until it is given up, or for some time, or only where nobody has the lock. */
export async function attemptOne(
  recorded: RecordedClient,
  { locks, sessionTimeout, random, end }: AttemptConditions,
): Promise<void> {
  const [path, { make }] = oneOf(random, [...locks])
  const kind = random()
  const length = random()
  // Most are short; some outlive a session that is cut off.
  const hold = length < 0.005 ? 2 * sessionTimeout : length < 0.1 ? 30 * random() : 2 * random()
  const patience = 1 + Math.floor(60 * random())
  await recorded.attempt(make(recorded.client, path, random), () => delay(hold), {
    signal: kind < 0.25 ? AbortSignal.any([AbortSignal.timeout(patience), end]) : end,
    watchOwnNode: true,
    ...(kind > 0.9 && { timeout: patience }),
    isTry: kind > 0.8 && kind < 0.9,
    downgrade: random() < 0.3,
  })
}
