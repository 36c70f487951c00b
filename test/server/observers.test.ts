// Observers of an embedded ensemble, in virtual time.
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { Server, type MemberMessage } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { ELECTION, TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

describe('an observer of an embedded ensemble', () => {
  let ensemble: VirtualEnsemble
  const messages: MemberMessage[] = []

  beforeEach(async () => {
    ensemble = await VirtualEnsemble.start({ observers: 2, onMessage: (each: MemberMessage) => messages.push(each) })
    messages.length = 0
  })
  afterEach(() => ensemble.close())

  const observer = () => ensemble.server.members[3] as (typeof ensemble.server.members)[number]

  it('serves reads and writes of its clients, and gets what is committed as `inform`', async () => {
    expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader', 'observer', 'observer'])
    const client = await ensemble.openAt([observer()])
    expect(client.sessionId >> 56n).to.equal(4n)
    const fired = new Promise<string>(resolve => void client.exists('/x', { watch: ({ type }) => resolve(type) }))
    await client.create('/x', '', { mode: 'ephemeral' })
    expect(await fired).to.equal('NodeCreated')
    expect(await failureOf(client.create('/x'))).to.have.property('code', 'NODEEXISTS')
    const sent = messages.filter(({ to, from }) => to === 4 || from === 4).map(({ kind }) => kind)
    expect(sent).to.include('inform').and.not.to.include('proposal').and.not.to.include('ack')
    const [first, ...others] = ensemble.server.members.map(each => each.snapshot().nodes)
    for (const each of others) expect(each).to.deep.equal(first)
  })

  it('gets with each transaction the server of the client that caused it, and none with an expiry', async () => {
    const client = await ensemble.openAt([observer()])
    await client.create('/x')
    ensemble.server.expireSession(client.sessionId)
    await ensemble.clock.advance(TICK)
    const told = messages.flatMap(each =>
      each.kind === 'inform' && each.to === 4 ? [[each.transaction.opcode, each.transaction.server]] : [],
    )
    expect(told).to.deep.equal([
      [opcodes.createSession, 4],
      [opcodes.create2, 4],
      [opcodes.closeSession, 0],
    ])
  })

  it('has no vote: writes do not wait for it, and a majority is one of the others', async () => {
    const { server, clock } = ensemble
    const client = await ensemble.openAt([ensemble.leader], { sessionTimeout: 20_000 })
    for (const each of server.members.slice(3)) each.cutOff()
    await client.create('/without-observers')
    for (const each of server.members.slice(3)) each.heal()
    expect(observer().snapshot().nodes.has('/without-observers')).to.equal(true)
    const [first, second] = ensemble.others
    first.cutOff()
    second.cutOff()
    const waiting = failureOf(client.create('/no-majority'))
    await clock.advance(UNAWARE + 2 * TICK)
    expect(ensemble.modes).to.deep.equal(['looking', 'looking', 'looking', 'looking', 'looking'])
    expect(await ensemble.until(waiting)).to.have.property('fate', 'unknown')
    server.heal()
    await clock.advance(ELECTION + TICK)
    expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader', 'observer', 'observer'])
  })

  it('follows the next leader, and catches up when it starts again', async () => {
    const { server, clock } = ensemble
    const client = await ensemble.openAt(server.members.slice(0, 2), { sessionTimeout: 20_000 })
    await observer().stop()
    await client.create('/meanwhile')
    await ensemble.leader.stop()
    await clock.advance(ELECTION)
    expect(ensemble.modes).to.deep.equal(['follower', 'leader', 'stopped', 'stopped', 'observer'])
    await observer().start()
    expect(observer().mode).to.equal('observer')
    expect(observer().snapshot().nodes.has('/meanwhile')).to.equal(true)
    await ensemble.until(client.retry(() => client.create('/later')))
    expect(observer().snapshot().nodes.has('/later')).to.equal(true)
  })

  it('gets no write that is not committed when it starts to follow, and makes each change once', async () => {
    const { server, clock } = ensemble
    const client = await ensemble.openAt([ensemble.leader], { sessionTimeout: 20_000 })
    await observer().stop()
    observer().lag(50)
    await observer().start()
    const toldOf = (kind: string) => messages.filter(each => each.kind === kind && [each.from, each.to].includes(4))
    while (toldOf('ackEpoch').length === 0) await clock.advance(10)
    const [first, second] = ensemble.others
    first.cutOff()
    second.cutOff()
    const writing = client.setData('/', 'new')
    await clock.advance(50)
    expect(toldOf('diff')).to.have.nested.property('[0].transactions').with.lengthOf(0)
    server.heal()
    await ensemble.until(writing)
    await clock.advance(TICK)
    expect(observer().mode).to.equal('observer')
    expect(observer().snapshot().nodes).to.deep.equal(ensemble.leader.snapshot().nodes)
  })

  it('gets a vote only as the answer to its own, and sends none to another observer', async () => {
    await ensemble.leader.stop()
    await ensemble.clock.advance(ELECTION)
    expect(ensemble.modes).to.deep.equal(['follower', 'leader', 'stopped', 'observer', 'observer'])
    const votes = messages.filter(({ kind }) => kind === 'vote').map(({ from, to }) => `${from} to ${to}`)
    for (const each of [4, 5])
      for (const voter of [1, 2]) {
        const [asked, answered] = [`${each} to ${voter}`, `${voter} to ${each}`]
        expect(votes.indexOf(asked)).to.be.within(0, votes.indexOf(answered))
        expect(votes.filter(vote => vote === answered).length, answered).to.be.at.most(
          votes.filter(vote => vote === asked).length,
        )
      }
    expect(votes).to.not.include('4 to 5').and.not.include('5 to 4')
  })

  it('needs an ensemble of two servers or more', async () => {
    const problem = await failureOf(Server.start({ observers: 1, listen: false }))
    expect(problem).to.have.property('message').that.contains('a single server has no observers')
  })
})
