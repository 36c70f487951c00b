// Malformed replies: as the first frame, with three requests pending, and during close().
//
// For any bytes, the process must survive, and the memory that it allocates must be proportional to the bytes received.
// Each pending call must settle with a typed error, the next connection must work, and the session must not expire.
// handshakes.test.ts tests handshakes. mutations.test.ts tests random bytes.
import { expect } from 'chai'
import { errnos, eventTypes, operations, ZooKeeperError } from '../../src/protocol/index.ts'
import type { Client } from '../../src/client/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { outcomeOf } from '../support/settled.ts'
import { replyFrame, SESSION_ID, handshakeFrame, type ScriptedConnection } from '../support/scripted-server.ts'
import {
  dataReply,
  reconnect,
  redial,
  scriptedSession,
  scriptedConnect,
  type ScriptedSession,
} from '../support/scripted-session.ts'
import { malformedReplies, type MalformedReply } from './malformed-replies.ts'

/** The limit of allocated bytes: a few copies of the frame, and the cost of any reply. */
const allocationLimit = (bytes: Buffer): number => 4 * bytes.length + 64 * 1024

function sendBounded(connection: ScriptedConnection, bytes: Buffer): void {
  const allocated = sum(allocationsOf(() => connection.send(bytes)))
  expect(allocated, 'bytes of buffers').to.be.below(allocationLimit(bytes))
}

const expectWorking = async (client: Client, connection: ScriptedConnection): Promise<void> => {
  const read = client.getData('/works')
  connection.reply(await connection.next(), dataReply('works'))
  expect(String((await read).data)).to.equal('works')
}

/** Starts the call that gets the malformed reply, and two more, and waits until they are sent. */
async function startThreeCalls({ client }: ScriptedSession, { call }: MalformedReply): Promise<Promise<unknown>[]> {
  const first = call ?? (() => client.getData('/a'))
  const calls = [first(client), client.getData('/b'), client.getData('/c')].map(outcomeOf)
  await settle()
  return calls
}

async function expectLost(calls: Promise<unknown>[], { code, answersCall }: MalformedReply): Promise<void> {
  const [first, ...others] = await Promise.all(calls)
  if (answersCall) expect(first).to.have.property('data')
  else expect(first).to.be.an.instanceOf(ZooKeeperError).and.to.include({ code, fate: 'unknown' })
  for (const other of others)
    expect(other).to.be.an.instanceOf(ZooKeeperError).and.to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  expect((others[0] as Error).cause).to.include({ code: 'PROTOCOL' })
}

function expectNotExpired({ client }: ScriptedSession): void {
  expect(client.state).to.equal('suspended')
  expect(client.leaseSignal.aborted).to.equal(false)
  expect(client.validFor()).to.be.above(0)
}

/** Answers the remaining requests on a connection that survived the malformed reply. */
async function expectAnswered(
  all: ScriptedSession,
  calls: Promise<unknown>[],
  { checkOutcome }: MalformedReply,
): Promise<void> {
  const [due, ...later] = all.connection.requests.filter(({ op }) => op !== operations.closeSession).slice(-3)
  if (checkOutcome === undefined && due !== undefined) all.connection.reply(due, dataReply())
  for (const request of later) all.connection.reply(request, dataReply())
  const [first, ...others] = await Promise.all(calls)
  ;(checkOutcome ?? (value => expect(value).to.have.property('data')))(first)
  for (const other of others) expect(other).to.have.property('data')
  expect(all.connection.dropped).to.equal(false)
}

