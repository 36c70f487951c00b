// A session that is presumed lost, and whose servers are silent: its handshakes may still arrive, and would keep it alive.
import { expect } from 'chai'
import type { Client } from '../../../src/client/index.ts'
import type { Dial } from '../../../src/transport/transport.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const T = 6000

describe('a session that is presumed lost', () => {
  // Before the client is closed.
  afterEach(() => void (passes = () => true))
  const virtual = VirtualServer.each()
  let client: Client
  /** What the server's answers are reduced to. */
  let passes: (bytes: Buffer) => boolean
  let cannotDial: boolean
  /** The first bytes of each connection, as a four-letter word or the length of a handshake. */
  let sent: { at: number; what: string }[]

  beforeEach(async () => {
    passes = () => true
    sent = []
    cannotDial = false
    const dial: Dial = (address, handler) => {
      if (cannotDial) throw new Error('no socket is left')
      let isFirst = true
      const transport = virtual.server.dial(address, {
        opened: () => handler.opened(),
        received: chunk => {
          if (passes(chunk)) handler.received(chunk)
        },
        closed: cause => {
          if (passes(Buffer.alloc(0))) handler.closed(cause)
        },
      })
      const write = (bytes: Uint8Array) => {
        if (isFirst)
          sent.push({ at: virtual.clock.now(), what: bytes.length === 4 ? Buffer.from(bytes).toString() : 'handshake' })
        isFirst = false
        transport.write(bytes)
      }
      return { write, destroy: () => transport.destroy() }
    }
    client = await virtual.open({ dial, random: () => 0.5, sessionTimeout: T }, 'a,b')
  })

  it('asks again if a question could not be dialled', async () => {
    passes = () => false
    await virtual.clock.advance(1.2 * T)
    cannotDial = true
    await virtual.clock.advance(0.3 * T)
    cannotDial = false
    sent.length = 0
    await virtual.clock.advance(T)
    expect(sent).not.to.deep.equal([])
  })

  it('sends questions instead of handshakes while no answer arrives, and expires', async () => {
    passes = () => false
    await virtual.clock.advance(1.2 * T)
    sent.length = 0
    await virtual.clock.advance(1.2 * T)
    expect(new Set(sent.map(({ what }) => what))).to.deep.equal(new Set(['isro']))
    expect(virtual.server.snapshot().sessions).to.deep.equal([])
    passes = () => true
    const healedAt = virtual.clock.now()
    await virtual.until(client.whenConnected().catch(() => undefined))
    expect(client.state).to.equal('expired')
    expect(virtual.clock.now() - healedAt, 'ms until an answer is noticed').to.be.at.most(3000)
  })

  it('sends a handshake every 1.5 T if the questions are never answered', async () => {
    passes = bytes => bytes.length > 8
    await virtual.clock.advance(T)
    passes = () => false
    await virtual.clock.advance(T)
    sent.length = 0
    await virtual.clock.advance(9 * T)
    const handshakes = sent.filter(({ what }) => what === 'handshake')
    expect(handshakes.length).to.be.within(4, 6)
    for (const [i, { at }] of handshakes.entries())
      if (i > 0) expect(at - (handshakes[i - 1]?.at ?? 0)).to.be.at.least(1.5 * T)
  })

  it('sends one handshake after an answer to a question, and then none for 1.5 T if that is not answered', async () => {
    passes = () => false
    await virtual.clock.advance(2 * T)
    passes = bytes => bytes.length > 0 && bytes.length <= 4
    sent.length = 0
    await virtual.clock.advance(1.5 * T)
    expect(sent.filter(({ what }) => what === 'handshake')).to.have.length(1)
  })

  it('sends a handshake at once when a server that was down is there again', async () => {
    await virtual.server.stop()
    await virtual.clock.advance(2 * T)
    sent.length = 0
    await virtual.clock.advance(T)
    await virtual.server.start()
    await virtual.until(client.whenConnected().catch(() => undefined))
    expect(sent.map(({ what }) => what)).to.deep.equal(['handshake'])
  })
})
