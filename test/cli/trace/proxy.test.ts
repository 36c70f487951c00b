import { expect } from 'chai'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { TraceProxy } from '../../../src/cli/trace/proxy.ts'
import { heapInUse } from '../../support/garbage.ts'

describe('the proxy of zkwire trace', () => {
  it('keeps nothing of a connection that has ended', async () => {
    const target = createServer(socket => socket.end()).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const { port } = target.address() as AddressInfo
    const proxy = await TraceProxy.start(
      { host: '127.0.0.1', port: 0 },
      { host: '127.0.0.1', port },
      () => () => undefined,
    )
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
    await proxy.close()
    target.close()
    await once(target, 'close')
  })
})