describe('a malformed reply:', () => {
  for (const reply of malformedReplies) {
    const { what, bytes, ignored, checkOutcome } = reply

    it(`${what}, as the first frame`, async () => {
      const { opening, server, clock, callbackErrors } = scriptedConnect({}, 'zk/app')
      const faulty = await server.next()
      faulty.open()
      sendBounded(faulty, bytes(1))
      expect(faulty.dropped, 'instead of the first handshake').to.equal(true)
      const correct = await redial({ server, clock })
      correct.open()
      correct.handshake()
      const client = await opening
      const all: ScriptedSession = { client, server, clock, connection: correct, callbackErrors }

      correct.close()
      const second = await redial(all)
      second.open()
      sendBounded(second, bytes(1))
      expect(second.dropped, 'instead of a later handshake').to.equal(true)
      expectNotExpired(all)

      const third = await redial(all)
      third.open()
      sendBounded(third, Buffer.concat([handshakeFrame(third.connectRequest), bytes(1)]))
      expect(third.dropped, 'after the handshake, without a request').to.equal(ignored !== true)
      await expectWorking(client, ignored ? third : await reconnect(all))
      expect(client.sessionId).to.equal(SESSION_ID)
      expect(callbackErrors).to.deep.equal([])
    })

    it(`${what}, with 3 requests pending`, async () => {
      const all = await scriptedSession({}, 'zk/app')
      const { client, connection } = all
      const log: string[] = []
      const armed = client.getData('/armed', { watch: ({ type, path }) => log.push(`${type} ${path}`) })
      connection.reply(await connection.next(), dataReply())
      await armed
      const calls = await startThreeCalls(all, reply)
      const due = connection.requests.at(-3)?.xid ?? 0
      sendBounded(connection, bytes(due))
      let last = connection
      if (ignored || checkOutcome !== undefined) {
        await expectAnswered(all, calls, reply)
      } else {
        expect(connection.dropped).to.equal(true)
        await expectLost(calls, reply)
        expectNotExpired(all)
        last = await reconnect(all)
        expect(last.connectRequest?.sessionId).to.equal(SESSION_ID)
        expect((await last.next()).body).to.deep.include({ dataWatches: ['/app/armed'] })
        await expectWorking(client, last)
      }
      expect(log, 'no change was reported yet').to.deep.equal([])
      last.event(eventTypes.NodeDeleted, '/app/armed')
      await settle()
      expect(log).to.deep.equal(['NodeDeleted /armed'])
      expect(all.callbackErrors).to.deep.equal([])
    })

    it(`${what}, during close`, async () => {
      const all = await scriptedSession({}, 'zk/app')
      const { client, connection, clock } = all
      const calls = await startThreeCalls(all, reply)
      const closing = client.close()
      await settle()
      sendBounded(connection, bytes(connection.requests.at(-4)?.xid ?? 0))
      let last = connection
      if (ignored || checkOutcome !== undefined) {
        await expectAnswered(all, calls, reply)
      } else {
        expect(connection.dropped).to.equal(true)
        await expectLost(calls, reply)
        expect(client.state).to.equal('suspended')
        expect(client.leaseSignal.reason).to.have.property('code', 'CLOSED')
        last = await reconnect(all)
      }
      const closeRequest = last.requests.find(({ op }) => op === operations.closeSession)
      if (closeRequest === undefined) throw new Error('the session was not closed')
      last.reply(closeRequest)
      await closing
      expect(client.state).to.equal('closed')
      expect(clock.pendingTimers).to.equal(0)
    })
  }

  it('a length of 2 GiB that maxReplyBytes allows: no memory is allocated before the bytes arrive', async () => {
    const { client, connection } = await scriptedSession({ maxReplyBytes: 0x7fff_ffff })
    void outcomeOf(client.getData('/a'))
    await settle()
    const bytes = Buffer.concat([Buffer.from([0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(100_000)])
    sendBounded(connection, bytes)
    expect(connection.dropped).to.equal(false)
  })

  it('a reply after a frame that ended the connection is ignored', async () => {
    const { client, connection } = await scriptedSession()
    const call = outcomeOf(client.getData('/a'))
    const reply = connection.replyTo(await connection.next(), dataReply())
    connection.send(replyFrame(999, 1n), reply)
    expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('a reply before a frame that ends the connection, in the same chunk, is accepted', async () => {
    const { client, connection } = await scriptedSession()
    const call = client.getData('/a')
    connection.send(connection.replyTo(await connection.next(), dataReply('good')), Buffer.alloc(4, 0xff))
    expect((await call).data?.toString()).to.equal('good')
    expect(connection.dropped).to.equal(true)
  })

  it('a reply after close() is ignored', async () => {
    const { client, connection, clock } = await scriptedSession()
    const call = outcomeOf(client.getData('/a'))
    const reply = connection.replyTo(await connection.next(), dataReply())
    const closing = client.close()
    await settle()
    await clock.advance(client.sessionTimeout)
    await closing
    expect(await call).to.include({ code: 'CLOSED', fate: 'unknown' })
    connection.send(reply)
    await settle()
    expect(client.state).to.equal('closed')
    expect(clock.pendingTimers).to.equal(0)
  })

  const greatest = 0x1_8000_0000n
  // The upper and the lower half decide, and the lower half has no sign.
  for (const zxids of [
    [greatest, greatest - 1n, -1n, 0x1_0000_0001n],
    [0x1_7fff_ffffn, greatest, 0xffff_ffffn, 0x1_0000_0001n],
  ])
    it(`a smaller zxid is ignored: the next connect request contains the greatest of ${zxids.join(', ')}`, async () => {
      const all = await scriptedSession()
      const { client, connection } = all
      for (const [i, zxid] of zxids.entries()) {
        const read = outcomeOf(client.getData('/a'))
        connection.reply(await connection.next(), i === 3 ? { zxid, err: errnos.NONODE } : dataReply('', zxid))
        await read
      }
      connection.close()
      const second = await redial(all)
      second.open()
      expect(second.connectRequest?.lastZxidSeen).to.equal(greatest)
    })
})
