// What must be true of every history of a lock, whatever went wrong on the way. Each rule is a function of what those told who wanted the
// lock, and of what the server wrote down.
import { attemptsIn, grouped, inOrder, isGrant, type Attempt, type Event, type Grant } from './history.ts'
import { excludes, reignsIn, type Locks, type Reign } from './tenures.ts'
import type { Transaction } from './transaction-log.ts'

export interface Evidence {
  readonly locks: Locks
  readonly events: readonly Event[]
  readonly log: readonly Transaction[]
  /** By how much the calendar, which the server goes by, is ahead of the clock that the events go by, ms. */
  readonly wallAhead: number
  /** For how long, ms, one whose turn it is may not know while its connection stands. */
  readonly patience: number
  /** When what they asked was not answered, or not heard (default: never). */
  readonly harm?: readonly Window[]
  /**
   * For how long, ms, one may believe to hold the lock whose node or session others have taken away at the server. It is not for those who
   * lost it by themselves.
   */
  readonly grace: number
  /**
   * When nobody can have known better (default: never): a process that is stopped learns nothing of its loss before it goes on, and a follower
   * that is cut off from its leader tells its clients that all is well. Only what refuses old tokens is proof against what they believe then.
   */
  readonly blind?: readonly Window[]
}

/** A time in which something was wrong, of the events' clock. */
export interface Window {
  from: number
  to: number
  /** What the ids of those concerned begin with. */
  who: string
}

export interface Violation {
  rule: keyof typeof rules
  lock: string
  what: string
}

/** What a rule finds. */
type Finding = Omit<Violation, 'rule'>

/** What the rules are handed: the evidence, put together. */
interface Case extends Evidence {
  attempts: readonly Attempt[]
  grants: readonly Grant[]
  reigns: readonly Reign[]
  /** The node of a grant, by its token, or else the last of that path that the holder can have known. */
  reignOf: ReadonlyMap<Grant, Reign>
  /** Grants whose node or session somebody else took away. */
  robbed: ReadonlySet<Grant>
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
} as const satisfies Record<string, (all: Case) => Generator<Finding>>

export function violations(evidence: Evidence): Violation[] {
  const all = put(evidence)
  return (Object.keys(rules) as (keyof typeof rules)[]).flatMap(rule =>
    [...rules[rule](all)].map(finding => ({ rule, ...finding })),
  )
}

function put(evidence: Evidence): Case {
  const attempts = attemptsIn(evidence.events)
  const grants = attempts.filter(isGrant)
  const reigns = reignsIn(evidence.log, evidence.locks)
  const byPath = grouped(reigns, ({ path }) => path)
  const reignOf = new Map<Grant, Reign>()
  for (const grant of grants) {
    const { node, token, seen } = grant.granted
    const namesakes = byPath.get(node) ?? []
    const reign =
      namesakes.find(({ created }) => created.zxid === token) ??
      namesakes.findLast(({ created }) => created.zxid <= seen)
    if (reign !== undefined) reignOf.set(grant, reign)
  }
  const killed = new Set(evidence.events.flatMap(event => (event.is === 'killed' ? [event.session] : [])))
  const isRobbed = (grant: Grant) => {
    const until = reignOf.get(grant)?.until
    return killed.has(grant.session) || (until !== undefined && until.by !== grant.session)
  }
  return { ...evidence, attempts, grants, reigns, reignOf, robbed: new Set(grants.filter(isRobbed)) }
}

/** Whoever asks is answered, once; whoever is granted the lock loses it at most once, and gets rid of it. */
function* settlesOnce({ events, attempts }: Case): Generator<Finding> {
  const told = grouped(
    inOrder(events).filter(event => 'id' in event),
    ({ id }) => id,
  )
  const locks = new Map(attempts.map(({ id, lock }) => [id, lock]))
  for (const [id, all] of told) {
    const story = all.map(({ is }) => is).join(', ')
    if (!/^asked, (?:refused|granted, (?:lost, )?releasing, released)$/.test(story))
      yield { lock: locks.get(id) ?? '', what: `${id} is ${story}` }
  }
}

/** Who is granted the lock stands behind a node of its own session, which had its turn by what the session knew. */
function* justifiedGrant({ grants, reignOf }: Case): Generator<Finding> {
  for (const grant of grants) {
    const { id, lock, session } = grant
    const { node, seen } = grant.granted
    const wrong = wrongWith(reignOf.get(grant), session, seen)
    if (wrong !== undefined)
      yield { lock, what: `${id} of ${hex(session)} was granted ${node} by ${hex(seen)}, ${wrong}` }
  }
}

