// Faults while dialling, and bounds of time and memory, mostly in virtual time.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { ConnectRequest } from '../../src/protocol/index.ts'
import { connect, type State } from '../../src/client/index.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { pongFrame, handshakeFrame } from '../support/scripted-server.ts'
import { dataReply, redial, scriptedSession, scriptedConnect, T } from '../support/scripted-session.ts'

describe('dialling, time and memory:', () => {
  for (const [pause, random] of [
    ['shortest', () => 0],
    ['longest', () => 0.999_999],
  ] as const) {
    it(`the next attempt starts within 300 ms of a lost connection, with the ${pause} random pause`, async () => {
      const all = await scriptedSession({ random })
      for (const end of [undefined, new Error('ECONNRESET')]) {
        const { length } = all.server.connections
        all.server.connections.at(-1)?.close(end)
        await all.clock.advance(300)
        expect(all.server.connections).to.have.length(length + 1)
        const next = await all.server.next()
        next.open()
        next.handshake()
        const proof = all.client.getData('/a')
        next.reply(await next.next(), dataReply())
        await proof
      }
    })
  }

  it('a mebibyte that arrives byte by byte takes linear time', async () => {
    const { client, connection } = await scriptedSession()
    const read = client.getData('/a')
    const reply = connection.replyTo(await connection.next(), dataReply('x'.repeat(1024 * 1024)))
    const before = process.cpuUsage()
    for (let i = 0; i < reply.length; i++) connection.send(reply.subarray(i, i + 1))
    const { user, system } = process.cpuUsage(before)
    expect((await read).data).to.have.length(1024 * 1024)
    expect((user + system) / 1e6, 'seconds of CPU time').to.be.below(20)
  })

  it('a server that accepts the connection but stays silent is left after attemptTimeout', async () => {
    const { opening, server, clock } = scriptedConnect({ attemptTimeout: 500 }, 'a,b')
    const silent = await server.next()
    silent.open()
    await clock.advance(499)
    expect(silent.dropped).to.equal(false)
    await clock.advance(1)
    expect(silent.dropped).to.equal(true)
    const next = await redial({ clock, server })
    expect(next.address.host).not.to.equal(silent.address.host)
    next.open()
    next.handshake()
    await opening
  })

  it('a connection that opens after its attempt has ended gets nothing', async () => {
    const { opening, server, clock } = scriptedConnect({ attemptTimeout: 500 }, 'a,b')
    const late = await server.next()
    await clock.advance(500)
    expect(late.dropped).to.equal(true)
    late.open()
    expect(late.connectRequest).to.equal(undefined)
    const next = await redial({ clock, server })
    next.open()
    next.handshake()
    expect((await opening).state).to.equal('connected')
  })

  it('if all servers refuse, connect() makes 5 to 60 attempts in 10 s and rejects at its deadline', async () => {
    const { opening, server, clock } = scriptedConnect({ connectTimeout: 10_000 }, 'a,b,c')
    const refused = failureOf(opening)
    const isSettled = trackSettled(refused)
    for (let passed = 0, answered = 0; passed < 10_000; passed += 10) {
      for (; answered < server.connections.length; answered++)
        server.connections[answered]?.close(new Error('ECONNREFUSED'))
      expect(isSettled()).to.equal(false)
      await clock.advance(10)
    }
    expect(await refused).to.include({ code: 'CONNECTTIMEOUT', fate: 'notSent' })
    expect(server.connections.length).to.be.within(5, 60)
    expect(clock.pendingTimers).to.equal(0)
  })

  // The latency may vary by a third of T: a ping is sent after each third of T, and two thirds of silence end the
  // connection.
  for (const [least, name] of [
    [0, '0 and T/3'],
    [1 / 6, 'T/6 and T/2'],
    [1 / 3, 'T/3 and 2T/3'],
  ] as const) {
    it(`latency that varies between ${name} does not suspend the session for a minute (SEED=${seed})`, async () => {
      const random = seededRandom(seed)
      const { client, connection, clock } = await scriptedSession()
      const states: State[] = []
      client.on('state', state => states.push(state))
      const delayed: { at: number; frame: Buffer }[] = []
      let last = 0
      for (let passed = 0, index = 0; passed < 60_000; passed += 50) {
        for (; index < connection.received.length; index++) {
          const request = connection.received[index]
          if (request === undefined) continue
          // The replies keep their order, as in TCP. The handshake took no time here, so the first reply has the least
          // latency.
          last = Math.max(last, clock.now() + T * (least + (index === 0 ? 0 : random() / 3)))
          delayed.push({
            at: last,
            frame: request.xid === -2 ? pongFrame() : connection.replyTo(request, dataReply()),
          })
        }
        while (delayed[0] !== undefined && delayed[0].at <= clock.now())
          connection.send(delayed.shift()?.frame ?? pongFrame())
        if (passed % 20_000 > 10_000) void outcomeOf(client.getData('/a'))
        await clock.advance(50)
      }
      expect(states).to.deep.equal([])
      expect(client.leaseSignal.aborted).to.equal(false)
    })
  }

  it('a server that stops reading costs at most maxPending requests and two thirds of the timeout', async () => {
    const sockets: Socket[] = []
    const server = createServer(socket => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.once('data', frame => {
        socket.write(handshakeFrame(ConnectRequest.decode(frame.subarray(4))))
        socket.pause()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = await connect(address, { sessionTimeout: 900, maxPending: 10_000 })
    const before = process.memoryUsage().arrayBuffers
    const data = Buffer.alloc(1000)
    const codes = new Map<string, number>()
    const calls = Array.from({ length: 100_000 }, async () => {
      const { code } = (await failureOf(client.setData('/a', data))) as { code: string }
      codes.set(code, (codes.get(code) ?? 0) + 1)
    })
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(64 * 1024 * 1024)
    const startedAt = performance.now()
    const suspended = new Promise<number>(resolve => client.on('state', () => resolve(performance.now())))
    await Promise.all(calls)
    expect((await suspended) - startedAt, 'ms to detect').to.be.below(2 * client.sessionTimeout + LOAD_ALLOWANCE)
    expect(Object.fromEntries(codes)).to.deep.equal({ TOOMANYPENDING: 90_000, CONNECTIONLOSS: 10_000 })
    const closed = once(server, 'close')
    server.close()
    await client.close()
    for (const socket of sockets) socket.destroy()
    await closed
    await settle()
  })
})
