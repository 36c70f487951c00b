// What a test does with an embedded ensemble as a whole: start, stop, pause, ports, files, four-letter words.
import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { until } from '../../environment/until.ts'
import { WireSession } from '../support/wire-session.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

const listenOn = async (port: number) => {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Finds two free ports in a row, and listens on the second. */
async function adjacentPorts(): Promise<{ port: number; blocker: NetServer }> {
  for (;;) {
    const first = await listenOn(0)
    const { port } = first.address() as AddressInfo
    const blocker = await listenOn(port + 1).catch(() => undefined)
    first.close()
    await once(first, 'close')
    if (blocker !== undefined) return { port, blocker }
  }
}

describe('an embedded ensemble, controlled as a whole,', () => {
  describe('in virtual time', () => {
    let ensemble: VirtualEnsemble

    beforeEach(async () => (ensemble = await VirtualEnsemble.start()))
    afterEach(() => ensemble.close())

    it('stops and starts all its servers, with their nodes, sessions and zxids, and a leader at once', async () => {
      const { server, clock } = ensemble
      const client = await ensemble.openAt(server.members)
      const { stat } = await client.create('/mine', '', { mode: 'ephemeral' })
      await server.stop()
      expect(ensemble.modes).to.deep.equal(['stopped', 'stopped', 'stopped'])
      await clock.advance(60_000)
      await server.start()
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader'])
      await ensemble.until(client.whenConnected())
      expect((await client.exists('/mine'))?.czxid).to.equal(stat.czxid)
      expect((await client.create('/next')).stat.czxid >> 32n).to.equal(2n)
    })

    it('answers nothing while it is paused, and then everything', async () => {
      const { server, clock } = ensemble
      const [follower, slow] = ensemble.others
      const client = await ensemble.openAt([follower], { sessionTimeout: 20_000 })
      // Hears from its leader only a while after the pause.
      slow.lag(300)
      server.pause()
      const creating = client.create('/x')
      const isDone = trackSettled(creating)
      await clock.advance(6000)
      expect(isDone()).to.equal(false)
      server.resume()
      await creating
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader'])
      expect(server.leader?.epoch).to.equal(1)
    })

    it('lets a follower that is paused for a while catch up', async () => {
      const [paused, other] = ensemble.others
      const client = await ensemble.openAt([other])
      paused.pause()
      await client.create('/x')
      expect(paused.snapshot().nodes.has('/x')).to.equal(false)
      paused.resume()
      expect(paused.snapshot().nodes.has('/x')).to.equal(true)
    })

    it('starts and stops those servers that its members have left in another state', async () => {
      const { server } = ensemble
      for (const member of server.members) await member.stop()
      await server.start()
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader'])
      await server.stop()
      await server.members[0]?.start()
      await server.stop()
      expect(ensemble.modes).to.deep.equal(['stopped', 'stopped', 'stopped'])
      await server.start()
    })

    it('serves again when each server is resumed for itself after a pause of all, and the other way round', async () => {
      const { server, clock } = ensemble
      const client = await ensemble.openAt(server.members, { sessionTimeout: 20_000 })
      server.pause()
      for (const member of server.members) member.resume()
      await ensemble.until(client.create('/a'))
      for (const member of server.members) member.pause()
      await clock.advance(6000)
      server.resume()
      await ensemble.until(client.retry(() => client.create('/b')))
      expect(server.snapshot().sessions.map(({ id }) => id)).to.deep.equal([client.sessionId])
    })

    it('expires no session while its leader is paused and has no successor, or while it is stopped', async () => {
      const { server, clock } = ensemble
      const client = await ensemble.openAt([ensemble.leader], { sessionTimeout: 4000 })
      const { sessionId } = client
      const ids = () => server.snapshot().sessions.map(({ id }) => id)
      const { leader, others } = ensemble
      for (const other of others) other.cutOff()
      leader.pause()
      await clock.advance(30_000)
      expect(ids()).to.deep.equal([sessionId])
      for (const member of server.members) await member.stop()
      await clock.advance(30_000)
      expect(ids()).to.deep.equal([sessionId])
      await server.start()
    })

    it('closes the connections to one server or to all', async () => {
      const { server } = ensemble
      const [first, second] = ensemble.others
      const clients = [await ensemble.openAt([first]), await ensemble.openAt([second])]
      first.dropConnections()
      await ensemble.quiet()
      expect(clients.map(({ state }) => state)).to.deep.equal(['suspended', 'connected'])
      await ensemble.until(clients[0]?.whenConnected() ?? Promise.resolve())
      server.dropConnections()
      await ensemble.quiet()
      expect(clients.map(({ state }) => state)).to.deep.equal(['suspended', 'suspended'])
    })

    it('refuses a lag that is not a number of milliseconds, and a counter of a node that does not exist', async () => {
      const { server } = ensemble
      const [follower] = ensemble.others
      for (const ms of [-1, NaN, Infinity])
        expect(() => follower.lag(ms)).to.throw('ms must be a number from 0 to 2147483647')
      expect(() => server.setSequenceCounter('/none', 1)).to.throw('the node does not exist')
      await server.stop()
      expect(() => server.setSequenceCounter('/', 1)).to.throw('there is no leader')
      await server.start()
    })

    it('has 1 to 15 servers, and two need both of them', async () => {
      for (const servers of [0, 16, 2.5])
        expect(await failureOf(Server.start({ servers, listen: false }))).to.have.property('code', 'BADARGUMENTS')
      const pair = await VirtualEnsemble.start({ servers: 2 })
      const client = await pair.openAt(pair.server.members)
      await client.create('/x')
      await pair.server.members[0]?.stop()
      await pair.clock.advance(3000)
      expect(pair.modes).to.deep.equal(['stopped', 'looking'])
      await pair.server.members[0]?.start()
      await pair.until(client.retry(() => client.setData('/x', '')))
      await pair.close()
      expect(pair.clock.pendingTimers).to.equal(0)
    })
  })

  describe('on sockets', () => {
    it('listens on one port for each server, and a server that is stopped refuses connections', async () => {
      await using server = await Server.start({ servers: 3, tickTime: 200 })
      const [first, second, third] = server.members as [(typeof server.members)[0] & object, ...typeof server.members]
      expect(new Set(server.members.map(({ port }) => port)).size).to.equal(3)
      expect([server.host, server.port]).to.deep.equal([first.host, first.port])
      await using client = await connect(server.connectString)
      await client.create('/x')
      expect(await fourLetterWord(first.host, first.port, 'srvr')).to.contain('Mode: follower')
      expect(await fourLetterWord(first.host, first.port, 'mntr')).to.contain('zk_server_state\tfollower')
      expect(await fourLetterWord(first.host, third?.port ?? 0, 'srvr')).to.contain('Mode: leader')
      expect(await fourLetterWord(first.host, second?.port ?? 0, 'conf')).to.contain('serverId=2')
      await first.stop()
      expect(await failureOf(WireSession.open(first))).to.have.property('code', 'ECONNREFUSED')
      await client.retry(() => client.setData('/x', ''))
      await first.start()
      await first.start()
      expect(first.port).to.equal(server.port)
    })

    it('reports the syncs that wait for its followers, and how long requests have waited', async () => {
      const clock = new VirtualClock()
      await using server = await Server.start({ servers: 3, clock })
      const { leader, followers } = server
      await using client = await connect(leader?.connectString ?? '')
      await client.create('/x')
      const figure = async (name: string) => {
        const mntr = await fourLetterWord(server.host, leader?.port ?? 0, 'mntr')
        return Number(new RegExp(`^zk_${name}\t(.*)$`, 'm').exec(mntr)?.[1])
      }
      expect([await figure('pending_syncs'), await figure('max_latency')]).to.deep.equal([0, 0])
      for (const follower of followers) follower.lag(150)
      const replies = Promise.all([
        client.setData('/x', ''),
        client.sync('/'),
        client.sync('/'),
        client.setData('/x', 'new'),
        client.sync('/'),
      ])
      const pass50ms = (condition: () => boolean | Promise<boolean>) => until(() => clock.advance(50).then(condition))
      await pass50ms(async () => (await figure('pending_syncs')) === 2)
      await pass50ms(trackSettled(replies))
      for (const follower of followers) follower.lag(0)
      expect(await figure('pending_syncs')).to.equal(0)
      expect(await figure('max_latency')).to.be.at.least(300)
      expect(await figure('avg_latency')).to.be.within(1, await figure('max_latency'))
      expect(await figure('min_latency')).to.equal(0)
    })

    it('listens on the given port and the next ones, or rejects and leaves none open', async () => {
      const { port, blocker } = await adjacentPorts()
      expect(await failureOf(Server.start({ servers: 2, port }))).to.have.property('code', 'EADDRINUSE')
      blocker.close()
      await once(blocker, 'close')
      await using server = await Server.start({ servers: 2, port })
      expect(server.members.map(each => each.port)).to.deep.equal([port, port + 1])
    })

    it('is stopped when one of its ports is taken meanwhile, and starts when the port is free again', async () => {
      await using server = await Server.start({ servers: 2, tickTime: 200 })
      const [first, second] = server.members
      await server.stop()
      const blocker = await listenOn(second?.port ?? 0)
      expect(await failureOf(server.start())).to.have.property('code', 'EADDRINUSE')
      expect(server.members.map(({ mode }) => mode)).to.deep.equal(['stopped', 'stopped'])
      for (const each of [await listenOn(first?.port ?? 0), blocker]) {
        each.close()
        await once(each, 'close')
      }
      await server.start()
      await using client = await connect(server.connectString)
      await client.create('/a')
    })

    for (const end of ['close', 'stop and close'])
      it(`starts from a file with the same nodes on all servers, and writes it, also what a server lacked: ${end}`, async () => {
        const directory = await mkdtemp(join(tmpdir(), 'zkwire-ensemble-'))
        const dataFile = join(directory, 'data.json')
        const clock = new VirtualClock()
        const first = await Server.start({ servers: 3, dataFile, listen: false, clock })
        await first.members[0]?.stop()
        const dial = { dial: first.dial, clock, sessionTimeout: 30_000 }
        const client = await clock.until(connect(first.leader?.connectString ?? '', dial))
        await client.create('/kept', 'data', { mode: 'ephemeral' })
        if (end === 'close') {
          // The leader has executed this, and no majority has logged it.
          for (const each of first.followers) each.cutOff()
          void outcomeOf(client.create('/pending'))
          await clock.advance(0)
        } else await first.stop()
        await first.close()
        const second = await Server.start({ servers: 3, dataFile, listen: false, clock })
        for (const member of second.members)
          expect([...member.snapshot().nodes.keys()]).to.deep.equal([
            '/',
            '/kept',
            ...(end === 'close' ? ['/pending'] : []),
          ])
        expect(second.leader?.snapshot().nodes.get('/kept')?.data?.toString()).to.equal('data')
        expect(second.leader?.epoch).to.equal(2)
        expect(second.snapshot().sessions.map(({ id }) => id)).to.deep.equal([client.sessionId])
        await second.close()
        await clock.until(client.close({ timeout: 0 }))
        await rm(directory, { recursive: true })
      })
  })
})
