// The rules that every history of a lock must obey, under any faults. Each rule is a function of the events that the
// contenders recorded and of the server's log.
import { indexed, type Evidence, type FaultWindow, type IndexedEvidence } from './evidence.ts'
import { grouped, inOrder, type Grant } from './history.ts'
import { excludes, type Tenure } from './tenures.ts'

export interface Violation {
  rule: keyof typeof rules
  lock: string
  what: string
}

/** A violation that a rule reports. */
type Finding = Omit<Violation, 'rule'>

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

/** Each attempt is either refused or granted, once. A grant is lost at most once, and is released once. */
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

/**
 * Each grant has a node that its own session created, and that node had its turn at the last transaction that the
 * session knew of. A waiter that looks ahead knows the transaction that deleted its predecessor only from its event.
 */
function* justifiedGrant({ grants, tenureOf, knownAt }: IndexedEvidence): Generator<Finding> {
  for (const grant of grants) {
    const { id, lock, session } = grant
    const { node } = grant.granted
    const known = knownAt(grant)
    const problem = grantProblem(tenureOf.get(grant), session, known)
    if (problem !== undefined)
      yield { lock, what: `${id} of ${hex(session)} was granted the lock with ${node} at ${hex(known)}, ${problem}` }
  }
}

function grantProblem(tenure: Tenure | undefined, session: bigint, known: bigint): string | undefined {
  if (tenure === undefined) return 'a node that never existed'
  if (tenure.session !== session) return `a node that ${hex(tenure.session)} created`
  if (tenure.since === undefined) return 'a node that never had its turn'
  return tenure.since.zxid > known ? `a node that had its turn only from ${hex(tenure.since.zxid)} on` : undefined
}

/** The token is the zxid of the transaction that created the node. Tokens of exclusive holders increase. */
function* tokenOrder({ grants, tenures, tenureOf }: IndexedEvidence): Generator<Finding> {
  // A read lock that was downgraded from a write lock keeps the write lock's sequence number and token.
  const mayHave = (token: bigint, { created, isShared, lock, sequence }: Tenure) =>
    created.zxid === token ||
    (isShared && tenures.some(each => each.created.zxid === token && each.lock === lock && each.sequence === sequence))
  for (const grant of grants) {
    const tenure = tenureOf.get(grant)
    if (tenure !== undefined && !mayHave(grant.granted.token, tenure))
      yield {
        lock: grant.lock,
        what: `${tokenOf(grant)}, but ${tenure.path} was created by ${hex(tenure.created.zxid)}`,
      }
  }
  const exclusive = grants.flatMap(grant => {
    const tenure = tenureOf.get(grant)
    return tenure?.since === undefined || tenure.isShared || tenure.kind.permits > 1
      ? []
      : [{ grant, since: tenure.since.zxid }]
  })
  for (const each of grouped(exclusive, ({ grant }) => grant.lock).values()) {
    // One transaction may delete several nodes in turn, for example those of an expired session.
    const inTurn = each
      .sort((a, b) => Number(a.since - b.since || a.grant.granted.token - b.grant.granted.token))
      .map(({ grant }) => grant)
    for (const [earlier, later] of pairs(inTurn))
      if (later.granted.token <= earlier.granted.token)
        yield { lock: later.lock, what: `${tokenOf(later)}, which is not larger: before it ${tokenOf(earlier)}` }
  }
}

/** A contender that requests the lock after another has released it gets a larger token. */
function* realTimeOrder({ grants }: IndexedEvidence): Generator<Finding> {
  for (const each of grouped(grants, ({ lock }) => lock).values()) {
    const byRequest = each.toSorted((a, b) => a.requestedAt - b.requestedAt)
    const byRelease = each
      .flatMap(grant => (grant.released === undefined ? [] : [{ grant, at: grant.released.at }]))
      .sort((a, b) => a.at - b.at)
    let greatest: Grant | undefined
    let next = 0
    for (const grant of byRequest) {
      for (let done = byRelease[next]; done !== undefined && done.at < grant.requestedAt; done = byRelease[++next])
        if (greatest === undefined || done.grant.granted.token > greatest.granted.token) greatest = done.grant
      if (greatest !== undefined && grant.granted.token <= greatest.granted.token)
        yield {
          lock: grant.lock,
          what: `${tokenOf(grant)}, which is not larger: ${tokenOf(greatest)} and released before the request`,
        }
    }
  }
}

/** Fair locks are granted in queue order. Nodes that were deleted before their turn are ignored. */
function* firstComeFirstServed({ grants, tenureOf, removedByOthers }: IndexedEvidence): Generator<Finding> {
  const fairGrants = grants.filter(grant => {
    const tenure = tenureOf.get(grant)
    return tenure?.kind.isFair === true && tenure.kind.permits === 1 && !tenure.isShared && !removedByOthers.has(grant)
  })
  for (const each of grouped(fairGrants, ({ lock }) => lock).values())
    for (const [earlier, later] of pairs(each.sort((a, b) => a.granted.at - b.granted.at)))
      if (later.granted.token < earlier.granted.token)
        yield {
          lock: later.lock,
          what: `${earlier.id} was granted the lock before ${later.id}, which was ahead in the queue`,
        }
}

