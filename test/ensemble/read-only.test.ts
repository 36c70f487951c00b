// What is left of an ensemble answers reads.
import { expect } from 'chai'
import { connect, type State, type ZooKeeperError } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { Ensemble } from '../support/ensemble.ts'
import { until } from '../support/until.ts'

const jvm = ['-Dreadonlymode.enabled=true']

/** Waits for a server that has lost the others to say that it goes on alone. */
const alone = (ensemble: Ensemble, server: ApacheZooKeeper) =>
  until(async () => (await ensemble.mode(server)) === 'read-only', { within: 30_000 })

describe('an ensemble in read-only mode', () => {
  describe('with sessions of single servers', () => {
    const sessions = new Sessions()
    let ensemble: Ensemble
    let server: ApacheZooKeeper

    before(async function () {
      this.timeout(120_000)
      const config = { localSessionsEnabled: 'true', localSessionsUpgradingEnabled: 'true' }
      ensemble = await Ensemble.start({ linked: true, jvm, config })
      server = (await ensemble.followers())[0] as ApacheZooKeeper
      const zk = await connect(ensemble.connectString)
      await zk.create('/kept', 'precious')
      for (const each of ensemble.servers) {
        const near = await sessions.open(each.connectString)
        await near.sync('/kept')
      }
      await zk.close()
      await sessions.close()
      ensemble.isolate(server)
      await alone(ensemble, server)
    })
    afterEach(() => sessions.close())
    after(() => ensemble.close())

    it('answers reads and refuses writes', async () => {
      const zk = await sessions.open(server.connectString, { readOnly: true })
      expect(zk.state).to.equal('connectedReadOnly')
      expect((await zk.getData('/kept')).data?.toString()).to.equal('precious')
      for (const write of [
        zk.setData('/kept', ''),
        zk.create('/new'),
        zk.delete('/kept'),
        new Mutex(zk, '/l').acquire(),
      ]) {
        const error = await write.then(
          () => expect.fail('it was written'),
          (e: unknown) => e as ZooKeeperError,
        )
        expect(error).to.include({ code: 'NOTREADONLY', fate: 'refused' })
      }
    })

    it('answers the question that is put to it without a newline', async () => {
      expect(await server.command('isro')).to.equal('ro')
      expect(await (await ensemble.leader()).command('isro')).to.equal('rw')
    })

    it('takes nobody who did not ask for that, and nothing expires', async () => {
      const error: unknown = await connect(server.connectString, { connectTimeout: 1000 }).catch((e: unknown) => e)
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    })

    it('is left for a server that takes writes, with another session and the same watches', async () => {
      const others = ensemble.servers.filter(each => each !== server)
      const zk = await sessions.open(server.connectString, { readOnly: true, random: () => 0.999 })
      const states: State[] = []
      zk.on('state', state => states.push(state))
      const id = zk.sessionId
      const fired = new Promise<string>(resolve => {
        void zk.getData('/kept', { watch: ({ type }) => resolve(type) })
      })
      await zk.getChildren('/')
      // By this chance it does not move for the sake of an even load: it asks.
      zk.updateServerList(ensemble.connectString)
      expect(states).to.deep.equal([])
      await zk.whenConnected()
      expect(states.at(-1)).to.equal('connected')
      expect(zk.sessionId).not.to.equal(id)
      const writer = await sessions.open(others.map(({ connectString }) => connectString).join(','))
      await writer.setData('/kept', 'changed')
      expect(await fired).to.equal('NodeDataChanged')
      const held = await new Mutex(zk, '/locks').acquire()
      await held.release()
    })
  })

  describe('without', () => {
    let ensemble: Ensemble
    before(async function () {
      this.timeout(120_000)
      ensemble = await Ensemble.prepare({ jvm })
      await Promise.all(ensemble.servers.slice(0, 2).map(server => server.start()))
    })
    after(() => ensemble.close())

    it('neither makes up a session nor ends one: its bare header is no expiry', async function () {
      this.timeout(120_000)
      const [first, second] = ensemble.servers as [ApacheZooKeeper, ApacheZooKeeper]
      const zk = await connect(first.connectString, { sessionTimeout: 5000, readOnly: true })
      await zk.create('/mine', '', { mode: 'ephemeral' })
      const { sessionId } = zk
      const states: State[] = []
      zk.on('state', state => states.push(state))
      await second.kill()
      await alone(ensemble, first)
      const begun = performance.now()
      const error: unknown = await connect(first.connectString, { connectTimeout: 500, readOnly: true }).catch(
        (e: unknown) => e,
      )
      expect(error).to.include({ code: 'CONNECTTIMEOUT' })
      expect(((error as Error).cause as Error).message).to.contain('refused the handshake (-119)')
      expect(performance.now() - begun).to.be.below(500 + LOAD_ALLOWANCE)
      await second.start()
      await zk.whenConnected()
      expect(zk.sessionId).to.equal(sessionId)
      expect(states).not.to.include('expired').and.not.to.include('connectedReadOnly')
      expect((await zk.exists('/mine'))?.ephemeralOwner).to.equal(sessionId)
      await zk.close()
    })
  })
})
