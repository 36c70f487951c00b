// How those who are tortured want their locks: any of them, in every way there is.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { Lock } from '../../src/recipes/index.ts'
import { oneOf, type Random } from '../support/seeded-random.ts'
import type { Contestant } from './recorder.ts'
import type { Kind, Locks } from './tenures.ts'

export interface Tortured {
  /** The lock as one session has it. */
  make: (client: Client, path: string, random: Random) => Lock
  kind: Kind
  /**
   * A name that was given may be given again when somebody else deletes nodes. Between a look at one's own node and its delete another's may
   * come to stand there: who deletes nodes that are not his can let two in.
   */
  namesReturn?: boolean
  /** Its calls have the option `owner`. */
  hasOwner?: boolean
  /** Locks that it uses itself. */
  inner?: Locks
}

/** By their paths. */
export type TorturedLocks = ReadonlyMap<string, Tortured>

export const kindsOf = (locks: TorturedLocks): Locks =>
  new Map([...locks].flatMap(([path, { kind, inner = [] }]) => [[path, kind] as const, ...inner]))

/** What locks ask of a server. */
export const opcodesOfLocks = [
  opcodes.create2,
  opcodes.createContainer,
  opcodes.delete,
  opcodes.exists,
  opcodes.getChildren2,
  opcodes.getData,
  opcodes.multi,
  opcodes.sync,
]

interface Wish {
  locks: TorturedLocks
  sessionTimeout: number
  random: Random
  /** Gives up what is still wanted. */
  end: AbortSignal
}

/** One try: patient, or until it is given up, or for some time, or only where nobody has the lock. */
export async function wantOne(contestant: Contestant, { locks, sessionTimeout, random, end }: Wish): Promise<void> {
  const [path, { make }] = oneOf(random, [...locks])
  const way = random()
  const length = random()
  // Most are short; some outlive a session that is cut off.
  const hold = length < 0.005 ? 2 * sessionTimeout : length < 0.1 ? 30 * random() : 2 * random()
  const patience = 1 + Math.floor(60 * random())
  await contestant.pass(make(contestant.client, path, random), () => delay(hold), {
    signal: way < 0.25 ? AbortSignal.any([AbortSignal.timeout(patience), end]) : end,
    watchOwnNode: true,
    ...(way > 0.9 && { timeout: patience }),
    isTry: way > 0.8 && way < 0.9,
    downgrade: random() < 0.3,
  })
}
