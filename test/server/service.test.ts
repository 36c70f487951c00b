// What an embedded server does when its caller interferes: in the middle of a transaction, at its end, and behind it.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { outcomeOf } from '../support/settled.ts'
import { uncaughtDuring } from '../support/uncaught-exceptions.ts'

describe('an embedded server whose caller interferes', () => {
  let clock: VirtualClock
  let server: Server

  const start = async (options: ServerOptions = {}) => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock, ...options })
  }
  const join = (sessionTimeout = 4000) =>
    connect(server.connectString, { dial: server.dial, clock, sessionTimeout, random: () => 0.5 })

  it('does all of a transaction, and throws what its hearer throws where nobody catches it', async () => {
    const mine = new Error('mine')
    const onTransaction: ServerOptions['onTransaction'] = ({ changes }) => {
      if (changes.length > 0) throw mine
    }
    await start({ onTransaction })
    const zk = await join()
    const heard: string[] = []
    const thrown = await uncaughtDuring(async () => {
      await zk.exists('/a', { watch: event => heard.push(event.type) })
      expect((await zk.create('/a')).path).to.equal('/a')
    })
    expect(thrown).to.deep.equal([mine])
    expect(heard).to.deep.equal(['NodeCreated'])
    await zk.close()
    await server.close()
  })

  it('says nothing of what is held when it is closed', async () => {
    await start()
    const zk = await join()
    const held = server.faults.hold('create')
    const created = outcomeOf(zk.create('/a'))
    await clock.until(held.triggered)
    await server.close()
    expect(await clock.until(created)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
    await clock.until(zk.close())
    expect(clock.pendingTimers).to.equal(0)
  })

  it('has no session when it is closed, and shows the nodes that there were', async () => {
    await start()
    const zk = await join()
    await zk.create('/e', '', { mode: 'ephemeral' })
    await server.close()
    expect(server.expireSession(zk.sessionId)).to.equal(false)
    expect(server.snapshot().sessions).to.deep.equal([])
    expect([...server.snapshot().nodes.keys()]).to.deep.equal(['/', '/e'])
    await clock.until(zk.close())
  })

  describe('leaves no timer behind where it is closed', () => {
    afterEach(() => expect(clock.pendingTimers).to.equal(0))

    it('while it is paused, whoever lets it go on', async () => {
      await start()
      const zk = await join()
      server.pause()
      await server.close()
      server.resume()
      await clock.until(zk.close())
    })

    it('by who hears what it reaps', async () => {
      const onTransaction = ({ opcode }: { opcode: number }) =>
        opcode === opcodes.deleteContainer ? void server.close() : undefined
      await start({ containerCheckInterval: 1000, onTransaction })
      const zk = await join()
      await zk.multi([{ create: '/c', mode: 'container' }, { create: '/c/x' }, { delete: '/c/x' }])
      await clock.advance(1000)
      expect(server.snapshot().nodes.has('/c'), 'it was reaped').to.equal(false)
      await clock.until(zk.close())
    })

    it('by who hears of the end of one session, beside another', async () => {
      const onTransaction = ({ opcode }: { opcode: number }) =>
        opcode === opcodes.closeSession ? void server.close() : undefined
      await start({ onTransaction })
      const clients = [await join(4000), await join(30_000)]
      server.faults.ignore('ping', { times: Infinity })
      server.faults.ignore('connect', { times: Infinity })
      await clock.advance(10_000)
      expect(server.snapshot().sessions, 'it was closed').to.deep.equal([])
      await clock.until(Promise.all(clients.map(zk => zk.close())))
    })

    it('by who hears of a handshake, or of what is asked, while an answer to it is to be late', async () => {
      for (const first of [opcodes.createSession, opcodes.create2]) {
        const onTransaction = ({ opcode }: { opcode: number }) => (opcode === first ? void server.close() : undefined)
        await start({ onTransaction })
        for (const kind of ['connect', 'create'] as const) server.faults.delay(kind, 1000)
        const connecting = connect(server.connectString, { dial: server.dial, clock, connectTimeout: 5000 })
        const done = connecting.then(zk => zk.create('/a').finally(() => zk.close()))
        expect(await clock.until(outcomeOf(done))).to.be.instanceOf(Error)
        expect(clock.pendingTimers).to.equal(0)
      }
    })
  })

  it('sets no timer that is longer than a timer may be', async () => {
    let longest = 0
    class Watched extends VirtualClock {
      override setTimeout(callback: () => void, ms: number): unknown {
        longest = Math.max(longest, ms)
        return super.setTimeout(callback, ms)
      }
    }
    clock = new Watched()
    const longestTimer = 0x7fff_ffff
    server = await Server.start({ listen: false, clock, maxSessionTimeout: longestTimer })
    const zk = await connect(server.connectString, {
      ...{ dial: server.dial, clock: new VirtualClock(), sessionTimeout: longestTimer },
    })
    expect(zk.sessionTimeout).to.equal(longestTimer)
    expect(longest).to.equal(longestTimer)
    await zk.close()
    await server.close()
  })
})
