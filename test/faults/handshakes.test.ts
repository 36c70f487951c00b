// Malformed and unusual handshakes: as the first frame, with three requests pending, and during close().
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
  what: string
  frame: (request: ScriptedConnection['connectRequest']) => Buffer
  /** The reaction of the client: it accepts the session, tries the next server, or the session has expired. */
  reaction: 'session' | 'nextServer' | 'expired'
}

const gone = { sessionId: 0n, password: Buffer.alloc(16) }

const handshakes: Handshake[] = [
  {
    what: '16 bytes, as from a read-only server',
    frame: () => replyFrame(0, 0n, errnos.NOTREADONLY),
    reaction: 'nextServer',
  },
  {
    what: 'a handshake without the read-only byte, as from servers before 3.4',
    frame: () => {
      const frame = handshakeFrame(undefined, { timeOut: T }).subarray(0, 40)
      frame.writeInt32BE(36)
      return frame
    },
    reaction: 'session',
  },
  {
    what: 'a timeout of 0',
    frame: request => handshakeFrame(request, { timeOut: 0, ...gone }),
    reaction: 'expired',
  },
  { what: 'a timeout of -1', frame: request => handshakeFrame(request, { timeOut: -1 }), reaction: 'expired' },
  {
    what: 'an empty password',
    frame: request => handshakeFrame(request, { password: Buffer.alloc(0) }),
    reaction: 'nextServer',
  },
  {
    what: 'a password of 1 MiB',
    frame: request => handshakeFrame(request, { password: Buffer.alloc(1024 * 1024) }),
    reaction: 'nextServer',
  },
  { what: 'no password', frame: () => withPasswordLength(-1), reaction: 'nextServer' },
  {
    what: 'an announced password length of 2 GiB',
    frame: () => withPasswordLength(0x7fff_ffff),
    reaction: 'nextServer',
  },
  { what: 'a session id of 0', frame: request => handshakeFrame(request, { sessionId: 0n }), reaction: 'nextServer' },
  {
    what: 'a rejection, as from a ClickHouse Keeper without a leader',
    frame: request => handshakeFrame(request, { protocolVersion: 42, sessionId: -1n, password: Buffer.alloc(16) }),
    reaction: 'nextServer',
  },
  { what: 'an empty frame', frame: () => Buffer.alloc(4), reaction: 'nextServer' },
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

describe('a malformed or unusual handshake:', () => {
  for (const { what, frame, reaction } of handshakes) {
    const answer = (connection: ScriptedConnection) => {
      connection.open()
      const bytes = frame(connection.connectRequest)
      const allocated = sum(allocationsOf(() => connection.send(bytes)))
      expect(allocated, 'bytes of buffers').to.be.below(4 * bytes.length + 4096)
      expect(connection.dropped).to.equal(reaction !== 'session')
    }

    it(`${what}, on the first connection`, async () => {
      const { opening, server, clock } = scriptedConnect()
      const outcome = outcomeOf(opening)
      answer(await server.next())
      if (reaction === 'nextServer') {
        const honest = await redial({ server, clock })
        honest.open()
        honest.handshake()
      }
      if (reaction === 'expired') {
        expect(await outcome).to.include({ code: 'SESSIONEXPIRED', op: 'connect' })
        expect(clock.pendingTimers).to.equal(0)
        return
      }
      const client = await opening
      expect(client.state).to.equal('connected')
      expect(client.sessionId).to.equal(SESSION_ID)
      expect(client.sessionPassword).to.deep.equal(PASSWORD)
    })

    it(`${what}, with 3 requests pending`, async () => {
      const all = await scriptedSession({}, 'a,b')
      const { client } = all
      all.connection.close()
      const calls = ['/a', '/b', '/c'].map(path => outcomeOf(client.getData(path)))
      const second = await redial(all)
      answer(second)
      await settle()
      if (reaction === 'expired') {
        for (const call of calls) expect(await call).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent' })
        expect(client.state).to.equal('expired')
        return
      }
      expect(client.state).to.equal(reaction === 'session' ? 'connected' : 'suspended')
      expect(client.leaseSignal.aborted).to.equal(false)
      const last = reaction === 'session' ? second : await reconnect(all)
      if (last !== second) expect(last.address.host).not.to.equal(second.address.host)
      for (const request of last.requests) last.reply(request, dataReply())
      for (const call of calls) expect(await call).to.have.property('data')
      expect(client.sessionId).to.equal(SESSION_ID)
    })

    it(`${what}, during close`, async () => {
      const all = await scriptedSession()
      all.connection.close()
      const closing = all.client.close()
      const second = await redial(all)
      answer(second)
      if (reaction !== 'expired') {
        const last = reaction === 'session' ? second : await reconnect(all)
        const closeRequest = await last.next()
        expect(closeRequest.op).to.equal(operations.closeSession)
        last.reply(closeRequest)
      }
      await closing
      expect(all.client.state).to.equal('closed')
      expect(all.clock.pendingTimers).to.equal(0)
    })
  }
})
