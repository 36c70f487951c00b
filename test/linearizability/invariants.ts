// What must be true of every history of a lock, whatever went wrong on the way. Each rule is a function of what those told who wanted the
// lock, and of what the server wrote down.
import { attemptsIn, grouped, inOrder, isGrant, type Attempt, type Event, type Grant } from './history.ts'
import { excludes, tenuresIn, type Locks, type Tenure } from './tenures.ts'
import type { Transaction } from './transaction-log.ts'

export interface Evidence {
  readonly locks: Locks
  readonly events: readonly Event[]
  readonly log: readonly Transaction[]
  /** By how much the calendar, which the server goes by, is ahead of the clock that the events go by, ms. */
  readonly wallClockOffset: number
  /** For how long, ms, one whose turn it is may not know while its connection stands. */
  readonly patience: number
  /** When what they asked was not answered, or not heard (default: never). */
  readonly disruptions?: readonly FaultWindow[]
  /**
   * For how long, ms, one may believe to hold the lock whose node or session others have taken away at the server. It is not for those who
   * lost it by themselves.
   */
  readonly grace: number
  /**
   * When nobody can have known better (default: never): a process that is stopped learns nothing of its loss before it goes on, and a follower
   * that is cut off from its leader tells its clients that all is well. Only what refuses old tokens is proof against what they believe then.
   */
  readonly unaware?: readonly FaultWindow[]
}

/** A time in which something was wrong, of the events' clock. */
export interface FaultWindow {
  from: number
  to: number
  /** What the ids of those concerned begin with. */
  idPrefix: string
}

export interface Violation {
  rule: keyof typeof rules
  lock: string
  what: string
}

/** What a rule finds. */
type Finding = Omit<Violation, 'rule'>

/** What the rules are handed: the evidence, put together. */
interface IndexedEvidence extends Evidence {
  attempts: readonly Attempt[]
  grants: readonly Grant[]
  tenures: readonly Tenure[]
  /** The node of a grant, by its token, or else the last of that path that the holder can have known. */
  tenureOf: ReadonlyMap<Grant, Tenure>
  /** Grants whose node or session somebody else took away. */
  removedByOthers: ReadonlySet<Grant>
}

export const rules = {
  'settles once': settlesOnce,
  'justified grant': justifiedGrant,
  'token order': tokenOrder,
  'real-time order': realTimeOrder,
  'first come, first served': firstComeFirstServed,
  'belief overlap': beliefOverlap,
  'lost wake-up': lostWakeUp,
  'leaked node': leakedNode,
} as const satisfies Record<string, (all: IndexedEvidence) => Generator<Finding>>

export function violations(evidence: Evidence): Violation[] {
  const all = indexed(evidence)
  return (Object.keys(rules) as (keyof typeof rules)[]).flatMap(rule =>
    [...rules[rule](all)].map(finding => ({ rule, ...finding })),
  )
}

function indexed(evidence: Evidence): IndexedEvidence {
  const attempts = attemptsIn(evidence.events)
  const grants = attempts.filter(isGrant)
  const tenures = tenuresIn(evidence.log, evidence.locks)
  const byPath = grouped(tenures, ({ path }) => path)
  const tenureOf = new Map<Grant, Tenure>()
  for (const grant of grants) {
    const { node, token, lastZxid } = grant.granted
    const candidates = byPath.get(node) ?? []
    const tenure =
      candidates.find(({ created }) => created.zxid === token) ??
      candidates.findLast(({ created }) => created.zxid <= lastZxid)
    if (tenure !== undefined) tenureOf.set(grant, tenure)
  }
  const killed = new Set(evidence.events.flatMap(event => (event.is === 'killed' ? [event.session] : [])))
  const isRemoved = (grant: Grant) => {
    const until = tenureOf.get(grant)?.until
    return killed.has(grant.session) || (until !== undefined && until.by !== grant.session)
  }
  return { ...evidence, attempts, grants, tenures, tenureOf, removedByOthers: new Set(grants.filter(isRemoved)) }
}

/** Whoever asks is answered, once; whoever is granted the lock loses it at most once, and gets rid of it. */
function* settlesOnce({ events, attempts }: IndexedEvidence): Generator<Finding> {
  const eventsOfId = grouped(
    inOrder(events).filter(event => 'id' in event),
    ({ id }) => id,
  )
  const locks = new Map(attempts.map(({ id, lock }) => [id, lock]))
  for (const [id, all] of eventsOfId) {
    const sequence = all.map(({ is }) => is).join(', ')
    if (!/^requested, (?:refused|granted, (?:lost, )?releasing, released)$/.test(sequence))
      yield { lock: locks.get(id) ?? '', what: `${id} is ${sequence}` }
  }
}

/** Who is granted the lock stands behind a node of its own session, which had its turn by what the session knew. */
function* justifiedGrant({ grants, tenureOf }: IndexedEvidence): Generator<Finding> {
  for (const grant of grants) {
    const { id, lock, session } = grant
    const { node, lastZxid } = grant.granted
    const wrong = grantProblem(tenureOf.get(grant), session, lastZxid)
    if (wrong !== undefined)
      yield { lock, what: `${id} of ${hex(session)} was granted ${node} by ${hex(lastZxid)}, ${wrong}` }
  }
}

