// An ensemble whose members change while it runs.
import { expect } from 'chai'
import type { State } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { Ensemble, SUPER } from '../../environment/ensemble.ts'
import { until } from '../../environment/until.ts'

describe('an ensemble that is reconfigured', () => {
  const sessions = new Sessions()
  let ensemble: Ensemble

  before(async function () {
    this.timeout(120_000)
    ensemble = await Ensemble.start({ dynamic: true })
  })
  afterEach(() => sessions.close())
  after(() => ensemble.close())

  const idOf = (server: ApacheZooKeeper) => ensemble.servers.indexOf(server) + 1

  it('moves clients with followEnsemble off a server that leaves, with their session and their lock', async () => {
    const leader = await ensemble.leader()
    const leaving = ensemble.servers.find(each => each !== leader) as ApacheZooKeeper
    const ports: number[] = []
    // The client's connect string has one server. The client learns the others from the ensemble's configuration.
    const client = await sessions.open(leaving.connectString, { followEnsemble: true, sessionTimeout: 5000 })
    const bystander = await sessions.open(leaving.connectString, { sessionTimeout: 5000 })
    for (const each of [client, bystander]) await each.sync('/')
    const held = await new Mutex(client, '/reconfigured').acquire()
    const { sessionId } = client
    const statesOfEach: State[][] = [client, bystander].map(each => {
      const states: State[] = []
      each.on('state', state => states.push(state))
      return states
    })

    const admin = await sessions.open(leader.connectString, { auth: [{ scheme: 'digest', auth: SUPER }] })
    const before = await admin.getConfig()
    expect(before.servers.map(({ client }) => client?.port)).to.have.members(ensemble.servers.map(({ port }) => port))
    const after = await admin.reconfig({ leaving: [idOf(leaving)], version: before.version as bigint })
    expect(after.servers.map(({ id }) => id)).not.to.include(idOf(leaving))

    await until(() => statesOfEach[0]?.join() === 'suspended,connected')
    expect(client.sessionId).to.equal(sessionId)
    expect((await client.getData(held.path)).stat.czxid).to.equal(held.token)
    expect(held.signal.aborted).to.equal(false)
    for (const server of ensemble.servers) {
      const connections = await server.command('cons')
      if (connections.includes(`sid=0x${sessionId.toString(16)}`)) ports.push(server.port)
    }
    expect(ports).to.have.length(1)
    expect(ports).not.to.include(leaving.port)
    expect(statesOfEach[1], 'the client without followEnsemble stays').to.deep.equal([])
    await held.release()
  })
})
