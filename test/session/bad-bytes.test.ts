import { expect } from 'chai'
import { errnos, eventTypes, ReplyHeader, WatcherEvent, xids, type ZooKeeperError } from '../../src/protocol/index.ts'
import { settle } from '../support/fake-clock.ts'
import { eventFrame, frameOf, replyFrame, statOf } from '../support/scripted-server.ts'
import { dataReply, reconnect, redial, scripted, scriptedOpening } from '../support/scripted-session.ts'

const int = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => bytes.writeInt32BE(value, 4 * i))
  return bytes
}

const prefixed = (bytes: Uint8Array) => Buffer.concat([int(bytes.length), bytes])

/** What no server may send, each as what follows a good stream. */
const bad: [what: string, bytes: Buffer][] = [
  ['a length of -1', int(-1)],
  ['a length of -4', int(-4)],
  ['the least length', int(-0x8000_0000)],
  ['a length of 2 GiB', Buffer.concat([int(0x7fff_ffff), Buffer.alloc(1000)])],
  ['a length above maxReply', int(16 * 1024 * 1024 + 1)],
  ['an empty frame', int(0)],
  ['a frame too short for a header', prefixed(Buffer.alloc(15))],
  ['an answer to a request that was not made', replyFrame(999, 1n)],
  ['an answer to a request before the first', replyFrame(0, 1n)],
  ['an event that is cut', prefixed(eventFrame(1, '/a').subarray(4, -1))],
  ['an event whose path is longer than its frame', badEvent(0x7fff_ffff)],
  ['an event whose path has a length of -2', badEvent(-2)],
]

/** What may be ignored, and is. */
const harmless: [what: string, bytes: Buffer][] = [
  ['an event of an unknown type', eventFrame(77, '/a')],
  ['an event of a negative type', eventFrame(-1, '/a')],
  ['an event without a path', eventFrame(eventTypes.NodeDataChanged, null)],
  ['an event on a path that nobody watches', eventFrame(eventTypes.NodeDataChanged, '/elsewhere')],
  ['an event named after what every object has', eventFrame(eventTypes.NodeCreated, '__proto__')],
  ['an xid of -3', replyFrame(-3, 1n)],
  ['an xid of -5', replyFrame(-5, 1n, -999)],
  ['an answer to a ping that was not sent', replyFrame(xids.ping, 1n)],
  ['an answer to credentials that were not sent', replyFrame(xids.auth, 1n)],
  ['ten thousand answers to pings', Buffer.concat(Array.from({ length: 10_000 }, () => replyFrame(xids.ping, 1n)))],
]