function grantProblem(tenure: Tenure | undefined, session: bigint, lastZxid: bigint): string | undefined {
  if (tenure === undefined) return 'which never was'
  if (tenure.session !== session) return `which ${hex(tenure.session)} made`
  if (tenure.since === undefined) return 'whose turn never came'
  return tenure.since.zxid > lastZxid ? `whose turn came with ${hex(tenure.since.zxid)} only` : undefined
}

/** The token is the transaction that made the node, and grows from one who has the lock alone to the next. */
function* tokenOrder({ grants, tenures, tenureOf }: IndexedEvidence): Generator<Finding> {
  // A read lock that was a write lock before has its number and its token.
  const mayHave = (token: bigint, { created, isShared, lock, sequence }: Tenure) =>
    created.zxid === token ||
    (isShared && tenures.some(each => each.created.zxid === token && each.lock === lock && each.sequence === sequence))
  for (const grant of grants) {
    const tenure = tenureOf.get(grant)
    if (tenure !== undefined && !mayHave(grant.granted.token, tenure))
      yield { lock: grant.lock, what: `${tokenOf(grant)}, and ${tenure.path} was made by ${hex(tenure.created.zxid)}` }
  }
  const alone = grants.flatMap(grant => {
    const tenure = tenureOf.get(grant)
    return tenure?.since === undefined || tenure.isShared || tenure.kind.permits > 1
      ? []
      : [{ grant, since: tenure.since.zxid }]
  })
  for (const each of grouped(alone, ({ grant }) => grant.lock).values()) {
    const inTurn = each.sort((a, b) => Number(a.since - b.since)).map(({ grant }) => grant)
    for (const [earlier, later] of pairs(inTurn))
      if (later.granted.token <= earlier.granted.token)
        yield { lock: later.lock, what: `${tokenOf(later)} behind ${tokenOf(earlier)}` }
  }
}

/** Who asks after another has released has the larger token. */
function* realTimeOrder({ grants }: IndexedEvidence): Generator<Finding> {
  for (const each of grouped(grants, ({ lock }) => lock).values()) {
    const asking = each.toSorted((a, b) => a.requestedAt - b.requestedAt)
    const releasing = each
      .flatMap(grant => (grant.released === undefined ? [] : [{ grant, at: grant.released.at }]))
      .sort((a, b) => a.at - b.at)
    let greatest: Grant | undefined
    let next = 0
    for (const grant of asking) {
      for (let done = releasing[next]; done !== undefined && done.at < grant.requestedAt; done = releasing[++next])
        if (greatest === undefined || done.grant.granted.token > greatest.granted.token) greatest = done.grant
      if (greatest !== undefined && grant.granted.token <= greatest.granted.token)
        yield {
          lock: grant.lock,
          what: `${tokenOf(grant)}, and asked for it when ${tokenOf(greatest)} and had released`,
        }
    }
  }
}

/** Those that queue are let in in their order. Nodes that went before their turn are of no concern. */
function* firstComeFirstServed({ grants, tenureOf, removedByOthers }: IndexedEvidence): Generator<Finding> {
  const inLine = grants.filter(grant => {
    const tenure = tenureOf.get(grant)
    return tenure?.kind.isFair === true && tenure.kind.permits === 1 && !tenure.isShared && !removedByOthers.has(grant)
  })
  for (const each of grouped(inLine, ({ lock }) => lock).values())
    for (const [earlier, later] of pairs(each.sort((a, b) => a.granted.at - b.granted.at)))
      if (later.granted.token < earlier.granted.token)
        yield { lock: later.lock, what: `${earlier.id} was granted the lock before ${later.id}, which had come first` }
}

/** No two believe at a time that they hold what one can hold. */
function* beliefOverlap(all: IndexedEvidence): Generator<Finding> {
  for (const { holder, other, ms, isExcused } of overlaps(all))
    if (!isExcused)
      yield { lock: other.lock, what: `${other.id} and ${holder.id} both believed to hold it for ${ms.toFixed(1)} ms` }
}

/** The longest time, ms, for which somebody believed in a lock that others had taken from him, while the next had it. */
export function longestExcusedBelief(evidence: Evidence): number {
  return Math.max(0, ...[...overlaps(indexed(evidence))].map(({ ms }) => ms))
}

interface Overlap {
  holder: Grant
  other: Grant
  ms: number
  isExcused: boolean
}

/** One believes from the grant on until one begins to release, or is told of the loss. */
const endOfBelief = ({ lost, releasing }: Grant) => Math.min(lost?.at ?? Infinity, releasing?.at ?? Infinity)

