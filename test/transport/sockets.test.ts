// A dial over a `connect` of the shape that WinterTC proposes, without a network.
import { expect } from 'chai'
import { dialOver } from '../../src/transport/sockets.ts'
import { settle } from '../../src/testing/virtual-clock.ts'

/** Opens a stream over a socket that the test controls. */
function opened() {
  const log: string[] = []
  let end!: (error?: Error) => void
  const chunks = new Promise<void>(
    (resolve, reject) => (end = error => (error === undefined ? resolve() : reject(error))),
  )
  const socket = {
    opened: Promise.resolve(),
    readable: (async function* () {
      yield Buffer.from('bytes')
      await chunks
    })(),
    writable: { getWriter: () => ({ closed: chunks, write: () => chunks }) },
    close: () => (log.push('socket closed'), Promise.resolve()),
  }
  const transport = dialOver({ connect: () => socket }, 'off')(
    { host: 'zk', port: 2181 },
    {
      opened: () => void log.push('opened'),
      received: chunk => void log.push(`received ${chunk.toString()}`),
      closed: cause => void log.push(`closed: ${cause?.message ?? 'no error'}`),
    },
  )
  return { log, end, transport }
}

describe('a dial over sockets', () => {
  for (const [how, error] of [
    ['ends', undefined],
    ['fails', new Error('reset')],
  ] as const)
    it(`closes a socket that ${how}, and reports it once`, async () => {
      const { log, end, transport } = opened()
      transport.write(Buffer.from('x'))
      await settle()
      end(error)
      await settle()
      const closed = `closed: ${error?.message ?? 'no error'}`
      expect(log).to.deep.equal(['opened', 'received bytes', 'socket closed', closed])
    })

  it('reports nothing of a socket that its owner has destroyed', async () => {
    const { log, end, transport } = opened()
    await settle()
    transport.destroy()
    end(new Error('late'))
    await settle()
    expect(log).to.deep.equal(['opened', 'received bytes', 'socket closed'])
  })
})
