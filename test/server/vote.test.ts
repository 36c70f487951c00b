// The rules of an election, without servers: any order of the notifications leads to the same leader.
import { expect } from 'chai'
import fc from 'fast-check'
import { beats, counted, outcomeOf, type Ballot, type Notification, type Vote } from '../../src/server/ensemble/vote.ts'

interface Mail {
  from: number
  to: number
  notification: Notification
}

/** Servers that vote, and their notifications on the way: in order between two of them, otherwise in any order. */
class Servers {
  readonly ballots = new Map<number, Ballot>()
  readonly #mail: Mail[] = []

  /** @param rounds the election in which each server begins */
  constructor(votes: readonly Vote[], rounds: readonly number[]) {
    for (const [i, own] of votes.entries())
      this.ballots.set(own.leader, { electionEpoch: rounds[i] ?? 1, own, vote: own, received: new Map() })
    for (const id of this.ballots.keys()) this.#tellAll(id)
  }

  get isDone(): boolean {
    return this.#mail.length === 0
  }

  /** Delivers one of the notifications that are first on their way. */
  deliver(choice: number): void {
    const first = this.#mail.filter(
      (each, i) => this.#mail.findIndex(({ from, to }) => from === each.from && to === each.to) === i,
    )
    const mail = first[choice % first.length] as Mail
    this.#mail.splice(this.#mail.indexOf(mail), 1)
    const { ballot, tell } = counted(this.#of(mail.to), mail.from, mail.notification)
    this.ballots.set(mail.to, ballot)
    if (tell === 'all') this.#tellAll(mail.to)
    if (tell === 'sender') this.#tell(mail.to, mail.from)
  }

  outcome(id: number, majority: number): Vote | undefined {
    return outcomeOf(this.#of(id), id, majority)?.vote
  }

  #of(id: number): Ballot {
    return this.ballots.get(id) as Ballot
  }

  #tellAll(from: number): void {
    for (const to of this.ballots.keys()) if (to !== from) this.#tell(from, to)
  }

  #tell(from: number, to: number): void {
    const { vote, electionEpoch } = this.#of(from)
    this.#mail.push({ from, to, notification: { ...vote, electionEpoch, state: 'looking' } })
  }
}

/** The votes of five servers for themselves, of which those that are absent take no part. */
const arbitraryVotes = fc
  .array(fc.record({ peerEpoch: fc.nat(2), zxid: fc.bigInt(0n, 3n), isAbsent: fc.boolean() }), {
    ...{ minLength: 5, maxLength: 5 },
  })
  .map(all => all.flatMap(({ peerEpoch, zxid, isAbsent }, i) => (isAbsent ? [] : [{ leader: i + 1, peerEpoch, zxid }])))

const MAJORITY = 3

const isLonger = (a: Vote, b: Vote) => (a.peerEpoch === b.peerEpoch ? a.zxid > b.zxid : a.peerEpoch > b.peerEpoch)

describe('the vote of a server', () => {
  it('prefers the later epoch, then the longer log, then the greater number', () => {
    const vote = { leader: 1, zxid: 5n, peerEpoch: 2 }
    expect(beats({ leader: 1, zxid: 1n, peerEpoch: 3 }, vote)).to.equal(true)
    expect(beats({ leader: 9, zxid: 4n, peerEpoch: 2 }, vote)).to.equal(false)
    expect(beats({ leader: 2, zxid: 5n, peerEpoch: 2 }, vote)).to.equal(true)
    expect(beats(vote, vote)).to.equal(false)
    expect(beats({ leader: 2, zxid: 5n, peerEpoch: 2 }, vote, 1)).to.equal(false)
    expect(beats({ leader: 9, zxid: 6n, peerEpoch: 2 }, vote, 1), 'a favourite with a shorter log').to.equal(true)
  })

  it('ends with one leader, which has the longest log of those that vote, in whatever order they hear of each other', () => {
    fc.assert(
      fc.property(
        arbitraryVotes,
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }),
        fc.infiniteStream(fc.nat(30)),
        (votes, rounds, choices) => {
          const servers = new Servers(votes, rounds)
          while (!servers.isDone) {
            servers.deliver(choices.next().value as number)
            for (const { leader } of votes) {
              const outcome = servers.outcome(leader, MAJORITY)
              // A majority that might have committed more than the leader has would lose it.
              const shorter = outcome === undefined ? votes : votes.filter(each => !isLonger(each, outcome))
              if (outcome !== undefined) expect(shorter.length).to.be.at.least(MAJORITY)
            }
          }
          const best = votes.reduce<Vote | undefined>((a, b) => (a !== undefined && beats(a, b) ? a : b), undefined)
          const outcomes = votes.map(({ leader }) => servers.outcome(leader, MAJORITY))
          expect(outcomes).to.deep.equal(votes.map(() => (votes.length >= MAJORITY ? best : undefined)))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is for the leader of those that have one, if a majority and the leader itself say so', () => {
    const own = { leader: 5, zxid: 9n, peerEpoch: 1 }
    const ballot: Ballot = { electionEpoch: 7, own, vote: own, received: new Map() }
    const leader = { leader: 1, zxid: 2n, peerEpoch: 2, electionEpoch: 3 }
    const after = [1, 2, 3].reduce<Ballot[]>(
      (all, id) => [
        ...all,
        counted(all.at(-1) ?? ballot, id, { ...leader, state: id === 1 ? 'leading' : 'following' }).ballot,
      ],
      [],
    )
    expect(after.map(each => outcomeOf(each, 5, 3)?.isSettled)).to.deep.equal([undefined, undefined, true])
    const withoutLeader = counted(ballot, 2, { ...leader, state: 'following' }).ballot
    const another = counted(withoutLeader, 3, { ...leader, state: 'following' }).ballot
    expect(outcomeOf(counted(another, 4, { ...leader, state: 'following' }).ballot, 5, 3)).to.equal(undefined)
  })
})
