import { expect } from 'chai'
import { opcodes } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { watched } from '../../support/settled.ts'
import { pongFrame, type ScriptedConnection } from '../../support/scripted-server.ts'
import { dataReply, reconnect, redial, scripted, T } from '../../support/scripted-session.ts'

const pings = (connection: ScriptedConnection) => connection.received.filter(({ opcode }) => opcode === opcodes.ping)

describe('a heartbeat', () => {
  it('goes out at least every third of the session timeout', async () => {
    const { connection, clock } = await scripted()
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

  it('is spared while requests go out, and is not while only replies come in', async () => {
    const { client, connection, clock } = await scripted()
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

  it('B11: follows the timeout that the server gave, not the one that was asked for', async () => {
    const { connection, clock } = await scripted({ sessionTimeout: 60_000 }, 'zk', { timeOut: 900 })
    await clock.advance(300)
    expect(pings(connection)).to.have.length(1)
  })
})

describe('silence', () => {
  it('of two thirds of the session timeout ends a connection, and not a moment less', async () => {
    const { client, connection, clock } = await scripted()
    await clock.advance((T * 2) / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(1)
    expect(connection.dropped).to.equal(true)
    expect(client.state).to.equal('suspended')
  })

  it('is counted from the last byte that was heard, whatever it belongs to', async () => {
    const { connection, clock } = await scripted()
    await clock.advance(T / 2)
    connection.send(pongFrame().subarray(0, 1))
    await clock.advance((T * 2) / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(1)
    expect(connection.dropped).to.equal(true)
  })

  it('names itself as the cause of what is lost', async () => {
    const { client, clock } = await scripted()
    const read = client.getData('/a').catch((error: unknown) => error)
    await clock.advance(T)
    const { cause } = (await read) as Error
    expect((cause as Error).message)
      .to.contain('zk:2181')
      .and.to.contain(`the server sent nothing for ${(T * 2) / 3 + 1} ms`)
  })

  it('G6: is none where a stall of the process kept what came waiting', async () => {
    const { client, connection, clock } = await scripted()
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

  it('G6: is none after a stall of the process in which nothing was asked: now it is', async () => {
    const { client, connection, clock } = await scripted()
    clock.stall(T * 0.9)
    await clock.advance(T / 10 - 1)
    expect(pings(connection)).to.have.length(1)
    connection.send(pongFrame())
    await clock.advance(1)
    expect([client.state, client.leaseSignal.aborted]).to.deep.equal(['connected', false])
    await clock.advance(T / 2)
    expect(connection.dropped).to.equal(false)
  })

  it('ends a connection after a stall when what is asked then has no answer for a third of the timeout', async () => {
    const { client, connection, clock } = await scripted()
    clock.stall(T * 0.9)
    await clock.advance(T / 3)
    expect(connection.dropped).to.equal(false)
    await clock.advance(2)
    expect(connection.dropped).to.equal(true)
    expect(client.state).to.equal('suspended')
  })

  it('ends a connection after a stall at once where the answer to what was asked before is not there', async () => {
    const { client, connection, clock } = await scripted()
    client.sync('/').catch(() => undefined)
    await connection.next()
    clock.stall(T * 0.9)
    await clock.advance(2)
    expect(connection.dropped).to.equal(true)
  })

  it('A7: is not broken by one frame that takes for ever', async () => {
    const { connection, clock } = await scripted()
    const frame = Buffer.alloc(1000)
    frame.writeInt32BE(996)
    const begun = clock.now()
    for (let i = 0; i < 1000 && !connection.dropped; i++) {
      connection.send(frame.subarray(i, i + 1))
      await clock.advance(T / 10)
    }
    expect(connection.dropped).to.equal(true)
    expect(clock.now() - begun).to.be.within(T, T * 1.4)
  })

  it('is not feared while frame after frame is cut in the middle', async () => {
    const { connection, clock } = await scripted()
    connection.send(pongFrame().subarray(0, 7))
    for (let i = 0; i < 30; i++) {
      await clock.advance(T / 10)
      connection.send(pongFrame().subarray(7), pongFrame().subarray(0, 7))
    }
    expect(connection.dropped).to.equal(false)
  })
})

describe('the lease of a session', () => {
  it('counts from when the last answered packet was sent, not from when its answer came', async () => {
    const { client, connection, clock } = await scripted()
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

  it('counts from when the connect request was sent', async () => {
    const all = await scripted()
    all.connection.close()
    const second = await redial(all)
    await all.clock.advance(100)
    second.open()
    await all.clock.advance(200)
    second.welcome()
    expect(all.client.validFor()).to.equal(T - 200)
  })

  it('is renewed by the answer to a ping, and by no event', async () => {
    const { client, connection, clock } = await scripted()
    await clock.advance(T / 3)
    expect(pings(connection)).to.have.length(1)
    connection.event(1, '/nobody')
    expect(client.validFor()).to.equal((T * 2) / 3)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T - 100)
  })

  it('counts an answer for the ping it belongs to, where two are under way', async () => {
    const { client, connection, clock } = await scripted()
    await clock.advance(1800)
    expect(pings(connection)).to.have.length(2)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T - 900)
    connection.send(pongFrame())
    expect(client.validFor()).to.equal(T)
  })

  it('B9: runs out while suspended: its signal aborts, queued requests fail, the state stays', async () => {
    const { client, connection, clock } = await scripted()
    const { leaseSignal } = client
    await clock.advance(500)
    connection.close()
    const queued = client.getData('/queued').catch((error: unknown) => error)
    const settled = watched(queued)
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

  it('starts anew, with a new signal, when the session comes back late', async () => {
    const all = await scripted()
    const { client, connection, clock } = all
    const { leaseSignal } = client
    connection.close()
    await clock.advance(10 * T)
    expect(leaseSignal.aborted).to.equal(true)
    for (const attempt of all.server.connections.slice(1)) attempt.close()
    const last = await redialLast()
    last.open()
    last.welcome()
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

  it('B9: is offered to servers for as long as none of them answers', async () => {
    const all = await scripted()
    all.connection.close()
    for (let i = 0; i < 50; i++) (await redial(all)).close(new Error('refused'))
    expect(all.clock.now()).to.be.above(10 * T)
    expect(all.client.state).to.equal('suspended')
    const { hello } = await helloOfNext()
    expect(hello?.sessionId).to.equal(all.client.sessionId)

    async function helloOfNext() {
      const next = await redial(all)
      next.open()
      return next
    }
  })

  it('G5: is looked at first in every callback: after a stall, before a byte is believed', async () => {
    const { client, connection, clock } = await scripted()
    const { leaseSignal } = client
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T)
    expect(client.validFor()).to.equal(0)
    const held = read.then(() => leaseSignal.aborted)
    connection.reply(request, dataReply())
    expect(leaseSignal.aborted).to.equal(true)
    expect(await held).to.equal(true)
  })

  it('G5: is renewed after a stall that the connection has outlived, with a new signal', async () => {
    const { client, connection, clock } = await scripted()
    const { leaseSignal } = client
    const read = client.getData('/a')
    const request = await connection.next()
    clock.stall(T)
    connection.reply(request, dataReply())
    await read
    expect(client.validFor(), 'the answer is to what was sent before the stall').to.equal(0)
    await clock.advance(2)
    expect(pings(connection)).to.have.length(1)
    connection.send(pongFrame())
    expect(client.validFor()).to.be.above(T - 10)
    expect(client.leaseSignal).not.to.equal(leaseSignal)
    expect(client.leaseSignal.aborted).to.equal(false)
    await clock.advance(T)
    expect(client.leaseSignal.aborted, 'and the new one is watched too').to.equal(true)
  })

  it('G7: ends early where the calendar jumps ahead, as after a suspended machine, and not where it jumps back', async () => {
    const { client, connection, clock } = await scripted()
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

  it('holds nothing of a session that is over', async () => {
    const all = await scripted()
    const { leaseSignal } = all.client
    all.connection.close()
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    expect(leaseSignal.aborted).to.equal(true)
    expect(leaseSignal.reason).to.include({ code: 'SESSIONEXPIRED' })
    expect(all.client.validFor()).to.equal(0)
  })
})
