// onTransaction, and the end of an embedded server, also during a callback.
import { expect } from 'chai'
import { connect, openACL } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Server, type ServerOptions, type TransactionRecord } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { uncaughtDuring } from '../support/uncaught-exceptions.ts'
import { until } from '../../environment/until.ts'

describe('an embedded server that is closed, or whose callback throws,', () => {
  let clock: VirtualClock
  let server: Server

  const start = async (options: ServerOptions = {}) => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock, ...options })
  }
  const join = (sessionTimeout = 4000) =>
    connect(server.connectString, { dial: server.dial, clock, sessionTimeout, random: () => 0.5 })

  it('completes a transaction whose callback throws, and reports the error as an uncaught exception', async () => {
    const failure = new Error('thrown by the callback')
    const onTransaction: ServerOptions['onTransaction'] = ({ changes }) => {
      if (changes.length > 0) throw failure
    }
    await start({ onTransaction })
    const zk = await join()
    const events: string[] = []
    const uncaught = await uncaughtDuring(async () => {
      await zk.exists('/a', { watch: event => events.push(event.type) })
      expect((await clock.until(zk.create('/a'), { within: 1000 })).path).to.equal('/a')
    })
    expect(uncaught).to.deep.equal([failure])
    expect(events).to.deep.equal(['NodeCreated'])
    await zk.close()
    await server.close()
  })

  it('does not send a held reply when it is closed', async () => {
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

  it('has no sessions after close(), and still shows the last nodes', async () => {
    await start()
    const zk = await join()
    await zk.create('/e', '', { mode: 'ephemeral' })
    await server.close()
    expect(server.expireSession(zk.sessionId)).to.equal(false)
    expect(server.snapshot().sessions).to.deep.equal([])
    expect([...server.snapshot().nodes.keys()]).to.deep.equal(['/', '/e'])
    await clock.until(zk.close())
  })

  describe('clears its timers if it is closed', () => {
    afterEach(() => expect(clock.pendingTimers).to.equal(0))

    it('while it is paused, even if resume() follows', async () => {
      await start()
      const zk = await join()
      server.pause()
      await server.close()
      server.resume()
      await clock.until(zk.close())
    })

    it('by onTransaction during a container check', async () => {
      const onTransaction = ({ opcode }: { opcode: number }) =>
        opcode === opcodes.deleteContainer ? void server.close() : undefined
      await start({ containerCheckInterval: 1000, onTransaction })
      const zk = await join()
      await zk.multi([{ create: '/c', mode: 'container' }, { create: '/c/x' }, { delete: '/c/x' }])
      await clock.advance(1000)
      expect(server.snapshot().nodes.has('/c'), 'it was deleted').to.equal(false)
      await clock.until(zk.close())
    })

    it('by onTransaction at the end of one of two sessions', async () => {
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

    it('by onTransaction during a handshake or a request whose reply a fault delays', async () => {
      for (const first of [opcodes.createSession, opcodes.create2]) {
        const onTransaction = ({ opcode }: { opcode: number }) => (opcode === first ? void server.close() : undefined)
        await start({ onTransaction })
        for (const kind of ['connect', 'create'] as const) server.faults.delay(kind, 1000)
        const connecting = connect(server.connectString, { dial: server.dial, clock, connectTimeout: 5000 })
        const done = connecting.then(async zk => {
          await using closing = zk
          return await closing.create('/a')
        })
        expect(await clock.until(outcomeOf(done))).to.be.instanceOf(Error)
        expect(clock.pendingTimers).to.equal(0)
      }
    })
  })

  it('sets no timer longer than the longest possible delay', async () => {
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

describe('an embedded server', () => {
  it('calls onTransaction for each committed transaction, in order, before the reply', async () => {
    const calls: string[] = []
    const onTransaction = ({ zxid, session, opcode, changes }: TransactionRecord) => {
      const name = Object.entries(opcodes).find(([, each]) => each === opcode)?.[0] ?? 'nothing'
      calls.push(
        `${zxid} ${session === 0n ? 'server' : 'client'} ${name} ${changes.map(each => each.path).join(' ')}`.trim(),
      )
    }
    await using server = await Server.start({ listen: false, onTransaction })
    const zk = await connect(server.connectString, { dial: server.dial })
    const created = zk.create('/a', '', { mode: 'ephemeralSequential' }).then(() => calls.push('reply'))
    await created
    await failureOf(zk.create('/no/parent'))
    await zk.create('/c', '', { mode: 'container' })
    await zk.transaction().create('/c/x').setData('/c', '').delete('/c/x').commit()
    await failureOf(zk.transaction().create('/c/x').check('/none').commit())
    await zk.getData('/c')
    await zk.setACL('/c', openACL)
    await failureOf(zk.setACL('/c', openACL, { version: 7 }))
    server.runContainerCheck()
    await zk.close()
    expect(calls).to.deep.equal([
      '1 client createSession',
      '2 client create2 /a0000000000',
      'reply',
      '4 client createContainer /c',
      '5 client multi /c/x /c /c/x',
      '7 client setACL',
      '9 server deleteContainer /c',
      '10 client closeSession /a0000000000',
    ])
  })

  it('accepts no connections when it is closed', async () => {
    const server = await Server.start({ listen: false })
    await server.close()
    const failure = await failureOf(connect(server.connectString, { dial: server.dial, connectTimeout: 100 }))
    expect(failure).to.include({ code: 'CONNECTTIMEOUT' })
  })

  it('closes its timers and connections', async () => {
    const clock = new VirtualClock()
    const server = await Server.start({ clock, tickTime: 100 })
    const zk = await connect(server.connectString, { sessionTimeout: 300 })
    server.faults.delay('exists', 100_000)
    const answer = failureOf(zk.exists('/'))
    await until(() => clock.pendingTimers === 3)
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
    expect(await answer).to.include({ code: 'CONNECTIONLOSS' })
    await zk.close()
  })
})