function* overlaps({ grants, tenureOf, removedByOthers, grace, unaware = [] }: IndexedEvidence): Generator<Overlap> {
  for (const each of grouped(grants, ({ lock }) => lock).values()) {
    let believers: Grant[] = []
    for (const other of each.toSorted((a, b) => a.granted.at - b.granted.at)) {
      const tenure = tenureOf.get(other)
      if (tenure === undefined) continue
      believers = believers.filter(grant => endOfBelief(grant) > other.granted.at)
      const excluding = believers.flatMap(holder => {
        const theirs = tenureOf.get(holder)
        return theirs !== undefined && excludes(theirs, tenure) ? [holder] : []
      })
      const together = (holder: Grant) => Math.min(endOfBelief(holder), endOfBelief(other)) - other.granted.at
      const isBlind = (holder: Grant) =>
        unaware.some(({ from, to, idPrefix }) => {
          const end = other.granted.at + together(holder)
          return other.granted.at >= from && end <= to && [holder, other].some(({ id }) => id.startsWith(idPrefix))
        })
      const isExcused = (holder: Grant) =>
        ((removedByOthers.has(holder) || removedByOthers.has(other)) && together(holder) <= grace) || isBlind(holder)
      const unexcused = excluding.filter(holder => !isExcused(holder))
      const [holder = excluding[0]] = unexcused
      if (holder !== undefined && excluding.length >= tenure.kind.permits)
        yield { holder, other, ms: together(holder), isExcused: unexcused.length < tenure.kind.permits }
      believers.push(other)
    }
  }
}

/** Whose turn it is gets to know, unless cut off; and whoever has given up is not in the way. */
function* lostWakeUp({
  events,
  attempts,
  tenures,
  tenureOf,
  patience,
  wallClockOffset,
  disruptions = [],
}: IndexedEvidence): Generator<Finding> {
  const end = events.reduce((latest, { at }) => Math.max(latest, at), -Infinity)
  const granted = new Map([...tenureOf].map(([grant, tenure]) => [tenure, grant]))
  const links = new Map<bigint, LinkChange[]>()
  for (const { session, id } of attempts) if (!links.has(session)) links.set(session, disruptionsOf(id, disruptions))
  for (const { is, at, ...of } of events)
    if ((is === 'connected' || is === 'cutOff') && 'session' in of) links.get(of.session)?.push({ at, is })
  for (const tenure of tenures) {
    if (tenure.since === undefined || tenure.kind.isInner) continue
    const from = tenure.since.at - wallClockOffset
    const until = tenure.until === undefined ? end : tenure.until.at - wallClockOffset
    const to = Math.min(granted.get(tenure)?.granted.at ?? until, until)
    const waited = longestConnected(links.get(tenure.session) ?? [], from, to)
    if (waited > patience)
      yield {
        lock: tenure.lock,
        what: `${nameOf(tenure)} had its turn for ${waited.toFixed(0)} ms, and nobody took it`,
      }
  }
}

/** What a session's connection does, and what is done to it. */
interface LinkChange {
  at: number
  is: 'connected' | 'cutOff' | 'disrupted' | 'restored'
}

const disruptionsOf = (id: string, windows: readonly FaultWindow[]): LinkChange[] =>
  windows
    .filter(({ idPrefix }) => id.startsWith(idPrefix))
    .flatMap(({ from, to }) => [
      { at: from, is: 'disrupted' },
      { at: to, is: 'restored' },
    ])

/** The longest stretch between two moments in which it was connected, and nothing harmed it. */
function longestConnected(changes: readonly LinkChange[], from: number, to: number): number {
  let longest = 0
  let since: number | undefined
  let isConnected = false
  let open = 0
  for (const { is, at } of [...changes.toSorted((a, b) => a.at - b.at), { is: 'cutOff' as const, at: Infinity }]) {
    if (is === 'connected' || is === 'cutOff') isConnected = is === 'connected'
    else open += is === 'disrupted' ? 1 : -1
    if (since !== undefined) longest = Math.max(longest, Math.min(at, to) - Math.max(since, from))
    since = isConnected && open === 0 ? (since ?? at) : undefined
  }
  return longest
}

/** At the end no node is left, and whoever has released knows that his is gone. */
function* leakedNode({ grants, tenures, tenureOf }: IndexedEvidence): Generator<Finding> {
  for (const tenure of tenures)
    if (tenure.until === undefined) yield { lock: tenure.lock, what: `${nameOf(tenure)} is left` }
  for (const grant of grants) {
    const { released, id, lock } = grant
    const tenure = tenureOf.get(grant)
    if (released === undefined || released.isOver || tenure === undefined) continue
    if (tenure.until === undefined || tenure.until.zxid > released.lastZxid)
      yield { lock, what: `${id} had released ${tenure.path}, which was there still` }
  }
}

const tokenOf = ({ id, granted }: Grant) => `${id} has the token ${hex(granted.token)}`

const nameOf = ({ path, session }: Tenure) => `${path} of ${hex(session)}`

const hex = (id: bigint) => `0x${id.toString(16)}`

const pairs = <T>(all: readonly T[]): (readonly [T, T])[] => all.slice(1).map((each, i) => [all[i] as T, each] as const)
