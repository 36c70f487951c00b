// Faults of the session, on a real server. docs/fault-matrix.md names the tests of all faults.
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { connect, type State } from '../../src/client/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { behindProxy } from '../support/behind-proxy.ts'
import { failureOf } from '../support/settled.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

describe('the session', () => {
  const proxied = behindProxy()

  it('rejects a write whose reply was lost with fate "unknown"; it was executed', async () => {
    const { proxy, client, path } = proxied
    void proxy.dropReply(opcodes.setData)
    expect(await failureOf(client.setData(path, 'done'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('done')
  })

  it('rejects a write whose request was lost with fate "unknown"; it was not executed or sent again', async () => {
    const { proxy, client, path } = proxied
    void proxy.dropRequest(opcodes.setData)
    expect(await failureOf(client.setData(path, 'lost'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('what is there')
    const sent = proxy.frames.filter(({ from, opcode }) => from === 'client' && opcode === opcodes.setData)
    expect(sent).to.have.length(1)
  })

  for (const fault of ['dropRequest', 'dropReply'] as const) {
    it(`executes a lost create at most once (${fault}), and never sends it again`, async () => {
      const { proxy, client, path } = proxied
      void proxy[fault](opcodes.create2)
      const lost = client.create(`${path}/n-`, '', { mode: 'persistentSequential' })
      expect(await failureOf(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      await client.sync(path)
      expect((await client.getChildren(path)).children).to.have.length(fault === 'dropReply' ? 1 : 0)
    })
  }

  it('aborts the signal of a held lock before it reports the expiry, and release() resolves', async () => {
    const { server, client, path } = proxied
    const held = await new Mutex(client, `${path}/lock`).acquire()
    const abortedAtExpiry: boolean[] = []
    client.on('state', state => state === 'expired' && abortedAtExpiry.push(held.signal.aborted))
    await expireSession(server, client.sessionId, client.sessionPassword)
    await until(() => client.state === 'expired')
    expect(abortedAtExpiry).to.deep.equal([true])
    expect(held.validFor()).to.equal(0)
    await held.release()
    await using other = await connect(server.connectString)
    const next = await new Mutex(other, `${path}/lock`).acquire()
    expect(next.token > held.token).to.equal(true)
    await next.release()
  })

  for (const [what, tampered] of [
    ['a wrong password', { password: Buffer.alloc(16, 1) }],
    ['an unknown id', { id: 0x1234_5678n }],
  ] as const) {
    it(`rejects connect() with SESSIONEXPIRED for ${what}, which the error does not contain`, async () => {
      const { server, client, open } = proxied
      const session = { id: client.sessionId, password: client.sessionPassword, ...tampered }
      const error = await failureOf(connect(server.connectString, { session }))
      expect(error).to.include({ code: 'SESSIONEXPIRED', op: 'connect' })
      expect((error as Error).stack).not.to.contain(session.password.toString('latin1'))
      await using unharmed = await open()
      await unharmed.sync('/')
    })
  }

  it('ends the lease in time if no server answers for longer than the timeout, and stays suspended', async () => {
    const { server, proxy, client, path } = proxied
    const states: State[] = []
    client.on('state', state => states.push(state))
    const { leaseSignal } = client
    const { stat } = await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const order: string[] = []
    leaseSignal.addEventListener('abort', () => order.push('lease'))
    const deleted = new Promise<void>(resolve => {
      const watch = () => {
        order.push('server')
        resolve()
      }
      void other.exists(`${path}/mine`, { watch })
    })
    await other.sync(path)
    // The lease starts when the last answered packet is sent, which is after this time.
    const startedAt = performance.now()
    await client.sync(path)
    proxy.conditions.blackHole = 'both'
    await until(() => leaseSignal.aborted)
    expect(performance.now() - startedAt).to.be.above(client.sessionTimeout - 5)
    expect([client.state, client.validFor()]).to.deep.equal(['suspended', 0])
    expect(await failureOf(client.getData(path))).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    await deleted
    expect(order, 'the session lives longer at the server').to.deep.equal(['lease', 'server'])
    proxy.heal()
    await until(() => client.state !== 'suspended')
    expect(states).to.deep.equal(['suspended', 'expired'])
    expect(stat.ephemeralOwner).to.equal(client.sessionId)
  })
})
