import { expect } from 'chai'
import { eventTypes, opcodes, xids } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { trackSettled } from '../../support/settled.ts'
import { pongFrame, replyFrame, type ScriptedConnection } from '../../support/scripted-server.ts'
import {
  dataReply,
  reconnect,
  redial,
  scriptedSession,
  T,
  type ScriptedSession,
} from '../../support/scripted-session.ts'

const pings = (connection: ScriptedConnection) => connection.received.filter(({ opcode }) => opcode === opcodes.ping)

describe('a heartbeat', () => {
  it('is sent at least every third of the session timeout', async () => {
    const { connection, clock } = await scriptedSession()
    const sent: number[] = [clock.now()]
    while (clock.now() < 1000 + 10 * T) {
      await clock.advance(1)
      if (pings(connection).length === sent.length - 1) continue
      sent.push(clock.now())
      connection.send(pongFrame())
    }
    expect(sent.length).to.be.within(31, 36)
    const gaps = sent.slice(1).map((at, i) => at - (sent[i] as number))
    expect(Math.max(...gaps)).to.be.at.most(T / 3)
  })

  it('is not sent while requests are sent, but is sent while the client only receives', async () => {
    const { client, connection, clock } = await scriptedSession()
    for (let i = 0; i < 20; i++) {
      const read = client.getData('/a')
      connection.reply(await connection.next(), dataReply())
      await read
      await clock.advance(T / 5)
    }
    expect(pings(connection)).to.have.length(0)
    for (let i = 0; i < 5; i++) {
      connection.event(1, '/nobody')
      await clock.advance(T / 5)
    }
    expect(pings(connection)).to.have.length(4)
  })

  it('follows the negotiated timeout, not the requested one', async () => {
    const { connection, clock } = await scriptedSession({ sessionTimeout: 60_000 }, 'zk', { timeOut: 900 })
    await clock.advance(300)
    expect(pings(connection)).to.have.length(1)
  })
})

