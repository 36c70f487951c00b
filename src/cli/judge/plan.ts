// What happens in a trial: how many copies of the program run, and which faults hit which of them. Pure: a seed in, a
// plan out. This folder runs copies of a program that locks, and judges what they do.
// May import: cli/conversation, cli/guarded, cli/runner, cli/trace, protocol/index.ts, runtime, server/index.ts,
// transport/transport.ts.

/** When a fault happens, in one round of one copy. */
export type Moment = 'asks' | 'waits' | 'holds' | 'leaves'

export interface FaultKind {
  readonly name: string
  readonly moment: Moment
  /** The operation whose reply is lost or late. */
  readonly operation?: 'create' | 'getChildren' | 'exists' | 'getData' | 'delete'
  /** True if the fault needs several servers. */
  readonly needsEnsemble?: boolean
  /** What the fault is, in words. */
  readonly words: string
}

export interface PlannedFault {
  readonly kind: FaultKind
  /** The number of the copy, from 1. */
  readonly copy: number
  /** The round of that copy, from 1. */
  readonly round: number
}

export interface Plan {
  readonly seed: number
  readonly copies: number
  /** How often each copy locks. */
  readonly rounds: number
  readonly servers: 1 | 3
  readonly faults: readonly PlannedFault[]
}

const lost = (operation: NonNullable<FaultKind['operation']>, moment: Moment): FaultKind => ({
  ...{ name: 'reply', moment, operation, words: `the reply to its ${operation} is lost, with the connection` },
})
const late = (operation: NonNullable<FaultKind['operation']>): FaultKind => ({
  ...{ name: 'late', moment: 'asks', operation, words: `the reply to its ${operation} comes late` },
})
const both = (kind: Omit<FaultKind, 'moment'>): FaultKind[] =>
  (['waits', 'holds'] as const).map(moment => ({ ...kind, moment }))

/** All faults. Each is harmless to a right lock. */
export const FAULTS: readonly FaultKind[] = [
  ...both({ name: 'expire', words: 'its session expires' }),
  ...both({ name: 'kill', words: 'its process is killed, and its session expires' }),
  ...both({ name: 'restart', words: 'its process is killed and started again, and then its old session expires' }),
  ...both({ name: 'cut', words: 'its connection is cut' }),
  { name: 'stop', moment: 'holds', words: 'its process is stopped, until its session has expired' },
  lost('create', 'asks'),
  lost('getChildren', 'asks'),
  lost('delete', 'leaves'),
  ...(['getChildren', 'exists', 'getData'] as const).map(late),
  { name: 'elect', moment: 'holds', needsEnsemble: true, words: 'the servers elect another leader' },
  { name: 'lag', moment: 'asks', needsEnsemble: true, words: 'a server lags behind its leader' },
]

export const FAULT_NAMES: readonly string[] = [...new Set(FAULTS.map(({ name }) => name))]

const LEAST_COPIES = 2
/** How many faults a trial has. */
const FAULTS_EACH = 2

export interface PlanOptions {
  readonly seed: number
  readonly copies: number
  readonly rounds: number
  /** The number of trials. */
  readonly trials: number
  /** The names of the faults. */
  readonly faults: readonly string[]
}

/** Returns the plans: the first has no fault, and all others together have every kind, if there are enough. */
export function plansFor({ seed, copies, rounds, trials, faults }: PlanOptions): Plan[] {
  const random = randomOf(seed)
  const calm: Plan = { seed, copies, rounds, servers: 1, faults: [] }
  const kinds = FAULTS.filter(({ name }) => faults.includes(name))
  if (kinds.length === 0) return Array.from({ length: trials }, () => calm)
  const next = shuffledForEver(kinds, random)
  const whole = (most: number) => Math.floor(random() * most) + 1
  // In round 1, the first copy holds, and one that waits and is not the last has another one behind it. Before the last round,
  // others wait for a holder, so that what it does wrong is seen.
  const placed = (kind: FaultKind): PlannedFault =>
    kind.moment === 'waits'
      ? { kind, copy: copies === LEAST_COPIES ? LEAST_COPIES : 1 + whole(copies - 2), round: 1 }
      : { kind, copy: whole(copies - 1), round: whole(Math.max(1, rounds - 1)) }
  return [
    calm,
    ...Array.from({ length: trials - 1 }, (): Plan => {
      const planned = Array.from({ length: FAULTS_EACH }, () => placed(next()))
      const servers = planned.some(({ kind }) => kind.needsEnsemble === true) ? 3 : 1
      return { seed, copies, rounds, servers, faults: planned }
    }),
  ]
}

/** Returns plans with less in them, the smallest first. */
export function smallerThan(plan: Plan): Plan[] {
  const { copies, rounds, faults } = plan
  const alone = faults.length > 1 ? faults.map(fault => [fault]) : [faults]
  const few = copies > LEAST_COPIES ? [LEAST_COPIES, LEAST_COPIES + 1].filter(most => most < copies) : []
  return [
    ...alone.flatMap(each => few.map(most => bounded(plan, each, most, 1))),
    ...(rounds > 1 ? [bounded(plan, faults, copies, 1)] : []),
    ...(faults.length > 1 ? alone.map(each => bounded(plan, each, copies, rounds)) : []),
  ]
}

/** Returns a plan with these faults. A fault of a copy or a round that it lacks moves to another one. */
function bounded(plan: Plan, faults: readonly PlannedFault[], copies: number, rounds: number): Plan {
  const needsEnsemble = faults.some(({ kind }) => kind.needsEnsemble === true)
  // Not to the last one, because none waits behind it.
  const moved = (copy: number) => (copy <= copies ? copy : Math.max(LEAST_COPIES, copies - 1))
  return {
    ...{ seed: plan.seed, copies, rounds, servers: needsEnsemble ? 3 : 1 },
    faults: faults.map(({ kind, copy, round }) => ({ kind, copy: moved(copy), round: Math.min(round, rounds) })),
  }
}

/** Returns a plan in words. */
export function wordsOf({ copies, rounds, servers, faults }: Plan): string[] {
  const where = servers === 1 ? 'one server' : `${servers} servers`
  return [
    `${copies} copies, ${rounds === 1 ? 'one round' : `${rounds} rounds`} each, ${where}${faults.length === 0 ? ', no fault' : ''}`,
    ...faults.map(({ kind, copy, round }) => `when copy ${copy} ${kind.moment} in its round ${round}, ${kind.words}`),
  ]
}

/** Returns the members in a random order, and then again in another one. */
function shuffledForEver<T>(members: readonly T[], random: () => number): () => T {
  let left: T[] = []
  return () => {
    if (left.length === 0) left = [...members]
    return left.splice(Math.floor(random() * left.length), 1)[0] as T
  }
}

/** Returns numbers from 0 to less than 1 that a seed repeats: a xorshift of 32 bits. */
function randomOf(seed: number): () => number {
  // Zero would stay zero.
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
}
