// A server without a quorum serves reads in read-only mode.
import { expect } from 'chai'
import { connect, supervise, type State, type ZooKeeperError } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { Ensemble } from '../../environment/ensemble.ts'
import { ensembles } from '../support/embedded-ensemble.ts'
import type { EnsembleServer, RunningEnsemble } from '../../environment/running-ensemble.ts'
import { until } from '../../environment/until.ts'
import { abortOf } from '../support/settled.ts'

const jvm = ['-Dreadonlymode.enabled=true']

/** Resolves when a server that has lost its quorum reports read-only mode. */
const readOnlyMode = (ensemble: RunningEnsemble, server: EnsembleServer) =>
  until(async () => (await ensemble.mode(server)) === 'read-only', { within: 30_000 })

for (const { name, start } of ensembles)
  describe(`an ensemble in read-only mode (${name})`, () => {
    describe('with local sessions', () => {
      const sessions = new Sessions()
      let ensemble: RunningEnsemble
      let server: EnsembleServer

      before(async function () {
        this.timeout(120_000)
        const config = { localSessionsEnabled: 'true', localSessionsUpgradingEnabled: 'true' }
        ensemble = await start({ linked: true, jvm, config })
        server = (await ensemble.followers())[0] as EnsembleServer
        const zk = await connect(ensemble.connectString)
        await zk.create('/kept', 'precious')
        for (const each of ensemble.servers) {
          const near = await sessions.open(each.connectString)
          await near.sync('/kept')
        }
        await zk.close()
        await sessions.close()
        ensemble.isolate(server)
        await readOnlyMode(ensemble, server)
      })
      afterEach(() => sessions.close())
      after(() => ensemble.close())

      it('serves reads and rejects writes with NOTREADONLY', async () => {
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
            () => expect.fail('the write succeeded on a read-only server'),
            (e: unknown) => e as ZooKeeperError,
          )
          expect(error).to.include({ code: 'NOTREADONLY', fate: 'refused' })
        }
      })

      it('answers the four-letter word isro without a newline', async () => {
        expect(await server.command('isro')).to.equal('ro')
        expect(await (await ensemble.leader()).command('isro')).to.equal('rw')
      })

      it('accepts no client without the option readOnly: connect() rejects with CONNECTTIMEOUT', async () => {
        const error: unknown = await connect(server.connectString, { connectTimeout: 1000 }).catch((e: unknown) => e)
        expect(error).to.include({ code: 'CONNECTTIMEOUT' })
      })

      it('is read by supervise() about a session timeout after its session from before could not be taken over', async function () {
        this.timeout(60_000)
        ensemble.heal()
        await until(async () => (await ensemble.mode(server)) === 'follower', { within: 30_000 })
        const end = new AbortController()
        const seen: string[] = []
        const options = { readOnly: true, sessionTimeout: 4000, signal: end.signal }
        const supervised = supervise(server.connectString, options, async (zk, signal) => {
          seen.push(`${zk.state} ${(await zk.getData('/kept')).data?.toString()}`)
          await abortOf(signal)
        }).catch((error: unknown) => error)
        await until(() => seen.length === 1)
        ensemble.isolate(server)
        await until(() => seen.length === 2, { within: 30_000 })
        expect(seen).to.deep.equal(['connected precious', 'connectedReadOnly precious'])
        end.abort()
        await supervised
      })

      it('loses its client to a read-write server, where it has a new session and the same watches', async () => {
        const others = ensemble.servers.filter(each => each !== server)
        const zk = await sessions.open(server.connectString, { readOnly: true, random: () => 0.999 })
        const states: State[] = []
        zk.on('state', state => states.push(state))
        const id = zk.sessionId
        const fired = new Promise<string>(resolve => {
          void zk.getData('/kept', { watch: ({ type }) => resolve(type) })
        })
        await zk.getChildren('/')
        // With this random() the client does not move to balance the load. It moves because it finds a read-write server.
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
  })

// The embedded servers have local sessions in read-only mode.
describe('an ensemble in read-only mode without local sessions', () => {
  let ensemble: RunningEnsemble
  before(async function () {
    this.timeout(120_000)
    ensemble = await Ensemble.prepare({ jvm })
    await Promise.all(ensemble.servers.slice(0, 2).map(server => server.start()))
  })
  after(() => ensemble.close())

  it('neither creates nor expires a session: its reply without a body is not taken for an expiry', async function () {
    this.timeout(120_000)
    const [first, second] = ensemble.servers as [EnsembleServer, EnsembleServer]
    const zk = await connect(first.connectString, { sessionTimeout: 5000, readOnly: true })
    await zk.create('/mine', '', { mode: 'ephemeral' })
    const { sessionId } = zk
    const states: State[] = []
    zk.on('state', state => states.push(state))
    await second.kill()
    await readOnlyMode(ensemble, first)
    const startedAt = performance.now()
    const error: unknown = await connect(first.connectString, { connectTimeout: 500, readOnly: true }).catch(
      (e: unknown) => e,
    )
    expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    expect(((error as Error).cause as Error).message).to.contain('localSessionsEnabled=true (error -119)')
    expect(performance.now() - startedAt).to.be.below(500 + LOAD_ALLOWANCE)
    await second.start()
    await zk.whenConnected()
    expect(zk.sessionId).to.equal(sessionId)
    expect(states).not.to.include('expired').and.not.to.include('connectedReadOnly')
    expect((await zk.exists('/mine'))?.ephemeralOwner).to.equal(sessionId)
    await zk.close()
  })
})
