// Section 2.2 of the fault matrix: the session, on a real server. Rows that are held elsewhere, under the same names or as told:
//
//   B1, of locks   one node, whatever is lost: test/recipes/faults.test.ts, "is acquired with one node when …"
//   B2             at each step of an acquire: the same file, "fails with SESSIONEXPIRED when the session expires while …"
//   B6, B7, B8     in virtual time too: test/session/reconnect.test.ts
//   B9, B11        in virtual time: test/session/liveness.test.ts
//   B4, B10        a lagging or an isolated follower, and B9 with three servers: test/ensemble/isolation.test.ts, failover.test.ts
//   B5             expiry between grant and wake-up: races.test.ts
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { connect, type State } from '../../src/client/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { behindProxy } from '../support/behind-proxy.ts'
import { failureOf } from '../support/settled.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

describe('2.2 the session', () => {
  const proxied = behindProxy()

  it('B1: it says of a write whose answer was lost that it may have been done, as it was', async () => {
    const { proxy, client, path } = proxied
    void proxy.dropReply(opcodes.setData)
    expect(await failureOf(client.setData(path, 'done'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('done')
  })

  it('B1: it says of a write that was lost on its way the same, as it was not', async () => {
    const { proxy, client, path } = proxied
    void proxy.dropRequest(opcodes.setData)
    expect(await failureOf(client.setData(path, 'lost'))).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    expect((await client.getData(path)).data?.toString()).to.equal('what is there')
    const sent = proxy.frames.filter(({ from, opcode }) => from === 'client' && opcode === opcodes.setData)
    expect(sent).to.have.length(1)
  })

  for (const fault of ['dropRequest', 'dropReply'] as const) {
    it(`B1: a create that is lost (${fault}) is made once at most, and never sent again`, async () => {
      const { proxy, client, path } = proxied
      void proxy[fault](opcodes.create2)
      const lost = client.create(`${path}/n-`, '', { mode: 'persistentSequential' })
      expect(await failureOf(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
      await client.sync(path)
      expect((await client.getChildren(path)).children).to.have.length(fault === 'dropReply' ? 1 : 0)
    })
  }

  it('B2: expiry while waiting for a lock rejects, leaves no node, and the one behind moves up', async () => {
    const { server, client, path } = proxied
    const queue = async () => (await client.getChildren(`${path}/lock`)).children.length
    const held = await new Mutex(client, `${path}/lock`).acquire()
    await using waiter = await connect(server.connectString)
    await using behind = await connect(server.connectString)
    const failing = failureOf(new Mutex(waiter, `${path}/lock`).acquire())
    await until(async () => (await queue()) === 2)
    const next = new Mutex(behind, `${path}/lock`).acquire()
    await until(async () => (await queue()) === 3)
    await expireSession(server, waiter.sessionId, waiter.sessionPassword)
    expect(await failing).to.include({ code: 'SESSIONEXPIRED' })
    expect(await queue()).to.equal(2)
    expect(held.signal.aborted).to.equal(false)
    await held.release()
    await (await next).release()
    expect(await queue()).to.equal(0)
  })

  it('B3: expiry while holding a lock aborts its signal by the time it is told, and its release is quiet', async () => {
    const { server, client, path } = proxied
    const held = await new Mutex(client, `${path}/lock`).acquire()
    const told: boolean[] = []
    client.on('state', state => state === 'expired' && told.push(held.signal.aborted))
    await expireSession(server, client.sessionId, client.sessionPassword)
    await until(() => client.state === 'expired')
    expect(told).to.deep.equal([true])
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
    it(`B7: ${what} is expiry, once, and in no error`, async () => {
      const { server, client, open } = proxied
      const session = { id: client.sessionId, password: client.sessionPassword, ...tampered }
      const error = await failureOf(connect(server.connectString, { session }))
      expect(error).to.include({ code: 'SESSIONEXPIRED', op: 'connect' })
      expect((error as Error).stack).not.to.contain(session.password.toString('latin1'))
      await using unharmed = await open()
      await unharmed.sync('/')
    })
  }

  it('B9: a server that is away longer than the timeout: the lease ends in time, the state waits for a server', async () => {
    const { server, proxy, client, path } = proxied
    const states: State[] = []
    client.on('state', state => states.push(state))
    const { leaseSignal } = client
    const { stat } = await client.create(`${path}/mine`, '', { mode: 'ephemeral' })
    await using other = await connect(server.connectString)
    const order: string[] = []
    leaseSignal.addEventListener('abort', () => order.push('lease'))
    const gone = new Promise<void>(resolve => {
      const watch = () => {
        order.push('server')
        resolve()
      }
      void other.exists(`${path}/mine`, { watch })
    })
    await other.sync(path)
    // Counted from before the last packet that will be answered, and so no later than the lease.
    const startedAt = performance.now()
    await client.sync(path)
    proxy.conditions.blackHole = 'both'
    await until(() => leaseSignal.aborted)
    expect(performance.now() - startedAt).to.be.above(client.sessionTimeout - 5)
    expect([client.state, client.validFor()]).to.deep.equal(['suspended', 0])
    expect(await failureOf(client.getData(path))).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    await gone
    expect(order, 'at the server it lived on for longer').to.deep.equal(['lease', 'server'])
    proxy.heal()
    await until(() => client.state !== 'suspended')
    expect(states).to.deep.equal(['suspended', 'expired'])
    expect(stat.ephemeralOwner).to.equal(client.sessionId)
  })
})
