// How servers agree on a leader: which vote wins, and when a majority agrees (FastLeaderElection). Without messages and
// timers, which election.ts has.

/** A server that is proposed as the leader, and how much it has logged. */
export interface Vote {
  /** The number of the server. */
  readonly leader: number
  /** The last transaction in its log. */
  readonly zxid: bigint
  /** The epoch of the leader that it led or followed last. */
  readonly peerEpoch: number
}

/** What a server sends to the others in an election, or answers when it is asked which server leads. */
export interface Notification extends Vote {
  /** The number of the election. A server takes part in one at a time. */
  readonly electionEpoch: number
  readonly state: 'looking' | 'following' | 'leading'
}

/** What a server that looks for a leader knows. */
export interface Ballot {
  readonly electionEpoch: number
  /** The vote for itself. */
  readonly own: Vote
  /** The best vote so far. */
  readonly vote: Vote
  /** The last notification of each other voter that counts: of this election, or of one that has ended. */
  readonly received: ReadonlyMap<number, Notification>
}

/**
 * Returns true if the first vote wins: the later epoch, or else the longer log, or else the greater number.
 * @param preferredLeader the number that counts as the greatest
 */
export function beats(a: Vote, b: Vote, preferredLeader?: number): boolean {
  if (a.peerEpoch !== b.peerEpoch) return a.peerEpoch > b.peerEpoch
  if (a.zxid !== b.zxid) return a.zxid > b.zxid
  const rank = ({ leader }: Vote) => (leader === preferredLeader ? Infinity : leader)
  return rank(a) > rank(b)
}

/**
 * Returns the ballot after a notification of a voter, and which servers must get the vote.
 * @param from the number of the voter
 */
export function counted(
  ballot: Ballot,
  from: number,
  notification: Notification,
  preferredLeader?: number,
): { ballot: Ballot; tell: 'all' | 'sender' | 'none' } {
  const { electionEpoch, own, vote, received } = ballot
  const { state, electionEpoch: theirs } = notification
  if (state !== 'looking') return { ballot: withNotification(ballot, from, notification), tell: 'none' }
  if (theirs < electionEpoch) return { ballot, tell: 'sender' }
  const isNew = theirs > electionEpoch
  const best = isNew ? own : vote
  const next = beats(notification, best, preferredLeader) ? voteOf(notification) : best
  const kept = isNew ? new Map([...received].filter(([, each]) => each.state !== 'looking')) : received
  const after = withNotification({ electionEpoch: theirs, own, vote: next, received: kept }, from, notification)
  if (isNew || next !== best) return { ballot: after, tell: 'all' }
  return { ballot: after, tell: isSame(notification, next) ? 'none' : 'sender' }
}

/**
 * Returns the server that a majority agrees on.
 * @param me the number of this server; undefined if it has no vote
 * @returns `isSettled` is true if that server leads already. Otherwise a better vote may be on its way.
 */
export function outcomeOf(
  { electionEpoch, vote, received }: Ballot,
  me: number | undefined,
  majority: number,
): { vote: Vote; electionEpoch: number; isSettled: boolean } | undefined {
  for (const leader of received.values()) {
    if (leader.state !== 'leading') continue
    const others = [...received.values()].filter(each => each.state === 'following')
    // Not by the number of the election: a server may have joined in another one (ZOOKEEPER-1732, ZOOKEEPER-1805).
    const followers = others.filter(each => each.leader === leader.leader && each.peerEpoch === leader.peerEpoch)
    if (leader.leader !== me && followers.length + 1 >= majority)
      return { vote: voteOf(leader), electionEpoch: leader.electionEpoch, isSettled: true }
  }
  const votes = [...received.values()].filter(each => each.electionEpoch === electionEpoch && isSame(each, vote))
  const count = votes.length + (me === undefined ? 0 : 1)
  return count >= majority ? { vote, electionEpoch, isSettled: false } : undefined
}

const withNotification = (ballot: Ballot, from: number, notification: Notification): Ballot => ({
  ...ballot,
  received: new Map([...ballot.received, [from, notification]]),
})

const voteOf = ({ leader, zxid, peerEpoch }: Vote): Vote => ({ leader, zxid, peerEpoch })

const isSame = (a: Vote, b: Vote): boolean => a.leader === b.leader && a.zxid === b.zxid && a.peerEpoch === b.peerEpoch