describe('silence', () => {
  it('ends a connection after two thirds of the session timeout, and not earlier', async () => {
    const { client, connection, clock } = await scriptedSession()
    await clock.advance((T * 2) / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(1)
    expect(connection.dropped).to.equal(true)
    expect(client.state).to.equal('suspended')
  })

  it('is measured from the last received byte of any kind', async () => {
    const { connection, clock } = await scriptedSession()
    await clock.advance(T / 2)
    connection.send(pongFrame().subarray(0, 1))
    await clock.advance((T * 2) / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(1)
    expect(connection.dropped).to.equal(true)
  })

  it('ends a connection also if the server sends events and answers nothing for the session timeout', async () => {
    const { client, connection, clock } = await scriptedSession()
    const read = client.getData('/a').catch((error: unknown) => error)
    await connection.next()
    const sendEvents = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10) {
        connection.event(1, '/nobody')
        connection.send(replyFrame(xids.auth, 1n))
        await clock.advance(10)
      }
    }
    await sendEvents(T - 10)
    expect(connection.dropped).to.equal(false)
    await sendEvents(20)
    expect(connection.dropped).to.equal(true)
    expect(((await read) as Error).cause)
      .to.have.property('message')
      .that.contains('the server answered nothing for')
  })

  it('does not end a connection if the server sends events and answers late, but within the session timeout', async () => {
    const { connection, clock } = await scriptedSession()
    const answerAt: number[] = []
    for (let passed = 0, answered = 0; passed < 10 * T; passed += 10) {
      connection.event(1, '/nobody')
      for (const count = pings(connection).length; answerAt.length < count;) answerAt.push(clock.now() + 0.6 * T)
      while ((answerAt[answered] ?? Infinity) <= clock.now()) {
        answered++
        connection.send(pongFrame())
      }
      await clock.advance(10)
    }
    expect(connection.dropped).to.equal(false)
  })

  it('does not end a connection while the server answers pings, although it answers a read late', async () => {
    const { client, connection, clock } = await scriptedSession()
    const read = client.getData('/late')
    const request = await connection.next()
    for (let answered = 0; clock.now() < 1000 + 3 * T;) {
      await clock.advance(T / 10)
      for (; answered < pings(connection).length; answered++) connection.send(pongFrame())
    }
    expect(connection.dropped).to.equal(false)
    connection.reply(request, dataReply())
    await read
  })

  it('is named as the cause of lost calls', async () => {
    const { client, clock } = await scriptedSession()
    const read = client.getData('/a').catch((error: unknown) => error)
    await clock.advance(T)
    const { cause } = (await read) as Error
    expect((cause as Error).message)
      .to.contain('zk:2181')
      .and.to.contain(`the server sent nothing for ${(T * 2) / 3 + 1} ms`)
  })

  it('does not end a connection if the process stalled while a reply waited in the socket', async () => {
    const { client, connection, clock } = await scriptedSession()
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T * 0.9)
    await clock.advance(0)
    connection.reply(request, dataReply('here all along'))
    await clock.advance(T / 10)
    expect((await read).data?.toString()).to.equal('here all along')
    expect(connection.dropped).to.equal(false)
    expect(client.state).to.equal('connected')
    expect(pings(connection)).to.have.length(1)
  })

  it('does not end a connection after a second stall either, if only an event was received after the first', async () => {
    const { client, connection, clock } = await scriptedSession()
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T * 0.7)
    await clock.advance(0)
    connection.event(eventTypes.NodeDataChanged, '/b')
    await clock.advance(1)
    clock.stall(T * 0.7)
    await clock.advance(0)
    connection.reply(request, dataReply())
    await read
    expect(connection.dropped).to.equal(false)
  })

  it('ends a connection also if an event arrives in each turn in which the client waits for an answer', async () => {
    const all = await scriptedSession()
    all.client.getData('/a').catch(() => undefined)
    await sendEvents(all, T - 10, 10)
    expect(all.connection.dropped).to.equal(false)
    await sendEvents(all, 20, 1)
    expect(all.connection.dropped).to.equal(true)
  })

  /** What makes the client doubt that the server answers. Returns the reply that ends the doubt. */
  const doubts: Readonly<Record<string, (all: ScriptedSession) => Promise<() => Promise<void>>>> = {
    'a silence': async all => {
      const answer = await read(all)
      all.clock.stall(T * 0.7)
      return answer
    },
    'events without an answer': async all => {
      const answer = await read(all)
      await sendEvents(all, T - 10, 10)
      all.clock.stall(10)
      return answer
    },
    'events without an answer, and then a silence': async all => {
      const answer = await read(all)
      await sendEvents(all, T - 10, 10)
      all.clock.stall(10)
      await all.clock.advance(0)
      all.clock.stall(T * 0.7)
      return answer
    },
  }
  const read = async ({ client, connection }: ScriptedSession) => {
    const reading = client.getData('/a')
    const request = await connection.next()
    return async () => {
      connection.reply(request, dataReply())
      await reading
    }
  }
  const sendEvents = async ({ connection, clock }: ScriptedSession, ms: number, pause: number) => {
    for (let passed = 0; passed < ms; passed += pause) {
      connection.event(eventTypes.NodeDataChanged, '/nobody')
      await clock.advance(pause)
    }
  }
  for (const [first, doubt] of Object.entries(doubts))
    for (const [second, next] of Object.entries(doubts))
      it(`does not end a connection at ${second} after ${first}: each doubt has a turn of its own`, async () => {
        const all = await scriptedSession()
        for (const each of [doubt, next]) {
          const answer = await each(all)
          await all.clock.advance(0)
          expect(all.connection.dropped).to.equal(false)
          await answer()
        }
      })

  it('does not end a connection after a stall without a pending ping: the client sends one first', async () => {
    const { client, connection, clock } = await scriptedSession()
    clock.stall(T * 0.9)
    await clock.advance(T / 10 - 1)
    expect(pings(connection)).to.have.length(1)
    connection.send(pongFrame())
    await clock.advance(1)
    expect([client.state, client.leaseSignal.aborted]).to.deep.equal(['connected', false])
    await clock.advance(T / 2)
    expect(connection.dropped).to.equal(false)
  })

  it('ends a connection after a stall if the ping then gets no reply for a third of the timeout', async () => {
    const { client, connection, clock } = await scriptedSession()
    clock.stall(T * 0.9)
    await clock.advance(T / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(2)
    expect(connection.dropped).to.equal(true)
    expect(client.state).to.equal('suspended')
  })

  it('ends a connection immediately after a stall if the reply to an earlier request is missing', async () => {
    const { client, connection, clock } = await scriptedSession()
    client.sync('/').catch(() => undefined)
    await connection.next()
    clock.stall(T * 0.9)
    await clock.advance(2)
    expect(connection.dropped).to.equal(true)
  })

  it('ends a connection even if one incomplete frame keeps growing', async () => {
    const { connection, clock } = await scriptedSession()
    const frame = Buffer.alloc(1000)
    frame.writeInt32BE(996)
    const startedAt = clock.now()
    for (let i = 0; i < 1000 && !connection.dropped; i++) {
      connection.send(frame.subarray(i, i + 1))
      await clock.advance(T / 10)
    }
    expect(connection.dropped).to.equal(true)
    expect(clock.now() - startedAt).to.be.within(T, T * 1.4)
  })

  it('does not end a connection while partial frames are completed', async () => {
    const { connection, clock } = await scriptedSession()
    connection.send(pongFrame().subarray(0, 7))
    for (let i = 0; i < 30; i++) {
      await clock.advance(T / 10)
      connection.send(pongFrame().subarray(7), pongFrame().subarray(0, 7))
    }
    expect(connection.dropped).to.equal(false)
  })
})

