// An embedded ensemble in virtual time: replication, and servers that lag. Three servers of Apache are the reference
// (test/ensemble).
import { expect } from 'chai'
import type { Client, State } from '../../src/index.ts'
import { type MemberMessage, type MemberState } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'
import { TICK, VirtualEnsemble } from '../support/virtual-ensemble.ts'

const text = async (client: Client, path: string) => (await client.getData(path)).data?.toString()

describe('an embedded ensemble', () => {
  let ensemble: VirtualEnsemble

  const start = async (options = {}) => (ensemble = await VirtualEnsemble.start(options))

  afterEach(() => ensemble.close())

  describe('without faults', () => {
    it('has one leader, whose writes are read through every server', async () => {
      const { server } = await start()
      expect(ensemble.modes).to.deep.equal(['follower', 'follower', 'leader'])
      expect(server.connectString.split(',')).to.deep.equal(server.members.map(each => each.connectString))
      const clients = await Promise.all(server.members.map(each => ensemble.openAt([each])))
      for (const [i, client] of clients.entries()) await client.create(`/${i}`, `${i}`)
      for (const client of clients) {
        expect((await client.getChildren('/')).children.sort()).to.deep.equal(['0', '1', '2', 'zookeeper'])
        expect(await text(client, '/1')).to.equal('1')
      }
      const [first, ...rest] = server.members.map(each => each.snapshot().nodes)
      for (const each of rest) expect(each).to.deep.equal(first)
    })

    it('names its servers in the configuration, also after a snapshot, so that a client can follow it', async () => {
      const { server } = await start({ observers: 1, commitLogCount: 10 })
      const [first, , third, observer] = server.members
      const client = await ensemble.openAt(first === undefined ? [] : [first], { followEnsemble: true })
      await observer?.stop()
      await ensemble.until(Promise.all(Array.from({ length: 30 }, (_, i) => client.setData('/', `${i}`))))
      await observer?.start()
      for (const member of server.members) {
        const { data, stat, servers, version } = await (await ensemble.openAt([member])).getConfig()
        expect(servers.map(({ id, role }) => `${id} ${role}`)).to.deep.equal([
          ...['1 participant', '2 participant', '3 participant', '4 observer'],
        ])
        const addresses = servers.map(each => `${each.client?.host}:${each.client?.port}`)
        expect(addresses).to.deep.equal(server.members.map(({ connectString }) => connectString))
        // As an Apache server with a static configuration has it.
        expect({ ...stat, mtime: 0 }).to.include({ version: -1, mzxid: 0n, dataLength: data?.length })
        expect(version).to.equal(0n)
      }
      await first?.stop()
      await third?.stop()
      await third?.start()
      await ensemble.until(client.create('/elsewhere'))
    })

    it('notifies watches through every server, also of the writer itself before the reply', async () => {
      const { server } = await start()
      const clients = await Promise.all(server.members.map(each => ensemble.openAt([each])))
      const seen: string[] = []
      for (const [i, client] of clients.entries())
        await client.exists('/x', { watch: ({ type }) => seen.push(`${i} ${type}`) })
      await clients[0]?.create('/x').then(() => seen.push('created'))
      expect(seen.slice().sort()).to.deep.equal(['0 NodeCreated', '1 NodeCreated', '2 NodeCreated', 'created'])
      expect(seen.indexOf('0 NodeCreated')).to.be.below(seen.indexOf('created'))
    })

    it('executes the requests of one connection in order, and answers a rejected one by its error', async () => {
      await start()
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      // The client sends no second create before it knows that the server has the operation.
      await client.create('/known')
      follower.lag(100)
      const replies = [
        client.create('/a', '1').then(() => 'created'),
        client.getData('/a').then(({ data }) => data?.toString()),
        client.create('/a').catch((error: unknown) => (error as { code: string }).code),
        client.setData('/a', '2').then(({ version }) => version),
        client.getData('/a').then(({ data }) => data?.toString()),
        client.exists('/b'),
      ]
      const took = await ensemble.duration(Promise.all(replies))
      expect(await Promise.all(replies)).to.deep.equal(['created', '1', 'NODEEXISTS', 1, '2', null])
      // All were sent at once: no request waited for the reply to another one.
      expect(took).to.equal(200)
    })

    it('has the same nodes on all servers after thousands of writes, also on one that lags or was stopped', async () => {
      const { server } = await start({ syncLimit: 100 })
      const [slow, stopped] = ensemble.others
      const client = await ensemble.openAt([ensemble.leader])
      const write = (count: number) =>
        ensemble.until(Promise.all(Array.from({ length: count }, () => client.setData('/', 'x').then(write1))))
      const write1 = ({ version }: { version: number }) => client.create(`/${version}`)
      await write(600)
      slow.lag(150)
      await write(600)
      await stopped.stop()
      await write(600)
      slow.lag(0)
      await stopped.start()
      await ensemble.clock.advance(TICK)
      await write(10)
      const [first, ...rest] = server.members.map(each => each.snapshot().nodes)
      expect(first?.size).to.equal(1 + 1810)
      for (const each of rest) expect(each).to.deep.equal(first)
    })

    it('reports each change of mode and zxid to onMemberChange', async () => {
      const seen: MemberState[] = []
      await start({ onMemberChange: (state: MemberState) => seen.push(state) })
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      seen.length = 0
      await client.create('/x')
      const zxid = 0x1_0000_0002n
      expect(seen.sort((a, b) => a.id - b.id)).to.deep.equal([
        { id: 1, mode: 'follower', zxid, epoch: 1 },
        { id: 2, mode: 'follower', zxid, epoch: 1 },
        { id: 3, mode: 'leader', zxid, epoch: 1 },
      ])
      expect(ensemble.server.members.map(each => each.zxid)).to.deep.equal([zxid, zxid, zxid])
    })

    it('reports each message between servers to onMessage, and none of a single server', async () => {
      const seen: string[] = []
      const onMessage = ({ from, to, kind }: MemberMessage) => seen.push(`${kind} ${from}>${to}`)
      await start({ onMessage })
      const [follower, other] = ensemble.others
      const client = await ensemble.openAt([follower])
      const { id: leader } = ensemble.leader
      const [here, there] = [follower.id, other.id]
      seen.length = 0
      await client.create('/x')
      expect(seen.filter(message => !/^p[io]ng/.test(message)).sort()).to.deep.equal(
        [
          `request ${here}>${leader}`,
          ...[here, there].flatMap(id => [`proposal ${leader}>${id}`, `ack ${id}>${leader}`, `commit ${leader}>${id}`]),
        ].sort(),
      )
      seen.length = 0
      await client.sync('/x')
      expect(seen).to.deep.equal([`request ${here}>${leader}`, `reply ${leader}>${here}`])
      seen.length = 0
      await ensemble.clock.advance(TICK)
      expect(seen).to.include.members([`ping ${leader}>${there}`, `pong ${there}>${leader}`])
    })

    it('shows all servers in snapshot() and stats, and one in those of a member', async () => {
      const { server } = await start()
      const [follower, other] = ensemble.others
      const client = await ensemble.openAt([follower])
      await client.exists('/x', { watch: () => undefined })
      expect(server.snapshot().watches.map(({ path }) => path)).to.deep.equal(['/x'])
      expect(follower.snapshot().watches).to.have.length(1)
      expect(other.snapshot().watches).to.have.length(0)
      expect(follower.snapshot().sessions.map(each => each.isConnected)).to.deep.equal([true])
      expect(other.snapshot().sessions.map(each => each.isConnected)).to.deep.equal([false])
      expect(server.snapshot().sessions.map(each => each.isConnected)).to.deep.equal([true])
      expect(server.stats).to.deep.equal(follower.stats)
      expect(other.stats.received).to.equal(0)
    })

    it('applies faults of one member to that server, and faults of the server to all', async () => {
      const { server } = await start()
      const [follower, other] = ensemble.others
      const [near, far] = [await ensemble.openAt([follower]), await ensemble.openAt([other])]
      follower.faults.replace('exists', 'THROTTLEDOP', { times: Infinity })
      expect(await failureOf(near.exists('/'))).to.have.property('code', 'THROTTLEDOP')
      expect(await far.exists('/')).not.to.equal(null)
      server.faults.replace('getData', 'THROTTLEDOP', { times: 2 })
      for (const each of [near, far]) expect(await failureOf(each.getData('/'))).to.have.property('code', 'THROTTLEDOP')
      expect((await near.getData('/')).stat.version).to.equal(0)
    })

    it('deletes an empty container on every server at the next periodic check', async () => {
      const { server, clock } = await start({ containerCheckInterval: 700 })
      const client = await ensemble.openAt(server.members)
      await client.create('/box', '', { mode: 'container' })
      await client.create('/box/child')
      await client.delete('/box/child')
      await clock.advance(700)
      for (const member of server.members) expect(member.snapshot().nodes.has('/box'), `${member.id}`).to.equal(false)
    })

    it('sets a sequence counter on every server, and deletes empty containers', async () => {
      const { server } = await start()
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      await client.create('/box', '', { mode: 'container' })
      server.setSequenceCounter('/box', 7)
      const { path } = await client.create('/box/n-', '', { mode: 'persistentSequential' })
      expect(path).to.equal('/box/n-0000000007')
      const cversions = server.members.map(each => each.snapshot().nodes.get('/box')?.stat.cversion)
      expect(new Set(cversions).size).to.equal(1)
      await client.delete(path)
      server.runContainerCheck()
      expect(await client.exists('/box')).to.equal(null)
    })
  })

  describe('with a server that lags', () => {
    it('answers reads from its own tree, and writes and sync after the delay in both directions', async () => {
      await start()
      const [slow, fast] = ensemble.others
      const [behind, ahead] = [await ensemble.openAt([slow]), await ensemble.openAt([fast])]
      await ahead.create('/x', 'old')
      slow.lag(300)
      await ahead.setData('/x', 'new')
      expect(await text(ahead, '/x')).to.equal('new')
      expect(await text(behind, '/x')).to.equal('old')
      expect(await ensemble.duration(behind.sync('/x'))).to.equal(600)
      expect(await text(behind, '/x')).to.equal('new')
      expect(await ensemble.duration(behind.setData('/x', 'newer'))).to.equal(600)
      expect(await text(behind, '/x')).to.equal('newer')
    })

    it('notifies its watches when it applies the change', async () => {
      await start()
      const [slow, fast] = ensemble.others
      const [behind, ahead] = [await ensemble.openAt([slow]), await ensemble.openAt([fast])]
      const fired = new Promise<void>(resolve => void behind.exists('/x', { watch: () => resolve() }))
      await ensemble.quiet()
      slow.lag(300)
      await ahead.create('/x')
      expect(await ensemble.duration(fired)).to.equal(300)
    })

    it('delivers at once what is on its way when the lag ends', async () => {
      await start()
      const [slow, fast] = ensemble.others
      const [behind, ahead] = [await ensemble.openAt([slow]), await ensemble.openAt([fast])]
      slow.lag(3000)
      await ahead.create('/x', 'new')
      slow.lag(0)
      expect(await text(behind, '/x')).to.equal('new')
    })

    it('closes the connection of a client that has seen a later zxid, and the client stays where it is served', async () => {
      await start()
      const [slow, fast] = ensemble.others
      const client = await ensemble.openAt([fast, slow])
      const states: State[] = []
      client.on('state', state => states.push(state))
      slow.lag(3000)
      await client.create('/x', 'new')
      fast.dropConnections()
      expect(await ensemble.until(client.retry(() => text(client, '/x')))).to.equal('new')
      expect(states).to.deep.equal(['suspended', 'connected'])
      expect(slow.stats.received).to.be.above(0)
      expect(fast.snapshot().sessions.map(each => each.isConnected)).to.deep.equal([true])
    })

    it('commits with the other follower, and waits for a majority if the leader lags', async () => {
      await start()
      const [slow] = ensemble.others
      const near = await ensemble.openAt([ensemble.leader])
      slow.lag(400)
      expect(await ensemble.duration(near.create('/x'))).to.equal(0)
      slow.lag(0)
      ensemble.leader.lag(400)
      // The proposal and its acknowledgement.
      expect(await ensemble.duration(near.setData('/x', '1'))).to.equal(800)
      const far = await ensemble.openAt([slow])
      // The request and the commit in addition.
      expect(await ensemble.duration(far.setData('/x', '2'))).to.equal(1600)
    })
  })
})
