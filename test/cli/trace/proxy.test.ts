import { expect } from 'chai'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { TraceProxy } from '../../../src/cli/trace/proxy.ts'
import { heapInUse } from '../../support/garbage.ts'

/** Starts a server, and a proxy before it. */
async function startProxy(onSocket?: (socket: Socket) => void) {
  const target = createServer({ allowHalfOpen: true }, onSocket).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const { port } = target.address() as AddressInfo
  const local = { host: '127.0.0.1', port: 0 }
  const proxy = await TraceProxy.start(local, { ...local, port }, () => () => undefined)
  const close = async () => {
    await proxy.close()
    await once(target.close(), 'close')
  }
  return { target, proxy, close }
}

describe('the proxy of zkwire trace', () => {
  it('passes on the answer to a client that has ended its side, as nc does', async () => {
    const { proxy, close } = await startProxy(socket => socket.resume().on('end', () => socket.end('imok')))
    const socket = connect(proxy.address)
    socket.end('ruok')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).to.equal('imok')
    await close()
  })

  for (const side of ['client', 'server'] as const)
    it(`drops the other side if the ${side} drops its connection`, async () => {
      const { target, proxy, close } = await startProxy()
      const accepted = once(target, 'connection') as Promise<[Socket]>
      const client = connect({ ...proxy.address, allowHalfOpen: true })
      const [server] = await accepted
      const sockets = { client, server }
      for (const each of Object.values(sockets)) each.resume().on('error', () => undefined)
      const others = side === 'client' ? server : client
      const ended = once(others, 'end')
      sockets[side].resetAndDestroy()
      await ended
      others.destroy()
      await close()
    })

  it('keeps nothing of a connection that has ended', async () => {
    const { proxy, close } = await startProxy(socket => socket.resume().end())
    const forward = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const socket = connect(proxy.address).resume()
        socket.end()
        await once(socket, 'close')
      }
    }
    await forward(50)
    const before = heapInUse()
    await forward(300)
    expect((heapInUse() - before) / 300, 'bytes of a connection').to.be.below(5000)
    await close()
  })
})
