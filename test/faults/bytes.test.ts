// Section 2.4 of the fault matrix: hostile or broken bytes, on the first frame, with three requests pending, and during close.
//
// Whatever comes, the process lives, no more memory is taken than bytes came in, every pending call settles with an error of its own type,
// the next connection works, and the session is not told to be over. Rows D12 and D16 are about handshakes and stand in handshakes.test.ts;
// D20 stands in mutations.test.ts beside the mutations of a real stream. No row is left out.
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

/** A lie of some bytes may cost a few copies of itself, and what any answer costs. */
const allocationLimit = (bytes: Buffer): number => 4 * bytes.length + 64 * 1024

function sendBounded(connection: ScriptedConnection, bytes: Buffer): void {
  const taken = sum(allocationsOf(() => connection.send(bytes)))
  expect(taken, 'bytes of buffers').to.be.below(allocationLimit(bytes))
}

const expectWorking = async (client: Client, connection: ScriptedConnection): Promise<void> => {
  const read = client.getData('/works')
  connection.reply(await connection.next(), dataReply('it does'))
  expect(String((await read).data)).to.equal('it does')
}

/** The lie, then two more, all sent. */
async function startThreeCalls({ client }: ScriptedSession, { call }: MalformedReply): Promise<Promise<unknown>[]> {
  const first = call ?? (() => client.getData('/a'))
  const calls = [first(client), client.getData('/b'), client.getData('/c')].map(outcomeOf)
  await settle()
  return calls
}

async function expectLost(calls: Promise<unknown>[], { row, code }: MalformedReply): Promise<void> {
  const [first, ...others] = await Promise.all(calls)
  // The first answer of two is one.
  if (row === 'D14') expect(first).to.have.property('data')
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

/** Answers what is still to be answered on a connection that has borne the lie. */
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

describe('2.4 hostile or broken bytes', () => {
  for (const lie of malformedReplies) {
    const { row, what, bytes, ignored, checkOutcome } = lie

    it(`${row}: ${what}, on the first frame`, async () => {
      const { opening, server, clock, callbackErrors } = scriptedConnect({}, 'zk/app')
      const liar = await server.next()
      liar.open()
      sendBounded(liar, bytes(1))
      expect(liar.dropped, 'in the place of the first handshake').to.equal(true)
      const honest = await redial({ server, clock })
      honest.open()
      honest.handshake()
      const client = await opening
      const all: ScriptedSession = { client, server, clock, connection: honest, callbackErrors }

      honest.close()
      const second = await redial(all)
      second.open()
      sendBounded(second, bytes(1))
      expect(second.dropped, 'in the place of a later handshake').to.equal(true)
      expectNotExpired(all)

      const third = await redial(all)
      third.open()
      sendBounded(third, Buffer.concat([handshakeFrame(third.connectRequest), bytes(1)]))
      expect(third.dropped, 'behind the handshake, with nothing asked').to.equal(ignored !== true)
      await expectWorking(client, ignored ? third : await reconnect(all))
      expect(client.sessionId).to.equal(SESSION_ID)
      expect(callbackErrors).to.deep.equal([])
    })

    it(`${row}: ${what}, with 3 requests pending`, async () => {
      const all = await scriptedSession({}, 'zk/app')
      const { client, connection } = all
      const log: string[] = []
      const armed = client.getData('/armed', { watch: ({ type, path }) => log.push(`${type} ${path}`) })
      connection.reply(await connection.next(), dataReply())
      await armed
      const calls = await startThreeCalls(all, lie)
      const due = connection.requests.at(-3)?.xid ?? 0
      sendBounded(connection, bytes(due))
      let last = connection
      if (ignored || checkOutcome !== undefined) {
        await expectAnswered(all, calls, lie)
      } else {
        expect(connection.dropped).to.equal(true)
        await expectLost(calls, lie)
        expectNotExpired(all)
        last = await reconnect(all)
        expect(last.connectRequest?.sessionId).to.equal(SESSION_ID)
        expect((await last.next()).body).to.deep.include({ dataWatches: ['/app/armed'] })
        await expectWorking(client, last)
      }
      expect(log, 'nothing has changed yet').to.deep.equal([])
      last.event(eventTypes.NodeDeleted, '/app/armed')
      await settle()
      expect(log).to.deep.equal(['NodeDeleted /armed'])
      expect(all.callbackErrors).to.deep.equal([])
    })

    it(`${row}: ${what}, during close`, async () => {
      const all = await scriptedSession({}, 'zk/app')
      const { client, connection, clock } = all
      const calls = await startThreeCalls(all, lie)
      const closing = client.close()
      await settle()
      sendBounded(connection, bytes(connection.requests.at(-4)?.xid ?? 0))
      let last = connection
      if (ignored || checkOutcome !== undefined) {
        await expectAnswered(all, calls, lie)
      } else {
        expect(connection.dropped).to.equal(true)
        await expectLost(calls, lie)
        expect(client.state).to.equal('suspended')
        expect(client.leaseSignal.reason).to.have.property('code', 'CLOSED')
        last = await reconnect(all)
      }
      const goodbye = last.requests.find(({ op }) => op === operations.closeSession)
      if (goodbye === undefined) throw new Error('the session was not closed')
      last.reply(goodbye)
      await closing
      expect(client.state).to.equal('closed')
      expect(clock.pendingTimers).to.equal(0)
    })
  }

  it('D2: 2 GiB, announced and allowed by maxReplyBytes, are given no memory before they come', async () => {
    const { client, connection } = await scriptedSession({ maxReplyBytes: 0x7fff_ffff })
    void outcomeOf(client.getData('/a'))
    await settle()
    const bytes = Buffer.concat([Buffer.from([0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(100_000)])
    sendBounded(connection, bytes)
    expect(connection.dropped).to.equal(false)
  })

  it('D9: what comes behind a frame that ended the connection is not heard', async () => {
    const { client, connection } = await scriptedSession()
    const call = outcomeOf(client.getData('/a'))
    const reply = connection.replyTo(await connection.next(), dataReply())
    connection.send(replyFrame(999, 1n), reply)
    expect(await call).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('D9: what came before a frame that ends the connection, in one chunk with it, is heard', async () => {
    const { client, connection } = await scriptedSession()
    const call = client.getData('/a')
    connection.send(connection.replyTo(await connection.next(), dataReply('good')), Buffer.alloc(4, 0xff))
    expect((await call).data?.toString()).to.equal('good')
    expect(connection.dropped).to.equal(true)
  })

  it('D14: an answer that comes after the close is not heard', async () => {
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

  it('D17: the next server is told of the greatest transaction number that any answer named', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    for (const zxid of [50n, 40n, -1n, 49n]) {
      const read = outcomeOf(client.getData('/a'))
      connection.reply(await connection.next(), zxid === 49n ? { zxid, err: errnos.NONODE } : dataReply('', zxid))
      await read
    }
    connection.close()
    const second = await redial(all)
    second.open()
    expect(second.connectRequest?.lastZxidSeen).to.equal(50n)
  })
})
