// The evidence that the rules judge: the events that contenders recorded, the server's log, and the faults.
import { attemptsIn, grouped, isGrant, type Attempt, type Event, type Grant } from './history.ts'
import { tenuresIn, type Locks, type Tenure } from './tenures.ts'
import type { Transaction } from './transaction-log.ts'

export interface Evidence {
  readonly locks: Locks
  readonly events: readonly Event[]
  readonly log: readonly Transaction[]
  /** The server's wall clock minus the clock of the events, ms. */
  readonly wallClockOffset: number
  /** How long a connected contender may take to notice that it has its turn, ms. */
  readonly patience: number
  /** When requests or replies of sessions were lost or delayed. Default: never. */
  readonly disruptions?: readonly FaultWindow[]
  /**
   * How long a holder may believe that it holds the lock after another client removed its node or session, ms. Does not
   * apply to a holder that lost the lock in any other way.
   */
  readonly grace: number
  /**
   * When holders could not notice the loss of a lock. Default: never. A stopped process notices nothing before it is
   * resumed. A follower that is cut off from its leader still answers pings. Only a resource that rejects old tokens is
   * safe from such holders.
   */
  readonly unaware?: readonly FaultWindow[]
}

/** The start and end of a fault, by the clock of the events. */
export interface FaultWindow {
  from: number
  to: number
  /** The prefix of the ids of the affected attempts. */
  idPrefix: string
}

/** The input of the rules: the evidence, with its events and transactions related to each other. */
export interface IndexedEvidence extends Evidence {
  attempts: readonly Attempt[]
  grants: readonly Grant[]
  tenures: readonly Tenure[]
  /**
   * The tenure of a grant's node. If several nodes had its path, it is the node that the token names. If the token
   * names none, it is the last one that the holder can have known.
   */
  tenureOf: ReadonlyMap<Grant, Tenure>
  /** The last transaction that the holder's session knew of at a grant: from a reply, or from an event. */
  knownAt: (grant: Grant) => bigint
  /** Grants whose node or session another client removed. */
  removedByOthers: ReadonlySet<Grant>
}

export function indexed(evidence: Evidence): IndexedEvidence {
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
  const deletions = grouped(
    evidence.log.flatMap(({ zxid, changes }) =>
      changes.flatMap(({ is, path }) => (is === 'deleted' ? [{ zxid, path }] : [])),
    ),
    ({ path }) => path,
  )
  const knownAt = ({ granted: { lastZxid, lastDeletion } }: Grant) => {
    // The watch was set on the node that existed then, so the event belongs to the first deletion since.
    const reported = lastDeletion && deletions.get(lastDeletion.path)?.find(({ zxid }) => zxid > lastDeletion.after)
    return reported !== undefined && reported.zxid > lastZxid ? reported.zxid : lastZxid
  }
  const killed = new Set(evidence.events.flatMap(event => (event.is === 'killed' ? [event.session] : [])))
  const isRemoved = (grant: Grant) => {
    const until = tenureOf.get(grant)?.until
    return killed.has(grant.session) || (until !== undefined && until.by !== grant.session)
  }
  return {
    ...evidence,
    attempts,
    grants,
    tenures,
    tenureOf,
    knownAt,
    removedByOthers: new Set(grants.filter(isRemoved)),
  }
}
