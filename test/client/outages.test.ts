// The option onOutage tells when a client is without a connection, and for how long.
import { expect } from 'chai'
import { connect, supervise, type Outage, type ZooKeeperError } from '../../src/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { abortOf } from '../support/settled.ts'

describe('onOutage', () => {
  const virtual = VirtualServer.each()
  let outages: Outage[]
  const options = () => ({
    ...{ ...virtual.options, sessionTimeout: 6_000 },
    onOutage: (outage: Outage) => void outages.push(outage),
  })
  const phases = () => outages.map(({ phase }) => phase)

  beforeEach(() => (outages = []))

  it('is called twice for an outage of many failed attempts, with their number and the time', async () => {
    const errors: Error[] = []
    const zk = await connect(virtual.server.connectString, {
      ...options(),
      onConnectionError: error => errors.push(error),
    })
    await virtual.server.stop()
    await virtual.clock.advance(3_000)
    expect(phases()).to.deep.equal(['began'])
    expect(outages[0]).to.include({ ms: 0, failures: 1 })
    expect(outages[0]?.error).to.have.property('code', 'CONNECTIONLOSS')

    await virtual.server.start()
    await virtual.until(zk.whenConnected())
    expect(phases()).to.deep.equal(['began', 'ended'])
    expect(errors).to.have.length.above(3)
    expect(outages[1]).to.include({ failures: errors.length, error: errors.at(-1) })
    expect(outages[1]?.ms).to.be.within(3_000, 6_000)
    await virtual.until(zk.close())
    expect(outages).to.have.length(2)
  })

  it('is called twice for an outage that outlasts several sessions of supervise()', async () => {
    const stop = new AbortController()
    let runs = 0
    const running = supervise(
      virtual.server.connectString,
      { ...options(), signal: stop.signal },
      async (_, signal) => {
        runs++
        await abortOf(signal)
      },
    ).catch((error: unknown) => expect(error).to.equal(stop.signal.reason))
    await virtual.clock.advance(1_000)
    await virtual.server.stop()
    await virtual.clock.advance(60_000)
    expect(phases()).to.deep.equal(['began'])
    await virtual.server.start()
    await virtual.clock.advance(15_000)
    expect(runs).to.equal(2)
    expect(phases()).to.deep.equal(['began', 'ended'])
    expect(outages[1]?.ms).to.be.within(60_000, 75_000)
    stop.abort()
    await virtual.until(running)
    expect(outages).to.have.length(2)
  })

  it('tells a service that starts before its servers, in place of the warning of supervise()', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    try {
      await virtual.server.stop()
      const running = supervise(virtual.server.connectString, options(), zk => zk.exists('/'))
      await virtual.clock.advance(5_000)
      expect(outages[0]?.error).to.have.property('code', 'NOSERVER')
      await virtual.server.start()
      await virtual.until(running)
      expect(phases()).to.deep.equal(['began', 'ended'])
      await new Promise(setImmediate)
      expect(warnings).to.deep.equal([])
    } finally {
      process.off('warning', onWarning)
    }
  })

  it('passes what it throws to onUncaughtError, and goes on', async () => {
    const thrown: unknown[] = []
    const zk = await connect(virtual.server.connectString, {
      ...options(),
      onOutage: ({ phase }) => {
        throw new Error(phase)
      },
      onUncaughtError: error => thrown.push(error),
    })
    virtual.server.dropConnections()
    await virtual.until(new Promise<void>(resolve => zk.on('state', state => state === 'connected' && resolve())))
    expect(thrown.map(error => (error as Error).message)).to.deep.equal(['began', 'ended'])
    await virtual.until(zk.close())
  })

  it('that throws or rejects is told to onUncaughtError, and onConnectionError is called all the same', async () => {
    for (const isAsync of [false, true]) {
      const uncaught: unknown[] = []
      const errors: unknown[] = []
      const onOutage = ({ phase }: Outage) => {
        if (isAsync) return Promise.reject(new Error(phase)) as never
        throw new Error(phase)
      }
      const zk = await connect(virtual.server.connectString, {
        ...{ ...options(), onOutage },
        onConnectionError: error => errors.push(error.code),
        onUncaughtError: error => uncaught.push((error as Error).message),
      })
      virtual.server.dropConnections()
      await virtual.clock.advance(1_000)
      expect([zk.state, uncaught, errors]).to.deep.equal(['connected', ['began', 'ended'], ['CONNECTIONLOSS']])
      await virtual.until(zk.close())
    }
  })

  it('takes nothing from onConnectionError: what that rejects with is told to onUncaughtError', async () => {
    const uncaught: unknown[] = []
    const zk = await connect(virtual.server.connectString, {
      ...options(),
      onConnectionError: () => Promise.reject(new Error('mine')) as never,
      onUncaughtError: error => uncaught.push((error as Error).message),
    })
    virtual.server.dropConnections()
    await virtual.clock.advance(1_000)
    expect(uncaught).to.deep.equal(['mine'])
    await virtual.until(zk.close())
  })

  for (const first of ['the timer', 'the end of the connection'] as const)
    it(`is called if the process stood still for longer than the session, and ${first} says so first`, async () => {
      const stop = new AbortController()
      const errors: ZooKeeperError[] = []
      const onConnectionError = (error: ZooKeeperError) => errors.push(error)
      let sessions = 0
      const all = { ...options(), onConnectionError, signal: stop.signal }
      const running = supervise(virtual.server.connectString, all, async (_, signal) => {
        sessions++
        await abortOf(signal)
      }).catch((error: unknown) => expect(error).to.equal(stop.signal.reason))
      await virtual.clock.advance(1_000)
      virtual.clock.stall(18_000)
      if (first === 'the end of the connection') virtual.server.dropConnections()
      await virtual.clock.advance(15_000)
      expect(sessions).to.equal(2)
      expect(phases()).to.deep.equal(['began', 'ended'])
      expect(errors[0]).to.equal(outages[0]?.error)
      expect(errors[0]).to.have.property('code', 'CONNECTIONLOSS')
      expect(errors[0]?.message).to.match(/this process or its machine stood still for \d+ ms/)
      expect(outages.map(({ ms }) => Number.isInteger(ms))).to.deep.equal([true, true])
      stop.abort()
      await virtual.until(running)
      expect(outages).to.have.length(2)
    })

  it('is not called when a session is closed, and its error says nothing of a stall if there was none', async () => {
    const zk = await connect(virtual.server.connectString, options())
    await virtual.clock.advance(1_000)
    virtual.server.dropConnections()
    await virtual.clock.advance(1_000)
    expect(outages[0]?.error.message).not.to.match(/stood still/)
    await virtual.until(zk.close())
    expect(phases()).to.deep.equal(['began', 'ended'])
  })
})
