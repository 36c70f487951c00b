// Servers of an embedded ensemble that are cut off, paused or stopped, and elections, in virtual time.
import { expect } from 'chai'
import { supervise, type Client, type State } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { ConnectRequest } from '../../src/protocol/index.ts'
import type { Member } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { frameOf } from '../support/scripted-server.ts'
import { abortOf, failureOf, trackSettled } from '../support/settled.ts'
import { ELECTION, TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

const text = async (client: Client, path: string) => (await client.getData(path)).data?.toString()

describe('an embedded ensemble that fails', () => {
  let ensemble: VirtualEnsemble

  const start = async (options = {}) => (ensemble = await VirtualEnsemble.start(options))

  afterEach(() => ensemble.close())

  describe('with a follower that is cut off', () => {
    it('answers pings and reads for syncLimit ticks, then closes its connections and refuses new ones', async () => {
      await start()
      const [lonely, other] = ensemble.others
      const client = await ensemble.openAt([lonely], { sessionTimeout: 20_000 })
      const elsewhere = await ensemble.openAt([other])
      await client.create('/x', 'old')
      const states: [State, number][] = []
      const cutAt = ensemble.clock.now()
      client.on('state', state => states.push([state, ensemble.clock.now() - cutAt]))
      lonely.cutOff()
      await elsewhere.setData('/x', 'new')
      await ensemble.clock.advance(UNAWARE - 1)
      expect(await text(client, '/x')).to.equal('old')
      expect(states).to.deep.equal([])
      expect(lonely.mode).to.equal('follower')
      await ensemble.clock.advance(TICK)
      expect(states.map(([state]) => state)).to.deep.equal(['suspended'])
      expect(states[0]?.[1]).to.be.within(UNAWARE - TICK, UNAWARE)
      expect(lonely.mode).to.equal('looking')
      const refused = failureOf(ensemble.openAt([lonely], { connectTimeout: 1000 }))
      expect(await ensemble.until(refused)).to.have.property('code', 'CONNECTTIMEOUT')
      lonely.heal()
      await ensemble.until(client.retry(() => client.exists('/x')))
      expect(await text(client, '/x')).to.equal('new')
    })

    it('leads on for some ticks when its one follower stops behind a cut, because the end of the connection is lost', async () => {
      await start()
      const { leader } = ensemble
      const [lonely, other] = ensemble.others
      await other.stop()
      lonely.cutOff()
      await lonely.stop()
      await ensemble.clock.advance(TICK)
      expect(leader.mode).to.equal('leader')
      await ensemble.clock.advance(UNAWARE)
      expect(leader.mode).to.equal('looking')
    })

    it('delays its writes, syncs and new sessions until the cut ends, if it ends before that', async () => {
      await start()
      const [lonely, other] = ensemble.others
      const client = await ensemble.openAt([lonely], { sessionTimeout: 20_000 })
      const elsewhere = await ensemble.openAt([other])
      lonely.cutOff()
      const calls = [client.create('/x'), client.sync('/')]
      const isDone = trackSettled(Promise.race(calls))
      const opening = ensemble.openAt([lonely])
      await ensemble.quiet()
      expect(isDone()).to.equal(false)
      expect(await elsewhere.exists('/x')).to.equal(null)
      lonely.heal()
      await Promise.all(calls)
      expect(await elsewhere.exists('/x')).not.to.equal(null)
      expect((await opening).state).to.equal('connected')
    })

    it('keeps the session of a client that moves to another server in time', async () => {
      await start()
      const [lonely, other] = ensemble.others
      const client = await ensemble.openAt([lonely, other], { sessionTimeout: 10_000 })
      const { sessionId } = client
      lonely.cutOff()
      await ensemble.clock.advance(UNAWARE + TICK)
      expect(client.state).to.equal('connected')
      expect(client.sessionId).to.equal(sessionId)
      expect(other.snapshot().sessions.map(each => each.isConnected)).to.deep.equal([true])
    })

    it('lets the leader step down at a whole tick only, as ZooKeeper does', async () => {
      const { server, clock } = await start()
      const old = ensemble.leader
      // Half a tick after the last whole one.
      await clock.advance(3 * TICK)
      for (const each of ensemble.others) each.cutOff()
      await clock.advance(UNAWARE + TICK / 4)
      expect(old.mode).to.equal('leader')
      await clock.advance(TICK / 2)
      expect([old.mode, server.leader]).to.deep.equal(['looking', undefined])
    })

    it('lets the leader step down if no majority is left, and serve again after the cuts', async () => {
      const { server } = await start()
      const client = await ensemble.openAt(server.members, { sessionTimeout: 20_000 })
      await client.create('/x')
      for (const each of ensemble.others) each.cutOff()
      await ensemble.clock.advance(UNAWARE + 2 * TICK)
      expect(ensemble.modes).to.deep.equal(['looking', 'looking', 'looking'])
      expect(server.leader).to.equal(undefined)
      expect(client.state).to.equal('suspended')
      expect(server.expireSession(client.sessionId), 'without a leader').to.equal(false)
      for (const each of server.members) each.heal()
      await ensemble.until(client.whenConnected())
      expect(server.leader?.epoch).to.equal(2)
      expect(await client.exists('/x')).not.to.equal(null)
    })
  })

  describe('that is parted into groups', () => {
    it('has a leader in the group that is a majority, and keeps what that one committed when it is healed', async () => {
      const { server, clock } = await start({ servers: 5 })
      const [first, second, third, fourth, fifth] = server.members as [...[Member, Member, Member, Member, Member]]
      expect(server.leader).to.equal(fifth)
      const minor = await ensemble.openAt([fourth], { sessionTimeout: 20_000 })
      const major = await ensemble.openAt([first, second, third], { sessionTimeout: 20_000 })
      await minor.create('/both')
      server.partition([
        [first, second, third],
        [fourth, fifth],
      ])
      expect(server.members.every(({ isCutOff }) => isCutOff)).to.equal(true)
      const lost = failureOf(minor.create('/minor'))
      await clock.advance(UNAWARE + 2 * TICK)
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader', 'looking', 'looking'])
      expect(await ensemble.until(lost)).to.have.property('fate', 'unknown')
      await ensemble.until(major.retry(() => major.create('/major')))
      server.heal()
      await clock.advance(TICK)
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader', 'follower', 'follower'])
      for (const each of [fourth, fifth])
        expect([...each.snapshot().nodes.keys()])
          .to.include.members(['/both', '/major'])
          .and.not.to.include('/minor')
    })

    it('has no leader if no group is a majority, and one server that is named in no group is alone', async () => {
      const { server, clock } = await start()
      const [first, second] = server.members as [Member, Member]
      server.partition([[first, second]])
      await clock.advance(UNAWARE + 2 * TICK)
      expect(ensemble.modes).to.deep.equal(['follower', 'leader', 'looking'])
      server.partition([])
      await clock.advance(UNAWARE + 2 * TICK)
      expect(ensemble.modes).to.deep.equal(['looking', 'looking', 'looking'])
      server.heal()
      await clock.advance(ELECTION)
      // Only the first two were in the last epoch.
      expect(ensemble.modes).to.deep.equal(['follower', 'leader', 'follower'])
    })

    it('rejects groups of a single server, of foreign members, and with a member twice', async () => {
      const { server } = await start()
      const [first] = server.members as [Member]
      expect(() => server.partition([[first], [first]])).to.throw('a member is in two groups')
      await using single = await Server.start({ listen: false })
      expect(() => single.partition([])).to.throw('a single server has no network to others')
      await using other = await Server.start({ listen: false, servers: 3 })
      expect(() => server.partition([other.members])).to.throw('a member is of another server')
      single.heal()
    })
  })

  describe('with a server that is cut off in one direction', () => {
    it('applies what a follower hears that cannot answer, until the leader drops it after syncLimit ticks', async () => {
      const { server } = await start()
      const [mute, other] = ensemble.others
      const client = await ensemble.openAt([mute], { sessionTimeout: 20_000 })
      const elsewhere = await ensemble.openAt([other], { sessionTimeout: 20_000 })
      await elsewhere.create('/x', 'old')
      mute.cutOff('outgoing')
      await elsewhere.setData('/x', 'new')
      expect(await text(client, '/x')).to.equal('new')
      const isDone = trackSettled(client.setData('/x', 'newer').catch(() => undefined))
      await ensemble.clock.advance(UNAWARE - TICK)
      expect([isDone(), mute.mode]).to.deep.equal([false, 'follower'])
      await ensemble.clock.advance(TICK)
      expect([isDone(), mute.mode]).to.deep.equal([true, 'looking'])
      expect(await text(elsewhere, '/x')).to.equal('new')
      await ensemble.clock.advance(10 * TICK)
      expect([mute.mode, server.leader?.epoch]).to.deep.equal(['looking', 1])
      mute.heal()
      expect(mute.isCutOff).to.equal(false)
      await ensemble.clock.advance(ELECTION)
      expect(mute.mode).to.equal('follower')
    })

    it('executes the writes of a follower that hears nothing, which gives up after syncLimit ticks', async () => {
      await start()
      const [deaf, other] = ensemble.others
      const client = await ensemble.openAt([deaf], { sessionTimeout: 20_000 })
      const reader = await ensemble.openAt([deaf], { sessionTimeout: 20_000 })
      const elsewhere = await ensemble.openAt([other], { sessionTimeout: 20_000 })
      deaf.cutOff('incoming')
      const failing = failureOf(client.create('/x'))
      await ensemble.quiet()
      expect(await elsewhere.exists('/x')).not.to.equal(null)
      expect(await reader.exists('/x')).to.equal(null)
      await ensemble.clock.advance(UNAWARE)
      expect(deaf.mode).to.equal('looking')
      expect(await failing).to.have.property('fate', 'unknown')
    })

    for (const direction of ['incoming', 'outgoing'] as const)
      it(`elects another leader if the leader's ${direction} messages are lost, and the old one steps down`, async () => {
        const { server } = await start()
        const old = ensemble.leader
        const client = await ensemble.openAt(server.members, { sessionTimeout: 20_000 })
        await client.create('/x')
        old.cutOff(direction)
        await ensemble.clock.advance(UNAWARE + TICK + ELECTION)
        expect(old.mode).to.equal('looking')
        expect(server.leader?.epoch).to.equal(2)
        await ensemble.until(client.retry(() => client.setData('/x', '')))
        old.heal()
        await ensemble.clock.advance(ELECTION)
        expect(old.mode).to.equal('follower')
      })

    it('drops a follower that was paused for syncLimit ticks, and lets it follow again', async () => {
      await start()
      const [paused] = ensemble.others
      const client = await ensemble.openAt([ensemble.leader])
      paused.pause()
      await ensemble.clock.advance(UNAWARE)
      await client.create('/x')
      const { epoch } = paused
      paused.resume()
      expect(paused.mode).to.equal('follower')
      expect(paused.snapshot().nodes.has('/x')).to.equal(true)
      expect(paused.epoch).to.equal(epoch)
    })

    it('is refused in a direction that does not exist', async () => {
      await start()
      expect(() => ensemble.leader.cutOff('sideways' as 'both')).to.throw('not sideways')
    })
  })

  describe('in an election', () => {
    it('closes all connections, keeps nodes and sessions, and continues with the next epoch', async () => {
      const { server } = await start()
      const [next] = ensemble.others
      const client = await ensemble.openAt(server.members)
      await client.create('/mine', '', { mode: 'ephemeral' })
      const states: State[] = []
      client.on('state', state => states.push(state))
      expect(await ensemble.duration(server.elect(next))).to.equal(ELECTION)
      expect(server.leader).to.equal(next)
      await ensemble.until(client.whenConnected())
      expect(states).to.deep.equal(['suspended', 'connected'])
      const { stat } = await client.create('/after')
      expect(stat.czxid >> 32n).to.equal(2n)
      expect((await client.exists('/mine'))?.ephemeralOwner).to.equal(client.sessionId)
    })

    it('elects the named server once, if it takes part, and otherwise the one with the greatest id', async () => {
      const { server, clock } = await start()
      const [first, second, third] = server.members
      await ensemble.until(server.elect(first))
      expect(server.leader).to.equal(first)
      await first?.stop()
      await clock.advance(ELECTION)
      expect(server.leader).to.equal(third)
      await first?.start()
      await clock.advance(ELECTION)
      await third?.stop()
      await clock.advance(ELECTION)
      expect(server.leader).to.equal(second)
      await third?.start()
      first?.pause()
      await ensemble.until(server.elect(first))
      expect(server.leader).to.equal(third)
    })

    it('elects another leader when the leader is stopped, and lets it follow when it is started', async () => {
      const { server } = await start()
      const old = ensemble.leader
      const client = await ensemble.openAt(server.members)
      await client.create('/x')
      await old.stop()
      expect(old.mode).to.equal('stopped')
      await ensemble.clock.advance(ELECTION)
      expect(ensemble.modes).to.deep.equal(['follower', 'leader', 'stopped'])
      await ensemble.until(client.retry(() => client.setData('/x', 'new')))
      await old.start()
      await ensemble.clock.advance(ELECTION)
      expect(old.mode).to.equal('follower')
      expect(old.snapshot().nodes.get('/x')?.data?.toString()).to.equal('new')
    })

    it('rejects elect() of a single server, of a foreign member, and of one that is closed meanwhile', async () => {
      const { server } = await start()
      const clock = new VirtualClock()
      const single = await Server.start({ listen: false, clock })
      expect(() => single.elect()).to.throw('a single server has no elections')
      expect(single.members).to.deep.equal([])
      const other = await Server.start({ listen: false, clock, servers: 3 })
      expect(() => server.elect(other.members[0])).to.throw('of another server')
      const electing = failureOf(other.elect())
      await other.close()
      expect(await electing).to.be.an('error')
      expect(await failureOf(other.elect()), 'after close()').to.be.an('error')
      expect(await failureOf(other.members[0]?.start() ?? Promise.resolve())).to.have.property('code', 'BADARGUMENTS')
      await single.close()
      expect(clock.pendingTimers).to.equal(0)
    })

    it('loses what only a leader that is cut off has, and restores the sessions that it had ended', async () => {
      const { server } = await start()
      const old = ensemble.leader
      const [first, second] = ensemble.others
      const client = await ensemble.openAt([old], { sessionTimeout: 10_000 })
      const owner = await ensemble.openAt([first, second], { sessionTimeout: 10_000 })
      const transactions: string[] = []
      await owner.create('/kept', '', { mode: 'ephemeral' })
      old.cutOff()
      const lost = failureOf(client.create('/lost'))
      server.expireSession(owner.sessionId)
      await ensemble.quiet()
      expect(old.snapshot().nodes.has('/kept'), 'not committed').to.equal(true)
      await ensemble.until(owner.whenConnected())
      await ensemble.clock.advance(UNAWARE + 2 * TICK)
      expect(old.mode).to.equal('looking')
      expect(server.leader?.epoch).to.equal(2)
      expect(await ensemble.until(lost)).to.have.property('code', 'CONNECTIONLOSS')
      expect(await ensemble.until(owner.retry(() => owner.exists('/kept')))).not.to.equal(null)
      await ensemble.until(owner.retry(() => owner.create('/lost', 'again')))
      old.heal()
      await ensemble.clock.advance(ELECTION)
      expect(old.snapshot().nodes.get('/lost')?.data?.toString()).to.equal('again')
      expect(transactions).to.deep.equal([])
    })

    it('commits what a server of the new majority has logged, though the old leader could not', async () => {
      const { server } = await start()
      const old = ensemble.leader
      const [first, second] = ensemble.others
      const client = await ensemble.openAt([old])
      first.lag(400)
      second.lag(400)
      const failing = failureOf(client.create('/logged'))
      // The proposal has arrived, and its acknowledgement has not.
      await ensemble.clock.advance(500)
      await old.stop()
      for (const each of [first, second]) each.lag(0)
      await ensemble.clock.advance(ELECTION)
      expect(await ensemble.until(failing)).to.have.property('code', 'CONNECTIONLOSS')
      expect(server.snapshot().nodes.has('/logged')).to.equal(true)
      expect(server.leader?.snapshot().nodes.has('/logged')).to.equal(true)
    })

    it('lets a paused leader serve nobody, and follow when it resumes', async () => {
      const { server } = await start()
      const old = ensemble.leader
      const client = await ensemble.openAt(server.members, { sessionTimeout: 20_000 })
      old.pause()
      await ensemble.clock.advance(UNAWARE + TICK + ELECTION)
      expect(server.leader).not.to.equal(old)
      expect(server.leader?.epoch).to.equal(2)
      await ensemble.until(client.retry(() => client.create('/x')))
      old.resume()
      // It checks its followers at each whole tick.
      await ensemble.clock.advance(TICK)
      expect(old.mode).to.equal('follower')
      expect(old.snapshot().nodes.has('/x')).to.equal(true)
    })
  })

  describe('without a majority and with readOnlyMode', () => {
    const isolate = async () => {
      await start({ readOnlyMode: true })
      const [alone, other] = ensemble.others
      const client = await ensemble.openAt([alone], { sessionTimeout: 20_000 })
      await client.create('/kept', 'precious')
      alone.cutOff()
      await ensemble.clock.advance(UNAWARE + 3 * TICK)
      return { alone, other, client }
    }

    /** Sends a handshake and nothing after it. Resolves with the number of bytes received when it is closed. */
    const openSilent = (alone: Member, timeOut: number, sessionId = 0n) =>
      new Promise<number>(resolve => {
        let received = 0
        const request = { protocolVersion: 0, lastZxidSeen: 0n, sessionId, passwd: Buffer.alloc(16), timeOut }
        const transport = alone.dial(alone, {
          opened: () =>
            transport.write(frameOf(writer => ConnectRequest.write(writer, { ...request, readOnly: true }))),
          received: chunk => void (received += chunk.length),
          closed: () => resolve(received),
        })
      })

    it('serves reads after two seconds, and rejects writes with NOTREADONLY', async () => {
      const { alone } = await isolate()
      expect(alone.mode).to.equal('read-only')
      const reader = await ensemble.openAt([alone], { readOnly: true })
      expect(reader.state).to.equal('connectedReadOnly')
      expect(await text(reader, '/kept')).to.equal('precious')
      for (const call of [reader.setData('/kept', ''), reader.create('/new'), reader.delete('/kept'), reader.sync('/')])
        expect(await failureOf(call)).to.have.property('code', 'NOTREADONLY')
    })

    it('accepts neither a client that needs writes nor a session of the ensemble', async () => {
      const { alone, client } = await isolate()
      const refused = failureOf(ensemble.openAt([alone], { connectTimeout: 1000 }))
      expect(await ensemble.until(refused)).to.have.property('code', 'CONNECTTIMEOUT')
      const { sessionId } = client
      expect(client.state).to.equal('suspended')
      expect(await ensemble.until(openSilent(alone, 4000, sessionId)), 'a reply would end the session').to.equal(0)
      alone.heal()
      await ensemble.until(client.whenConnected())
      expect(client.sessionId).to.equal(sessionId)
    })

    it('closes its connections when it follows a leader again', async () => {
      const { alone } = await isolate()
      const reader = await ensemble.openAt([alone], { readOnly: true })
      const { sessionId } = reader
      alone.heal()
      await ensemble.until(reader.whenConnected())
      expect(reader.state).to.equal('connected')
      expect(reader.sessionId).not.to.equal(sessionId)
      await reader.create('/new')
    })

    it('is read by supervise() when the lease of its session has ended', async () => {
      await start({ readOnlyMode: true })
      const { server, clock } = ensemble
      const [alone] = ensemble.others
      const end = new AbortController()
      const seen: string[] = []
      const options = { dial: server.dial, clock, readOnly: true, sessionTimeout: 10_000, signal: end.signal }
      const supervised = failureOf(
        supervise(alone.connectString, options, async (zk, signal) => {
          if (seen.length === 0) await zk.create('/kept', 'precious')
          seen.push(`${zk.state} ${await text(zk, '/kept')}`)
          await abortOf(signal)
        }),
      )
      await clock.advance(TICK)
      alone.cutOff()
      await clock.advance(UNAWARE + 10_000 + 2 * TICK)
      expect(seen).to.deep.equal(['connected precious', 'connectedReadOnly precious'])
      end.abort()
      await ensemble.until(supervised)
    })

    it('expires the sessions of its own', async () => {
      const { alone } = await isolate()
      expect(await ensemble.duration(openSilent(alone, 4000))).to.be.within(4000, 4000 + TICK)
    })

    it('discards the sessions of its own when it follows a leader again', async () => {
      const { server, clock } = await start({ readOnlyMode: true })
      const [alone] = ensemble.others
      alone.cutOff()
      await clock.advance(UNAWARE + 3 * TICK)
      const closed = openSilent(alone, 20_000)
      await ensemble.quiet()
      alone.heal()
      expect(await ensemble.duration(closed)).to.equal(0)
      await server.close()
      expect(clock.pendingTimers).to.equal(0)
    })
  })
})