describe('bad bytes', () => {
  for (const [what, bytes] of bad) {
    describe(what, () => {
      it('ends the connection, fails what was sent, and the next connection works', async () => {
        const all = await scripted()
        const { client, connection } = all
        const reads = ['/a', '/b', '/c'].map(path => client.getData(path).catch((error: unknown) => error))
        await settle()
        connection.send(bytes)
        expect(connection.dropped).to.equal(true)
        expect(client.state).to.equal('suspended')
        const [first, ...others] = (await Promise.all(reads)) as ZooKeeperError[]
        expect(first?.code).to.be.oneOf(['CONNECTIONLOSS', 'REPLYTOOLARGE'])
        for (const error of [first, ...others]) {
          expect(error).to.have.property('fate', 'unknown')
          if (error !== first) expect(error).to.have.property('code', 'CONNECTIONLOSS')
        }
        expect((others[0] as Error).cause).to.include({ code: 'PROTOCOL' })
        const second = await reconnect(all)
        const read = client.getData('/a')
        second.reply(await second.next(), dataReply())
        await read
      })

      it('as the first frame, or instead of it, has the next server tried', async () => {
        const { opening, server, clock } = scriptedOpening()
        const liar = await server.next()
        liar.open()
        liar.send(bytes)
        expect(liar.dropped).to.equal(true)
        const honest = await redial({ server, clock })
        honest.open()
        honest.welcome()
        expect((await opening).state).to.equal('connected')
      })

      it('while a close is under way has it done on the next connection', async () => {
        const all = await scripted()
        const closing = all.client.close()
        await settle()
        all.connection.send(bytes)
        const second = await reconnect(all)
        second.reply(await second.next())
        await closing
        expect(all.client.state).to.equal('closed')
        expect(all.clock.pendingTimers).to.equal(0)
      })
    })
  }

  for (const [what, bytes] of harmless) {
    it(`${what}: nothing becomes of it`, async () => {
      const { client, connection, callbackErrors } = await scripted()
      const events: string[] = []
      const armed = client.getData('/a', { watch: ({ type }) => events.push(type) })
      connection.reply(await connection.next(), dataReply())
      await armed
      const read = client.getData('/b')
      const request = await connection.next()
      connection.send(bytes, connection.replyTo(request, dataReply()), eventFrame(eventTypes.NodeDeleted, '/a'))
      await read
      await settle()
      expect(connection.dropped).to.equal(false)
      expect(client.state).to.equal('connected')
      expect(events).to.deep.equal(['NodeDeleted'])
      expect(callbackErrors).to.deep.equal([])
    })
  }

  it('in a reply fail that call as PROTOCOL, the others as CONNECTIONLOSS, and end the connection', async () => {
    for (const broken of [
      Buffer.alloc(0),
      int(0x7fff_ffff),
      int(-7),
      int(5, 0),
      Buffer.concat([int(1), Buffer.alloc(60)]),
    ]) {
      const { client, connection } = await scripted()
      const [first, second] = [client.getData('/a'), client.getData('/b')].map(call => call.catch((e: unknown) => e))
      const { xid } = await connection.next()
      connection.send(replyOf(xid, 0, broken))
      expect(await first).to.include({ code: 'PROTOCOL', fate: 'unknown', op: 'getData', path: '/a' })
      expect(await second).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', path: '/b' })
      expect(connection.dropped).to.equal(true)
    }
  })

  it('that claim a list of 2 147 483 632 names are not believed', async () => {
    const { client, connection } = await scripted()
    const call = client.getChildren('/a').catch((error: unknown) => error)
    const { xid } = await connection.next()
    const list = Buffer.concat([int(0x7fff_fff0), Buffer.alloc(100)])
    connection.send(replyOf(xid, 0, list))
    expect(await call).to.include({ code: 'PROTOCOL' })
  })

  it('behind a good reply do it no harm, since newer servers may say more', async () => {
    const { client, connection } = await scripted()
    const call = client.exists('/a')
    const good = connection.replyTo(await connection.next(), { body: { stat: statOf({ version: 9 }) } })
    connection.send(prefixed(Buffer.concat([good.subarray(4), Buffer.alloc(13, 0xff)])))
    expect((await call)?.version).to.equal(9)
    expect(connection.dropped).to.equal(false)
  })

  it('do not hide a good reply that came before them in the chunk', async () => {
    const { client, connection } = await scripted()
    const call = client.getData('/a')
    connection.send(connection.replyTo(await connection.next(), dataReply('good')), int(-1))
    expect((await call).data?.toString()).to.equal('good')
    expect(connection.dropped).to.equal(true)
  })

  it('keep nothing behind them from being heard', async () => {
    const { client, connection } = await scripted()
    const call = client.getData('/a').catch((error: unknown) => error)
    const reply = connection.replyTo(await connection.next(), dataReply())
    connection.send(replyFrame(999, 1n), reply)
    expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('that answer out of order, or twice, settle each call once and end the connection', async () => {
    const { client, connection } = await scripted()
    const calls = ['/a', '/b'].map(path => client.getData(path).catch((error: unknown) => error))
    await settle()
    const [a, b] = connection.requests
    if (a === undefined || b === undefined) throw new Error('two requests were made')
    connection.send(connection.replyTo(b, dataReply()), connection.replyTo(a, dataReply()))
    for (const call of calls) expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })

    const { client: other, connection: twice } = await scripted()
    const call = other.getData('/a')
    const reply = twice.replyTo(await twice.next(), dataReply())
    twice.send(reply, reply)
    await call
    expect(twice.dropped).to.equal(true)
  })

  it('that are an unknown error number are an error, with the number', async () => {
    const { client, connection } = await scripted()
    const call = client.getData('/a').catch((error: unknown) => error)
    connection.reply(await connection.next(), { err: -999 })
    expect(await call).to.include({ code: 'UNKNOWN', errno: -999, fate: 'refused', path: '/a' })
    expect(connection.dropped).to.equal(false)
  })

  it('that answer a multi with another number or another kind of results fail it as PROTOCOL', async () => {
    for (const items of [
      [],
      [
        { type: 2, body: {} },
        { type: 2, body: {} },
      ],
      [{ type: 13, body: {} }],
      [{ type: 5, body: { stat: statOf() } }],
    ]) {
      const { client, connection } = await scripted()
      const call = client.multi([{ delete: '/a' }]).catch((error: unknown) => error)
      connection.reply(await connection.next(), { body: items })
      expect(await call).to.include({ code: 'PROTOCOL', fate: 'unknown' })
      expect(connection.dropped).to.equal(true)
    }
  })

  it('that name a created node elsewhere are not handed to the caller', async () => {
    for (const path of ['/elsewhere', '/app/elsewhere', '/application/n', '/app']) {
      const { client, connection } = await scripted({}, 'zk/app')
      const call = client.create('/n').catch((error: unknown) => error)
      connection.reply(await connection.next(), { body: { path, stat: statOf() } })
      expect(await call).to.include({ code: 'PROTOCOL', fate: 'unknown' })
    }
  })

  it('are what a server says with an error too: the body of a refusal is not read', async () => {
    const { client, connection } = await scripted()
    const call = client.getData('/a').catch((error: unknown) => error)
    const { xid } = await connection.next()
    connection.send(replyOf(xid, errnos.NONODE, Buffer.alloc(9, 0xff)))
    expect(await call).to.include({ code: 'NONODE', fate: 'refused' })
    expect(connection.dropped).to.equal(false)
  })
})

function replyOf(xid: number, err: number, body: Uint8Array): Buffer {
  return frameOf(writer => {
    ReplyHeader.write(writer, { xid, zxid: 1n, err })
    writer.bytes(body)
  })
}

function badEvent(pathLength: number): Buffer {
  return frameOf(writer => {
    ReplyHeader.write(writer, { xid: xids.notification, zxid: -1n, err: 0 })
    WatcherEvent.write(writer, { type: 1, state: 3, path: '' })
    writer.truncate(writer.pending - 4)
    writer.int(pathLength)
  })
}