function wrongWith(reign: Reign | undefined, session: bigint, seen: bigint): string | undefined {
  if (reign === undefined) return 'which never was'
  if (reign.session !== session) return `which ${hex(reign.session)} made`
  if (reign.since === undefined) return 'whose turn never came'
  return reign.since.zxid > seen ? `whose turn came with ${hex(reign.since.zxid)} only` : undefined
}

/** The token is the transaction that made the node, and grows from one who has the lock alone to the next. */
function* tokenOrder({ grants, reigns, reignOf }: Case): Generator<Finding> {
  // A read lock that was a write lock before has its number and its token.
  const mayBear = (token: bigint, { created, isShared, lock, sequence }: Reign) =>
    created.zxid === token ||
    (isShared && reigns.some(each => each.created.zxid === token && each.lock === lock && each.sequence === sequence))
  for (const grant of grants) {
    const reign = reignOf.get(grant)
    if (reign !== undefined && !mayBear(grant.granted.token, reign))
      yield { lock: grant.lock, what: `${tokenOf(grant)}, and ${reign.path} was made by ${hex(reign.created.zxid)}` }
  }
  const alone = grants.flatMap(grant => {
    const reign = reignOf.get(grant)
    return reign?.since === undefined || reign.isShared || reign.kind.permits > 1
      ? []
      : [{ grant, since: reign.since.zxid }]
  })
  for (const each of grouped(alone, ({ grant }) => grant.lock).values()) {
    const inTurn = each.sort((a, b) => Number(a.since - b.since)).map(({ grant }) => grant)
    for (const [earlier, later] of pairs(inTurn))
      if (later.granted.token <= earlier.granted.token)
        yield { lock: later.lock, what: `${tokenOf(later)} behind ${tokenOf(earlier)}` }
  }
}

