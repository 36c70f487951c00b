// Four-letter words to servers that answer too slowly, or too much.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { askFor } from '../../../src/cli/diagnosis/four-letter-words.ts'
import { failureOf } from '../../support/settled.ts'
import { systemClock } from '../../../src/runtime/clock.ts'

describe('the answer to a four-letter word', () => {
  /** Asks a server whose connections do this. */
  const answerOf = async (serve: (socket: Socket) => void, timeout = 200) => {
    const sockets = new Set<Socket>()
    const server = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => undefined)
      serve(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      return await askFor('srvr', { host: '127.0.0.1', port }, { timeout, clock: systemClock })
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }

  it('is the text up to the end of the connection', async () => {
    expect(await answerOf(socket => socket.end('Mode: x\n'), 10_000)).to.include({ text: 'Mode: x\n' })
  })

  it('has the same lines from a server on Windows', async () => {
    const answer = await answerOf(socket => socket.end('0x1:\r\n\t/a\r\n'), 10_000)
    expect(answer).to.include({ text: '0x1:\n\t/a\n' })
  })

  it('is that the server is silent', async () => {
    expect(await failureOf(answerOf(() => undefined))).to.have.property('message', 'silent for 0.2 s')
  })

  it('must end within the timeout, also if a byte comes again and again', async () => {
    const trickle = (socket: Socket) => {
      const timer = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(timer))
    }
    expect(await failureOf(answerOf(trickle))).to.have.property('message', 'has not ended its answer for 0.2 s')
  })

  it('is read only up to its longest length', async () => {
    let written = 0
    const flood = (socket: Socket) => {
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const write = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length
      }
      socket.on('drain', write)
      write()
    }
    expect(await failureOf(answerOf(flood, 10_000))).to.have.property('message', 'answers more than 65536 bytes')
    // What the sockets of both ends hold.
    expect(written).to.be.lessThan(16 * 1024 * 1024)
  })
})
