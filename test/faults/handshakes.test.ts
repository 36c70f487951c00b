// Section 2.4 of the fault matrix, rows D12 and D16: what a server may say in the place of a good handshake.
import { expect } from 'chai'
import { ConnectResponse, errnos, operations } from '../../src/protocol/index.ts'
import { allocationsOf, sum } from '../support/allocations.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { outcomeOf } from '../support/settled.ts'
import {
  frameOf,
  PASSWORD,
  replyFrame,
  SESSION_ID,
  handshakeFrame,
  type ScriptedConnection,
} from '../support/scripted-server.ts'
import { dataReply, reconnect, redial, scriptedSession, scriptedConnect, T } from '../support/scripted-session.ts'

interface Handshake {
  row: string
  what: string
  frame: (hello: ScriptedConnection['connectRequest']) => Buffer
  /** What it is to the client: the session, a reason to try the next server, or the end of the session. */
  means: 'session' | 'nextServer' | 'expired'
}

const gone = { sessionId: 0n, password: Buffer.alloc(16) }

const handshakes: Handshake[] = [
  {
    row: 'D12',
    what: '16 bytes, as of a read-only server',
    frame: () => replyFrame(0, 0n, errnos.NOTREADONLY),
    means: 'nextServer',
  },
  {
    row: 'D12',
    what: 'one without the read-only byte, as of servers before 3.4,',
    frame: () => {
      const frame = handshakeFrame(undefined, { timeOut: T }).subarray(0, 40)
      frame.writeInt32BE(36)
      return frame
    },
    means: 'session',
  },
  {
    row: 'D16',
    what: 'a timeout of 0',
    frame: hello => handshakeFrame(hello, { timeOut: 0, ...gone }),
    means: 'expired',
  },
  { row: 'D16', what: 'a timeout of -1', frame: hello => handshakeFrame(hello, { timeOut: -1 }), means: 'expired' },
  {
    row: 'D16',
    what: 'an empty password',
    frame: hello => handshakeFrame(hello, { password: Buffer.alloc(0) }),
    means: 'nextServer',
  },
  {
    row: 'D16',
    what: 'a password of 1 MiB',
    frame: hello => handshakeFrame(hello, { password: Buffer.alloc(1024 * 1024) }),
    means: 'nextServer',
  },
  { row: 'D16', what: 'no password', frame: () => withPasswordLength(-1), means: 'nextServer' },
  {
    row: 'D16',
    what: 'a password of 2 GiB, announced',
    frame: () => withPasswordLength(0x7fff_ffff),
    means: 'nextServer',
  },
  { row: 'D16', what: 'id 0', frame: hello => handshakeFrame(hello, { sessionId: 0n }), means: 'nextServer' },
  { row: 'D16', what: 'an empty frame', frame: () => Buffer.alloc(4), means: 'nextServer' },
]

function withPasswordLength(length: number): Buffer {
  return frameOf(writer => {
    const response = { protocolVersion: 0, timeOut: T, sessionId: SESSION_ID, passwd: null, readOnly: false }
    ConnectResponse.write(writer, response)
    writer.truncate(writer.pending - 5)
    writer.int(length)
    writer.bytes(Buffer.alloc(17))
  })
}

describe('2.4 a handshake that is no good', () => {
  for (const { row, what, frame, means } of handshakes) {
    const answer = (connection: ScriptedConnection) => {
      connection.open()
      const bytes = frame(connection.connectRequest)
      const taken = sum(allocationsOf(() => connection.send(bytes)))
      expect(taken, 'bytes of buffers').to.be.below(4 * bytes.length + 4096)
      expect(connection.dropped).to.equal(means !== 'session')
    }

    it(`${row}: ${what}, on the first frame`, async () => {
      const { opening, server, clock } = scriptedConnect()
      const outcome = outcomeOf(opening)
      answer(await server.next())
      if (means === 'nextServer') {
        const honest = await redial({ server, clock })
        honest.open()
        honest.handshake()
      }
      if (means === 'expired') {
        expect(await outcome).to.include({ code: 'SESSIONEXPIRED', op: 'connect' })
        expect(clock.pendingTimers).to.equal(0)
        return
      }
      const client = await opening
      expect(client.state).to.equal('connected')
      expect(client.sessionId).to.equal(SESSION_ID)
      expect(client.sessionPassword).to.deep.equal(PASSWORD)
    })

    it(`${row}: ${what}, with 3 requests pending`, async () => {
      const all = await scriptedSession({}, 'a,b')
      const { client } = all
      all.connection.close()
      const calls = ['/a', '/b', '/c'].map(path => outcomeOf(client.getData(path)))
      const second = await redial(all)
      answer(second)
      await settle()
      if (means === 'expired') {
        for (const call of calls) expect(await call).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent' })
        expect(client.state).to.equal('expired')
        return
      }
      expect(client.state).to.equal(means === 'session' ? 'connected' : 'suspended')
      expect(client.leaseSignal.aborted).to.equal(false)
      const last = means === 'session' ? second : await reconnect(all)
      if (last !== second) expect(last.address.host).not.to.equal(second.address.host)
      for (const request of last.requests) last.reply(request, dataReply())
      for (const call of calls) expect(await call).to.have.property('data')
      expect(client.sessionId).to.equal(SESSION_ID)
    })

    it(`${row}: ${what}, during close`, async () => {
      const all = await scriptedSession()
      all.connection.close()
      const closing = all.client.close()
      const second = await redial(all)
      answer(second)
      if (means !== 'expired') {
        const last = means === 'session' ? second : await reconnect(all)
        const goodbye = await last.next()
        expect(goodbye.op).to.equal(operations.closeSession)
        last.reply(goodbye)
      }
      await closing
      expect(all.client.state).to.equal('closed')
      expect(all.clock.pendingTimers).to.equal(0)
    })
  }
})
