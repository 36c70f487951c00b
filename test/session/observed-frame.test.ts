import { expect } from 'chai'
import { opcodes, operations } from '../../src/protocol/index.ts'
import { observeReceived, type ObservedFrame } from '../../src/session/observed-frame.ts'
import { failureOf } from '../support/settled.ts'
import { closeCleanly, dataReply, scriptedConnect, scriptedSession, T } from '../support/scripted-session.ts'

describe('the option onFrame', () => {
  it('receives each frame of a write or a chunk, and whether it is the first', async () => {
    const frames: ObservedFrame[] = []
    const { client, connection } = await scriptedSession({ onFrame: frame => frames.push(frame) })
    expect(frames.map(({ from, first }) => `${from} ${first}`)).to.deep.equal(['client true', 'server true'])
    frames.length = 0
    const reads = [client.getData('/a'), client.getData('/b')]
    const requests = [await connection.next(), await connection.next()] as const
    connection.send(...requests.map(request => connection.replyTo(request, dataReply())))
    await Promise.all(reads)
    expect(frames.map(({ from, first }) => `${from} ${first}`)).to.deep.equal([
      'client false',
      'client false',
      'server false',
      'server false',
    ])
    expect(frames.map(({ bytes }) => bytes.length)).to.deep.equal([
      ...requests.map(({ body }) => 8 + operations.getData.request.encode(body as never).length),
      ...requests.map(request => connection.replyTo(request, dataReply()).length - 4),
    ])
    expect(Buffer.from(frames[1]?.bytes ?? []).readInt32BE(4)).to.equal(opcodes.getData)
    expect(new Set(frames.map(({ sessionId }) => sessionId))).to.deep.equal(new Set([client.sessionId]))
  })

  it('keeps the bytes of a frame when the memory of the chunk is used again', () => {
    const chunk = Buffer.from([1, 2, 3])
    let observed: Uint8Array = chunk
    observeReceived(({ bytes }) => (observed = bytes), chunk, false)
    chunk.fill(0xff)
    expect([...observed]).to.deep.equal([1, 2, 3])
  })

  it('may leave the server while a ping is sent: the connection that has ended keeps no timer', async () => {
    let isPinging = false
    const all = await scriptedSession({ onFrame: () => isPinging && all.client.updateServerList('other') })
    isPinging = true
    await all.clock.advance(T / 3)
    const second = await all.server.next()
    isPinging = false
    second.open()
    second.handshake()
    await closeCleanly({ client: all.client, connection: second })
    expect(all.clock.pendingTimers).to.equal(0)
  })

  it('may cancel connect(): the frame is then ignored', async () => {
    const controller = new AbortController()
    const { opening, server, clock } = scriptedConnect({
      signal: controller.signal,
      onFrame: ({ from }) => from === 'server' && controller.abort(new Error('on purpose')),
    })
    const failure = failureOf(opening)
    const connection = await server.next()
    connection.open()
    connection.handshake()
    expect(await failure).to.have.property('message', 'on purpose')
    expect(connection.dropped).to.equal(true)
    expect(clock.pendingTimers).to.equal(0)
  })
})
