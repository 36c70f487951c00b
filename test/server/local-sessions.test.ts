// Sessions that only one server of an embedded ensemble knows, in virtual time.
import { expect } from 'chai'
import type { Client, State } from '../../src/index.ts'
import type { MemberMessage } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { ELECTION, TICK, VirtualEnsemble } from '../support/virtual-ensemble.ts'

const sessionOf = (client: Client) => ({ id: client.sessionId, password: client.sessionPassword })

describe('a local session of an embedded ensemble', () => {
  let ensemble: VirtualEnsemble
  const messages: MemberMessage[] = []
  const kinds = () => messages.map(({ kind }) => kind).filter(kind => !/^p[io]ng$/.test(kind))
  const ids = () => ensemble.server.snapshot().sessions.map(({ id }) => id)

  beforeEach(async () => {
    const onMessage = (each: MemberMessage) => messages.push(each)
    ensemble = await VirtualEnsemble.start({ localSessions: true, onMessage })
    messages.length = 0
  })
  afterEach(() => ensemble.close())

  it('is opened, kept and closed without the leader, and reads and writes', async () => {
    const [follower] = ensemble.others
    const client = await ensemble.openAt([follower], { sessionTimeout: 4000 })
    await client.exists('/')
    expect([kinds(), ids()]).to.deep.equal([[], []])
    await ensemble.clock.advance(60_000)
    await client.create('/a')
    await ensemble.quiet()
    expect(await client.exists('/a')).not.to.equal(null)
    expect(ids()).to.deep.equal([])
    messages.length = 0
    await client.close()
    expect(kinds()).to.deep.equal([])
  })

  it('ends at its server when its client is silent, and when the client moves to another server', async () => {
    const [follower, other] = ensemble.others
    const client = await ensemble.openAt([follower], { sessionTimeout: 4000 })
    const states: State[] = []
    client.on('state', state => states.push(state))
    const moved = failureOf(ensemble.openAt([other], { session: sessionOf(client) }))
    expect(await ensemble.until(moved)).to.have.property('code', 'SESSIONEXPIRED')
    expect(states).to.deep.equal([])
    follower.faults.ignore('ping', { times: Infinity })
    follower.faults.ignore('connect', { session: client.sessionId, times: 1 })
    follower.dropConnections()
    await ensemble.clock.advance(2 * TICK)
    expect(client.state).to.equal('connected')
    follower.faults.ignore('connect', { session: client.sessionId, times: Infinity })
    follower.dropConnections()
    await ensemble.clock.advance(4000 + 2 * TICK)
    follower.faults.clear()
    await ensemble.until(new Promise<void>(resolve => void client.on('state', s => s === 'expired' && resolve())))
  })

  it('ends when its server loses the leader, also if the same one leads again', async () => {
    const clients = await Promise.all(ensemble.server.members.map(each => ensemble.connectAt([each])))
    await ensemble.until(ensemble.server.elect(ensemble.leader))
    await ensemble.clock.advance(ELECTION + TICK)
    expect(clients.map(({ state }) => state)).to.deep.equal(['expired', 'expired', 'expired'])
  })

  for (const [how, create] of [
    ['create', (client: Client) => client.create('/mine', '', { mode: 'ephemeral' })],
    ['multi', (client: Client) => client.multi([{ create: '/mine', mode: 'ephemeral' }])],
  ] as const)
    it(`becomes one of all servers by the first ephemeral node, in a ${how}, and can move then`, async () => {
      const [follower, other] = ensemble.others
      const client = await ensemble.openAt([follower])
      // Requests that were sent together keep their order.
      await Promise.all([client.create('/before'), create(client), client.create('/after')])
      expect(kinds().filter(kind => kind === 'createSession')).to.have.length(1)
      expect(ids()).to.deep.equal([client.sessionId])
      expect((await client.exists('/mine'))?.ephemeralOwner).to.equal(client.sessionId)
      // From now on its requests keep it alive at the leader.
      await ensemble.clock.advance(6 * client.sessionTimeout)
      expect([client.state, ids()]).to.deep.equal(['connected', [client.sessionId]])
      const moved = await ensemble.openAt([other], { session: sessionOf(client) })
      await moved.sync('/')
      expect(await moved.exists('/mine')).not.to.equal(null)
      await ensemble.until(ensemble.server.elect())
      await ensemble.clock.advance(ELECTION)
      await ensemble.until(moved.retry(() => moved.exists('/mine')))
      await moved.close()
      expect(ensemble.leader.snapshot().nodes.has('/mine')).to.equal(false)
    })
})
