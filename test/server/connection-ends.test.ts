// What an embedded server keeps of a connection that has ended, in virtual time: nothing, whatever has ended it.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { ConnectRequest, operations, RequestHeader } from '../../src/protocol/index.ts'
import type { Server } from '../../src/server/index.ts'
import type { Transport } from '../../src/transport/transport.ts'
import { frameOf } from '../support/scripted-server.ts'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

const T = 10_000

type Session = Pick<Client, 'sessionId' | 'sessionPassword'>

/** A connection without a client. */
class Raw {
  isClosed = false
  readonly transport: Transport

  constructor({ dial }: Pick<Server, 'dial'>, { sessionId, sessionPassword: passwd }: Session) {
    const request = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: T, sessionId, passwd, readOnly: false }
    const handshake = frameOf(writer => ConnectRequest.write(writer, request))
    this.transport = dial(
      { host: 'memory', port: 2181 },
      {
        opened: () => this.transport.write(handshake),
        received: () => undefined,
        closed: () => (this.isClosed = true),
      },
    )
  }

  /** Sets a watch on the root. */
  watch(xid: number): void {
    const { opcode: type, request } = operations.getData
    this.transport.write(
      frameOf(writer => {
        RequestHeader.write(writer, { xid, type })
        request.write(writer, { path: '/', watch: true })
      }),
    )
  }
}

interface Stage {
  readonly ensemble: VirtualEnsemble
  readonly raw: Raw
  readonly session: Session
  /** Opens another connection for the session. */
  readonly open: () => Promise<Raw>
}

/** Each of them ends the connection. */
const ends: Readonly<Record<string, (stage: Stage) => unknown>> = {
  'its client drops it': ({ raw }) => raw.transport.destroy(),
  'its client drops it before the reply to a write': ({ raw }) => {
    const { opcode: type, request } = operations.sync
    raw.transport.write(
      frameOf(writer => {
        RequestHeader.write(writer, { xid: 8, type })
        request.write(writer, { path: '/' })
      }),
    )
    raw.watch(9)
    raw.transport.destroy()
  },
  'the server drops it': ({ ensemble }) => ensemble.server.dropConnections(),
  'a fault drops it': ({ ensemble, raw }) => {
    ensemble.server.faults.drop('getData')
    raw.watch(9)
  },
  'its client sends a malformed frame': ({ raw }) => raw.transport.write(Buffer.alloc(8, 0xff)),
  'its session moves to another connection': ({ open }) => open(),
  'its session expires': ({ ensemble }) => ensemble.clock.advance(2 * T),
}

describe('of a connection that has ended, a server keeps nothing:', () => {
  const kinds = {
    'a single server': { servers: 1 },
    'a follower': { servers: 3 },
    'a follower with local sessions': { servers: 3, localSessions: true },
  }
  for (const [kind, options] of Object.entries(kinds))
    for (const [how, end] of Object.entries(ends))
      it(`${kind}, if ${how}`, async () => {
        await using ensemble = await VirtualEnsemble.start(options)
        const { server } = ensemble
        const at = server.followers[0] ?? server
        // A session without a connection, as of a client that has crashed.
        const client = await ensemble.until(ensemble.connect({ dial: at.dial, sessionTimeout: T }))
        const session: Session = { sessionId: client.sessionId, sessionPassword: client.sessionPassword }
        await client.detach()
        const all: Raw[] = []
        const open = async () => {
          const raw = new Raw(at, session)
          all.push(raw)
          await ensemble.quiet()
          return raw
        }
        const watches = () => server.snapshot().watches.map(({ path }) => path)
        const raw = await open()
        raw.watch(1)
        await ensemble.quiet()
        expect([raw.isClosed, watches()]).to.deep.equal([false, ['/']])
        await end({ ensemble, raw, session, open })
        await ensemble.quiet()
        expect(watches(), 'watches').to.deep.equal([])
        if (how !== 'its session expires') {
          // The end of the session closes its last connection, and that one closed those before it.
          expect((await open()).isClosed).to.equal(false)
          await ensemble.clock.advance(2 * T)
        }
        expect(all.map(({ isClosed }) => isClosed)).to.deep.equal(all.map(() => true))
      })
})