describe('the lease of a session', () => {
  it('that ended during a stall aborts its signal before the calls on a closed socket reject', async () => {
    const { client, connection, clock } = await scriptedSession()
    const log: string[] = []
    client.leaseSignal.addEventListener('abort', () => log.push('lease'))
    const reading = client.getData('/a').catch(() => log.push('call'))
    clock.stall(T)
    connection.close()
    await reading
    expect(log).to.deep.equal(['lease', 'call'])
  })

  it('counts from the time at which the last answered packet was sent, not from its reply', async () => {
    const { client, connection, clock } = await scriptedSession()
    expect(client.validFor()).to.equal(T)
    await clock.advance(500)
    expect(client.validFor()).to.equal(T - 500)
    const read = client.getData('/a')
    const request = await connection.next()
    await clock.advance(300)
    expect(client.validFor()).to.equal(T - 800)
    connection.reply(request, dataReply())
    await read
    expect(client.validFor()).to.equal(T - 300)
  })

  it('counts from the time at which the connect request was sent', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const second = await redial(all)
    await all.clock.advance(100)
    second.open()
    await all.clock.advance(200)
    second.handshake()
    expect(all.client.validFor()).to.equal(T - 200)
  })

  it('is renewed by the reply to a ping, but not by an event', async () => {
    const { client, connection, clock } = await scriptedSession()
    await clock.advance(T / 3)
    expect(pings(connection)).to.have.length(1)
    connection.event(1, '/nobody')
    expect(client.validFor()).to.equal((T * 2) / 3)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T - 100)
  })

  it('matches each reply to its ping if two are in flight', async () => {
    const { client, connection, clock } = await scriptedSession()
    await clock.advance(1800)
    expect(pings(connection)).to.have.length(2)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T - 900)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T)
  })

  it('ends while suspended: its signal aborts, queued requests fail, the state does not change', async () => {
    const { client, connection, clock } = await scriptedSession()
    const { leaseSignal } = client
    await clock.advance(500)
    connection.close()
    const queued = client.getData('/queued').catch((error: unknown) => error)
    const settled = trackSettled(queued)
    await clock.advance(T - 501)
    expect(leaseSignal.aborted).to.equal(false)
    expect(client.validFor()).to.equal(1)
    expect(settled()).to.equal(false)
    await clock.advance(1)
    expect(leaseSignal.aborted).to.equal(true)
    expect(client.validFor()).to.equal(0)
    expect(await queued).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent', op: 'getData', path: '/queued' })
    expect(client.state).to.equal('suspended')
    expect(await client.getData('/late').catch((error: unknown) => error)).to.include({
      code: 'CONNECTIONLOSS',
      fate: 'notSent',
    })
  })

  it('restarts with a new signal if the session is resumed late', async () => {
    const all = await scriptedSession()
    const { client, connection, clock } = all
    const { leaseSignal } = client
    connection.close()
    await clock.advance(10 * T)
    expect(leaseSignal.aborted).to.equal(true)
    for (const attempt of all.server.connections.slice(1)) attempt.close()
    const last = await redialLast()
    last.open()
    last.handshake()
    await settle()
    expect(client.state).to.equal('connected')
    expect(client.leaseSignal).not.to.equal(leaseSignal)
    expect(client.leaseSignal.aborted).to.equal(false)
    expect(leaseSignal.aborted).to.equal(true)
    expect(client.validFor()).to.equal(T)

    async function redialLast() {
      const { length } = all.server.connections
      while (all.server.connections.length === length) await clock.advance(1)
      return all.server.connections[length] as ScriptedConnection
    }
  })

  it('does not limit the attempts: the session is presented to servers until one answers', async () => {
    const all = await scriptedSession()
    all.connection.close()
    for (let i = 0; i < 80; i++) (await redial(all)).close(new Error('refused'))
    expect(all.clock.now()).to.be.above(10 * T)
    expect(all.client.state).to.equal('suspended')
    const { connectRequest } = await nextAttempt()
    expect(connectRequest?.sessionId).to.equal(all.client.sessionId)

    async function nextAttempt() {
      const next = await redial(all)
      next.open()
      return next
    }
  })

  it('is checked first in every callback: after a stall, before received bytes are processed', async () => {
    const { client, connection, clock } = await scriptedSession()
    const { leaseSignal } = client
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T)
    const held = read.then(() => leaseSignal.aborted)
    connection.reply(request, dataReply())
    expect(leaseSignal.aborted).to.equal(true)
    expect(await held).to.equal(true)
  })

  it('is checked when leaseSignal is read, so that a stall is noticed before a timer fires', async () => {
    const { client, clock } = await scriptedSession()
    clock.stall(T - 1)
    expect(client.leaseSignal.aborted).to.equal(false)
    clock.stall(1)
    expect(client.leaseSignal.aborted).to.equal(true)
  })

  it('ends on time while connected, between two pings', async () => {
    const { client, connection, clock } = await scriptedSession()
    const { leaseSignal } = client
    for (let i = 1; i < 10; i++) {
      await clock.advance(T / 10)
      connection.event(1, '/nobody')
    }
    expect(pings(connection)).to.have.length(3)
    await clock.advance(T / 10 - 1)
    expect(leaseSignal.aborted).to.equal(false)
    await clock.advance(1)
    expect(leaseSignal.aborted).to.equal(true)
    expect(client.state).to.equal('connected')
  })

  it('is renewed with a new signal after a stall if the connection survived', async () => {
    const { client, connection, clock } = await scriptedSession()
    const { leaseSignal } = client
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T)
    connection.reply(request, dataReply())
    await read
    expect(client.validFor(), 'the reply belongs to a request from before the stall').to.equal(0)
    await clock.advance(2)
    expect(pings(connection)).to.have.length(1)
    connection.send(pongFrame())
    expect(client.validFor()).to.be.above(T - 10)
    expect(client.leaseSignal).not.to.equal(leaseSignal)
    expect(client.leaseSignal.aborted).to.equal(false)
    await clock.advance(T)
    expect(client.leaseSignal.aborted, 'the new signal aborts too').to.equal(true)
  })

  it('ends early if the wall clock jumps ahead, as after the machine was suspended, but not if it jumps back', async () => {
    const { client, connection, clock } = await scriptedSession()
    clock.jumpWall(-3_600_000)
    await clock.advance(100)
    expect(client.validFor()).to.equal(T - 100)
    expect(client.leaseSignal.aborted).to.equal(false)
    clock.jumpWall(2 * 3_600_000)
    expect(client.validFor()).to.equal(0)
    connection.event(1, '/nobody')
    expect(client.leaseSignal.aborted).to.equal(true)
    await clock.advance(T / 3)
    connection.send(pongFrame())
    expect(client.validFor()).to.be.above((T * 2) / 3)
    expect(client.leaseSignal.aborted).to.equal(false)
  })

  it('ends with the session', async () => {
    const all = await scriptedSession()
    const { leaseSignal } = all.client
    all.connection.close()
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    expect(leaseSignal.aborted).to.equal(true)
    expect(leaseSignal.reason).to.include({ code: 'SESSIONEXPIRED' })
    expect(all.client.validFor()).to.equal(0)
  })
})