/** Who asks after another has released has the larger token. */
function* realTimeOrder({ grants }: Case): Generator<Finding> {
  for (const each of grouped(grants, ({ lock }) => lock).values()) {
    const asking = each.toSorted((a, b) => a.asked - b.asked)
    const releasing = each
      .flatMap(grant => (grant.released === undefined ? [] : [{ grant, at: grant.released.at }]))
      .sort((a, b) => a.at - b.at)
    let greatest: Grant | undefined
    let next = 0
    for (const grant of asking) {
      for (let done = releasing[next]; done !== undefined && done.at < grant.asked; done = releasing[++next])
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
function* firstComeFirstServed({ grants, reignOf, robbed }: Case): Generator<Finding> {
  const inLine = grants.filter(grant => {
    const reign = reignOf.get(grant)
    return reign?.kind.isFair === true && reign.kind.permits === 1 && !reign.isShared && !robbed.has(grant)
  })
  for (const each of grouped(inLine, ({ lock }) => lock).values())
    for (const [earlier, later] of pairs(each.sort((a, b) => a.granted.at - b.granted.at)))
      if (later.granted.token < earlier.granted.token)
        yield { lock: later.lock, what: `${earlier.id} was granted the lock before ${later.id}, which had come first` }
}

/** No two believe at a time that they hold what one can hold. */
function* beliefOverlap(all: Case): Generator<Finding> {
  for (const { holder, other, ms, isExcused } of overlaps(all))
    if (!isExcused)
      yield { lock: other.lock, what: `${other.id} and ${holder.id} both believed to hold it for ${ms.toFixed(1)} ms` }
}

/** The longest time, ms, for which somebody believed in a lock that others had taken from him, while the next had it. */
export function longestExcusedBelief(evidence: Evidence): number {
  return Math.max(0, ...[...overlaps(put(evidence))].map(({ ms }) => ms))
}

interface Overlap {
  holder: Grant
  other: Grant
  ms: number
  isExcused: boolean
}

/** One believes from the grant on until one begins to release, or is told of the loss. */
const endOfBelief = ({ lost, releasing }: Grant) => Math.min(lost?.at ?? Infinity, releasing?.at ?? Infinity)

function* overlaps({ grants, reignOf, robbed, grace, blind = [] }: Case): Generator<Overlap> {
  for (const each of grouped(grants, ({ lock }) => lock).values()) {
    let believers: Grant[] = []
    for (const other of each.toSorted((a, b) => a.granted.at - b.granted.at)) {
      const reign = reignOf.get(other)
      if (reign === undefined) continue
      believers = believers.filter(grant => endOfBelief(grant) > other.granted.at)
      const excluding = believers.flatMap(holder => {
        const theirs = reignOf.get(holder)
        return theirs !== undefined && excludes(theirs, reign) ? [holder] : []
      })
      const together = (holder: Grant) => Math.min(endOfBelief(holder), endOfBelief(other)) - other.granted.at
      const isBlind = (holder: Grant) =>
        blind.some(({ from, to, who }) => {
          const end = other.granted.at + together(holder)
          return other.granted.at >= from && end <= to && [holder, other].some(({ id }) => id.startsWith(who))
        })
      const isExcused = (holder: Grant) =>
        ((robbed.has(holder) || robbed.has(other)) && together(holder) <= grace) || isBlind(holder)
      const unexcused = excluding.filter(holder => !isExcused(holder))
      const [holder = excluding[0]] = unexcused
      if (holder !== undefined && excluding.length >= reign.kind.permits)
        yield { holder, other, ms: together(holder), isExcused: unexcused.length < reign.kind.permits }
      believers.push(other)
    }
  }
}

/** Whose turn it is gets to know, unless cut off; and whoever has given up is not in the way. */
function* lostWakeUp({ events, attempts, reigns, reignOf, patience, wallAhead, harm = [] }: Case): Generator<Finding> {
  const ends = events.reduce((latest, { at }) => Math.max(latest, at), -Infinity)
  const granted = new Map([...reignOf].map(([grant, reign]) => [reign, grant]))
  const links = new Map<bigint, Turn[]>()
  for (const { session, id } of attempts) if (!links.has(session)) links.set(session, turnsOf(id, harm))
  for (const { is, at, ...of } of events)
    if ((is === 'connected' || is === 'cutOff') && 'session' in of) links.get(of.session)?.push({ at, is })
  for (const reign of reigns) {
    if (reign.since === undefined || reign.kind.isInner) continue
    const from = reign.since.at - wallAhead
    const until = reign.until === undefined ? ends : reign.until.at - wallAhead
    const to = Math.min(granted.get(reign)?.granted.at ?? until, until)
    const waited = longestConnected(links.get(reign.session) ?? [], from, to)
    if (waited > patience)
      yield { lock: reign.lock, what: `${nameOf(reign)} had its turn for ${waited.toFixed(0)} ms, and nobody took it` }
  }
}

/** What a session's connection does, and what is done to it. */
interface Turn {
  at: number
  is: 'connected' | 'cutOff' | 'harmed' | 'healed'
}

const turnsOf = (id: string, harm: readonly Window[]): Turn[] =>
  harm
    .filter(({ who }) => id.startsWith(who))
    .flatMap(({ from, to }) => [
      { at: from, is: 'harmed' },
      { at: to, is: 'healed' },
    ])

/** The longest stretch between two moments in which it was connected, and nothing harmed it. */
function longestConnected(turns: readonly Turn[], from: number, to: number): number {
  let longest = 0
  let since: number | undefined
  let isConnected = false
  let harms = 0
  for (const { is, at } of [...turns.toSorted((a, b) => a.at - b.at), { is: 'cutOff' as const, at: Infinity }]) {
    if (is === 'connected' || is === 'cutOff') isConnected = is === 'connected'
    else harms += is === 'harmed' ? 1 : -1
    if (since !== undefined) longest = Math.max(longest, Math.min(at, to) - Math.max(since, from))
    since = isConnected && harms === 0 ? (since ?? at) : undefined
  }
  return longest
}

/** At the end no node is left, and whoever has released knows that his is gone. */
function* leakedNode({ grants, reigns, reignOf }: Case): Generator<Finding> {
  for (const reign of reigns)
    if (reign.until === undefined) yield { lock: reign.lock, what: `${nameOf(reign)} is left` }
  for (const grant of grants) {
    const { released, id, lock } = grant
    const reign = reignOf.get(grant)
    if (released === undefined || released.isOver || reign === undefined) continue
    if (reign.until === undefined || reign.until.zxid > released.seen)
      yield { lock, what: `${id} had released ${reign.path}, which was there still` }
  }
}

const tokenOf = ({ id, granted }: Grant) => `${id} has the token ${hex(granted.token)}`

const nameOf = ({ path, session }: Reign) => `${path} of ${hex(session)}`

const hex = (id: bigint) => `0x${id.toString(16)}`

const pairs = <T>(all: readonly T[]): (readonly [T, T])[] => all.slice(1).map((each, i) => [all[i] as T, each] as const)