/** Contenders that exclude each other never believe at the same time that they hold the lock. */
function* beliefOverlap(all: IndexedEvidence): Generator<Finding> {
  for (const { holder, other, ms, isExcused } of overlaps(all))
    if (!isExcused)
      yield {
        lock: other.lock,
        what: `${other.id} and ${holder.id} both believed that they held it for ${ms.toFixed(1)} ms`,
      }
}

/** Returns the longest time, ms, for which a holder and its successor both believed that they held the lock. */
export function longestExcusedBelief(evidence: Evidence): number {
  return Math.max(0, ...[...overlaps(indexed(evidence))].map(({ ms }) => ms))
}

interface Overlap {
  holder: Grant
  other: Grant
  ms: number
  isExcused: boolean
}

/** A holder believes that it holds the lock from the grant until it starts to release or notices the loss. */
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
      const overlapOf = (holder: Grant) => Math.min(endOfBelief(holder), endOfBelief(other)) - other.granted.at
      const isUnaware = (holder: Grant) =>
        unaware.some(({ from, to, idPrefix }) => {
          const end = other.granted.at + overlapOf(holder)
          return other.granted.at >= from && end <= to && [holder, other].some(({ id }) => id.startsWith(idPrefix))
        })
      const isExcused = (holder: Grant) =>
        ((removedByOthers.has(holder) || removedByOthers.has(other)) && overlapOf(holder) <= grace) || isUnaware(holder)
      const unexcused = excluding.filter(holder => !isExcused(holder))
      const [holder = excluding[0]] = unexcused
      if (holder !== undefined && excluding.length >= tenure.kind.permits)
        yield { holder, other, ms: overlapOf(holder), isExcused: unexcused.length < tenure.kind.permits }
      believers.push(other)
    }
  }
}

/**
 * A connected contender takes its turn within `patience`. A cancelled attempt leaves no node that blocks the others.
 */
function* lostWakeUp(all: IndexedEvidence): Generator<Finding> {
  const { events, attempts, tenures, tenureOf, patience, wallClockOffset, disruptions = [] } = all
  const end = events.reduce((latest, { at }) => Math.max(latest, at), -Infinity)
  const granted = new Map([...tenureOf].map(([grant, tenure]) => [tenure, grant]))
  const ofSession = grouped(tenures, ({ lock, session }) => `${lock} ${session}`)
  /** A holder of several permits has a node for each, and is granted the lock with the one that it created last. */
  const grantedWithLater = ({ lock, session, kind, created }: Tenure) => {
    if (kind.permits === 1) return Infinity
    const later = ofSession.get(`${lock} ${session}`)?.filter(each => each.created.zxid > created.zxid)
    return later?.map(each => granted.get(each)?.granted.at).find(at => at !== undefined) ?? Infinity
  }
  const links = new Map<bigint, LinkChange[]>()
  for (const { session, id } of attempts) if (!links.has(session)) links.set(session, disruptionsOf(id, disruptions))
  for (const { is, at, ...of } of events)
    if ((is === 'connected' || is === 'cutOff') && 'session' in of) links.get(of.session)?.push({ at, is })
  for (const tenure of tenures) {
    if (tenure.since === undefined || tenure.kind.isInner) continue
    const from = tenure.since.at - wallClockOffset
    const until = tenure.until === undefined ? end : tenure.until.at - wallClockOffset
    const to = Math.min(granted.get(tenure)?.granted.at ?? grantedWithLater(tenure), until)
    const waited = longestConnected(links.get(tenure.session) ?? [], from, to)
    if (waited > patience)
      yield {
        lock: tenure.lock,
        what: `${nameOf(tenure)} had its turn for ${waited.toFixed(0)} ms while connected, and did not take it`,
      }
  }
}

/** A change of a session's connection: of its state, or by a fault. */
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

/** Returns the longest period between `from` and `to` in which the session was connected and no fault disrupted it. */
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

/** At the end no node is left, and each release was recorded after the delete of its node. */
function* leakedNode({ grants, tenures, tenureOf }: IndexedEvidence): Generator<Finding> {
  for (const tenure of tenures)
    if (tenure.until === undefined) yield { lock: tenure.lock, what: `${nameOf(tenure)} is left` }
  for (const grant of grants) {
    const { released, id, lock } = grant
    const tenure = tenureOf.get(grant)
    if (released === undefined || released.isOver || tenure === undefined) continue
    if (tenure.until === undefined || tenure.until.zxid > released.lastZxid)
      yield { lock, what: `${id} recorded the release of ${tenure.path}, which still existed` }
  }
}

const tokenOf = ({ id, granted }: Grant) => `${id} has the token ${hex(granted.token)}`

const nameOf = ({ path, session }: Tenure) => `${path} of ${hex(session)}`

const hex = (id: bigint) => `0x${id.toString(16)}`

const pairs = <T>(all: readonly T[]): (readonly [T, T])[] => all.slice(1).map((each, i) => [all[i] as T, each] as const)
