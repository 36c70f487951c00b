// Elections of an embedded ensemble as messages, and how a server catches up with its leader, in virtual time.
import { expect } from 'chai'
import { INIT_LIMIT } from '../../src/server/ensemble/leading.ts'
import type { Member, MemberMessage } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { ELECTION, TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

/** How long a message takes, if each server lags by half of it, in milliseconds. */
const WAY = 10

describe('an election in an embedded ensemble', () => {
  let ensemble: VirtualEnsemble
  let messages: MemberMessage[]

  const start = async (options = {}) => {
    messages = []
    ensemble = await VirtualEnsemble.start({ onMessage: (each: MemberMessage) => messages.push(each), ...options })
    messages.length = 0
  }

  const kindsBetween = (a: number, b: number) =>
    messages
      .filter(({ kind, from, to }) => kind !== 'vote' && [a, b].includes(from) && [a, b].includes(to))
      .map(({ kind, from }) => `${kind} of ${from}`)
      .filter(each => !/^p[io]ng/.test(each))

  afterEach(() => ensemble.close())

  it('takes as long as its messages: votes, the wait for a better one, the epoch, the log', async () => {
    await start()
    const { server } = ensemble
    for (const each of server.members) each.lag(WAY / 2)
    const old = ensemble.leader
    // Two votes, because the first server changes its own; then the wait of the winner.
    const took = await ensemble.duration(server.elect())
    expect(ensemble.leader).to.equal(old)
    // followerInfo, leaderInfo, ackEpoch, newLeader, ack
    expect(took).to.be.within(ELECTION + 6 * WAY, ELECTION + 8 * WAY)
    await ensemble.clock.advance(2 * WAY)
    const [follower] = ensemble.others
    expect(kindsBetween(old.id, follower.id)).to.deep.equal([
      `followerInfo of ${follower.id}`,
      `leaderInfo of ${old.id}`,
      `ackEpoch of ${follower.id}`,
      `diff of ${old.id}`,
      `newLeader of ${old.id}`,
      `ack of ${follower.id}`,
      `upToDate of ${old.id}`,
    ])
    const votes = messages.filter(each => each.kind === 'vote')
    expect(votes.filter(({ from, leader }) => from === 1 && leader === 1)).to.have.length(2)
    expect(votes.some(({ from, leader }) => from === 1 && leader === 3)).to.equal(true)
  })

  it('begins at one for a server that starts again, and the others answer with the epoch of their leader', async () => {
    await start()
    const { server, clock } = ensemble
    await ensemble.leader.stop()
    await clock.advance(ELECTION)
    const [again] = ensemble.others.filter(({ mode }) => mode === 'stopped') as [Member]
    await again.start()
    await clock.advance(ELECTION)
    const [other] = ensemble.others.filter(each => each !== again) as [Member]
    await other.stop()
    await clock.advance(TICK)
    messages.length = 0
    await other.start()
    await clock.advance(ELECTION)
    expect(other.mode).to.equal('follower')
    const votes = messages.flatMap(each => (each.kind === 'vote' ? [each] : []))
    const own = votes.filter(({ from }) => from === other.id).map(({ electionEpoch }) => electionEpoch)
    expect(own[0]).to.equal(1)
    const answers = votes.filter(({ to, state }) => to === other.id && state !== 'looking')
    expect(new Set(answers.map(({ peerEpoch }) => peerEpoch))).to.deep.equal(new Set([server.leader?.epoch]))
    expect(answers.map(({ state }) => state)).to.have.members(['leading', 'following'])
  })

  it('has no end for a server that is paused before its wait for a better vote has ended', async () => {
    await start()
    const { server, clock } = ensemble
    const [slow] = ensemble.others
    void server.elect()
    await clock.advance(ELECTION / 2)
    slow.pause()
    messages.length = 0
    await clock.advance(2 * ELECTION)
    expect(messages.filter(({ from }) => from === slow.id)).to.deep.equal([])
    slow.resume()
    await clock.advance(TICK)
    expect([slow.mode, ensemble.modes.filter(mode => mode === 'leader')]).to.deep.equal(['follower', ['leader']])
  })

  it('waits again when a better vote has arrived during the wait', async () => {
    await start()
    const { server, clock } = ensemble
    const [first, second, third] = server.members as readonly [Member, Member, Member]
    // Its vote arrives when the others, which agree on the second server, have nearly waited long enough.
    third.lag(ELECTION - WAY)
    void server.elect(third)
    await clock.advance(2 * (ELECTION - WAY))
    const followed = () => messages.flatMap(({ kind, from, to }) => (kind === 'followerInfo' ? [`${from} ${to}`] : []))
    expect(followed()).to.deep.equal([])
    await clock.advance(WAY)
    expect(followed()).to.have.members([first, second].map(({ id }) => `${id} ${third.id}`))
  })

  it('is lost by a server with a shorter log, although its number is greater, and keeps what a majority has', async () => {
    await start()
    const { server } = ensemble
    await ensemble.until(server.elect(server.members[0]))
    const [first, second, third] = server.members
    const client = await ensemble.openAt([ensemble.leader])
    third?.lag(4 * TICK)
    await client.create('/a')
    await client.create('/b')
    await first?.stop()
    third?.lag(0)
    await ensemble.clock.advance(ELECTION)
    expect(server.leader).to.equal(second)
    const created = [...(second?.snapshot().nodes.keys() ?? [])]
    expect(created).to.include.members(['/a', '/b'])
    expect(third?.snapshot().nodes).to.deep.equal(second?.snapshot().nodes)
    expect(kindsBetween(2, 3)).to.include('diff of 2')
    expect(kindsBetween(2, 3)).not.to.include('trunc of 2')
  })

  it('cannot be won by a favourite with a shorter log', async () => {
    await start()
    const { server } = ensemble
    const [slow] = ensemble.others
    const client = await ensemble.openAt([ensemble.leader])
    slow.lag(4 * TICK)
    await client.create('/a')
    const electing = server.elect(slow)
    slow.lag(0)
    await ensemble.until(electing)
    expect(server.leader).not.to.equal(slow)
    await ensemble.clock.advance(ELECTION)
    expect(slow.snapshot().nodes.has('/a')).to.equal(true)
  })

  it('makes the old leader remove from its log what only it had', async () => {
    await start()
    const { server, clock } = ensemble
    const old = ensemble.leader
    const [first, second] = ensemble.others
    const client = await ensemble.openAt([old], { sessionTimeout: 20_000 })
    await client.create('/kept')
    old.cutOff()
    const lost = failureOf(client.create('/lost'))
    await clock.advance(UNAWARE + 2 * TICK)
    const other = await ensemble.openAt([first, second])
    await other.create('/new')
    expect(await ensemble.until(lost)).to.have.property('code', 'CONNECTIONLOSS')
    messages.length = 0
    old.heal()
    await ensemble.quiet()
    const { leader } = server
    expect(old.mode).to.equal('follower')
    expect(kindsBetween(leader?.id ?? 0, old.id)).to.include(`trunc of ${leader?.id}`)
    expect([...old.snapshot().nodes.keys()]).to.include.members(['/kept', '/new'])
    expect(old.snapshot().nodes.has('/lost')).to.equal(false)
    expect(old.snapshot().nodes).to.deep.equal(leader?.snapshot().nodes)
    await ensemble.until(other.create('/lost'))
    expect(old.snapshot().nodes.has('/lost')).to.equal(true)
  })

  for (const [writes, kind, commitLogCount] of [
    [20, 'diff', undefined],
    [10, 'diff', 10],
    [30, 'snap', 10],
    [1100, 'snap', undefined],
  ] as const)
    it(`brings a server that lacks ${writes} transactions up to date by a ${kind} if ${commitLogCount ?? 500} are kept, before it serves clients`, async () => {
      await start({ commitLogCount })
      const [away, other] = ensemble.others
      const client = await ensemble.openAt([ensemble.leader])
      const owner = await ensemble.openAt([other])
      await owner.create('/mine', '', { mode: 'ephemeral' })
      await away.stop()
      await ensemble.until(Promise.all(Array.from({ length: writes }, (_, i) => client.setData('/', `${i}`))))
      messages.length = 0
      await away.start()
      expect(away.mode).to.equal('follower')
      const sent = messages.filter(({ to }) => to === away.id)
      expect(sent.some(each => each.kind === 'snap')).to.equal(kind === 'snap')
      const diff = sent.find(each => each.kind === 'diff')
      expect(diff?.transactions).to.have.length(kind === 'snap' ? 0 : writes)
      expect(away.snapshot().nodes).to.deep.equal(ensemble.leader.snapshot().nodes)
      expect(await (await ensemble.openAt([away])).exists('/mine')).not.to.equal(null)
      await owner.close()
      expect(away.snapshot().nodes.has('/mine')).to.equal(false)
    })

  it('gives up a server that cannot reach a majority, and has no leader meanwhile', async () => {
    await start()
    const { server, clock } = ensemble
    const [first, second, third] = server.members
    await third?.stop()
    // The votes have passed, and what follows them does not.
    await clock.advance(ELECTION - 1)
    first?.cutOff()
    await clock.advance(3 * TICK)
    expect(server.leader).to.equal(undefined)
    expect([first?.mode, second?.mode]).to.deep.equal(['looking', 'looking'])
    await clock.advance(20 * TICK)
    first?.heal()
    await clock.advance(ELECTION)
    expect(server.leader).to.equal(second)
  })

  // A server that starts while others wait for a better vote begins another election, and some may be elected by both.
  for (const [servers, observers] of [
    [3, 0],
    [3, 1],
    [5, 0],
  ] as const)
    it(`has each of ${servers} servers and ${observers} observers again, however they have started`, async () => {
      const waits = [0, ELECTION / 2, ELECTION - 1, ELECTION, 2 * TICK]
      for (const [first, second] of waits.flatMap(a => waits.map(b => [a, b] as const))) {
        await start({ servers, observers })
        const { server, clock } = ensemble
        await server.stop()
        for (const [i, member] of server.members.entries()) {
          void member.start()
          await clock.advance(i % 2 === 0 ? first : second)
        }
        await clock.advance(UNAWARE)
        for (const member of [...server.members, ...server.members]) {
          await member.stop()
          await clock.advance(ELECTION + TICK)
          await member.start()
          await clock.advance(ELECTION + TICK)
          expect(ensemble.modes, `member ${member.id}, ${first} ms, ${second} ms`).not.to.include('looking')
        }
        await ensemble.close()
      }
    })
})

/** What happens to one server. Each lasts until it is undone, or is over at once. */
const disturbances: Readonly<Record<string, (member: Member) => unknown>> = {
  'is stopped': member => member.stop(),
  'is stopped and started': member => Promise.all([member.stop(), member.start()]),
  'is cut off': member => member.cutOff(),
  'is cut off and healed': member => {
    member.cutOff()
    member.heal()
  },
  'is paused': member => member.pause(),
  'is paused and resumed': member => {
    member.pause()
    member.resume()
  },
}

/** In the exchange of votes, at the end of the wait for a better one, and at each message to the new leader and from it. */
const MOMENTS = [0, 1, 2, 3, 5, ...Array.from({ length: 14 }, (_, i) => ELECTION / (WAY / 2) + i)].map(
  i => i * (WAY / 2),
)

describe('an election in an embedded ensemble is over soon', () => {
  for (const [what, disturb] of Object.entries(disturbances))
    for (const which of ['favourite', 'other voter', 'observer'] as const) {
      const lasts = !/started$|healed$|resumed$/.test(what)
      // A server that others have elected, and then do not reach, is waited for.
      const isAwaited = which === 'favourite' && /(stopped and started|off|paused)$/.test(what)
      const ms = (isAwaited ? INIT_LIMIT * UNAWARE : 0) + 2 * TICK
      it(`if the ${which} ${what}, at whatever moment, and then all servers serve again`, async () => {
        await using ensemble = await VirtualEnsemble.start({ observers: 1 })
        const { server, clock } = ensemble
        for (const member of server.members) member.lag(WAY / 2)
        const modes = (but?: Member) => server.members.filter(each => each !== but).map(({ mode }) => mode)
        const whole = ['follower', 'follower', 'leader', 'observer']
        for (const moment of isAwaited ? MOMENTS.filter((_, i) => i % 3 === 0) : MOMENTS) {
          const [favourite, voter] = ensemble.others
          const target = { favourite, 'other voter': voter, observer: server.members[3] as Member }[which]
          void server.elect(favourite)
          await clock.advance(moment)
          await disturb(target)
          await clock.advance(ms)
          if (lasts) {
            const others = whole.toSpliced(whole.indexOf(which === 'observer' ? 'observer' : 'follower'), 1)
            expect(modes(target), `after ${moment} ms`).to.have.members(others)
            await target.start()
            target.heal()
            target.resume()
            await clock.advance(TICK)
          }
          expect(modes(), `after ${moment} ms`).to.have.members(whole)
        }
      })
    }
})
