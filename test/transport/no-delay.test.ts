// Nagle's algorithm is off at both ends of each TCP connection. Otherwise the second of two small packets would wait for
// the acknowledgement of the first, which the other end may delay by 40 ms.
import { expect } from 'chai'
import { createServer, connect as connectTcp, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { TraceProxy } from '../../src/cli/trace/proxy.ts'
import { connect, type ConnectOptions } from '../../src/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { CertificateAuthority } from '../support/certificates.ts'

interface Handle {
  setNoDelay(isOn: boolean): unknown
}

/** Returns the prototype of the handles of all TCP sockets, because node:net has no method that tells the setting. */
async function handlePrototype(): Promise<Handle> {
  const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connectTcp((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const prototype = Object.getPrototypeOf((socket as Socket & { _handle: Handle })._handle) as Handle
  socket.destroy()
  server.close()
  return prototype
}

/** Returns of how many sockets the task has turned the algorithm off. */
async function socketsWithoutDelay(task: () => Promise<unknown>): Promise<number> {
  const prototype = await handlePrototype()
  const setNoDelay = Reflect.get(prototype, 'setNoDelay')
  const off = new Set<Handle>()
  prototype.setNoDelay = function (this: Handle, isOn) {
    if (isOn) off.add(this)
    else off.delete(this)
    return setNoDelay.call(this, isOn)
  }
  try {
    await task()
  } finally {
    prototype.setNoDelay = setNoDelay
  }
  return off.size
}

describe('a connection sends small packets at once', () => {
  async function exchange(server: ServerOptions, client: ConnectOptions): Promise<void> {
    await using embedded = await Server.start(server)
    await using zk = await connect(embedded.connectString, client)
    await zk.exists('/')
  }

  it('at both ends', async () => expect(await socketsWithoutDelay(() => exchange({}, {}))).to.equal(2))

  it('at both ends, with TLS', async () => {
    const ca = await CertificateAuthority.start('ours')
    const { cert, key } = await ca.issue('server', 'IP:127.0.0.1')
    const exchanging = () => exchange({ tls: { cert, key } }, { tls: { ca: cert, rejectUnauthorized: false } })
    expect(await socketsWithoutDelay(exchanging)).to.equal(2)
    await ca.close()
  })

  it('at all four ends, through the proxy of zkwire trace', async () => {
    await using server = await Server.start()
    const { host, port } = server
    const task = async () => {
      const proxy = await TraceProxy.start({ host: '127.0.0.1', port: 0 }, { host, port }, () => () => undefined)
      const client = await connect(`127.0.0.1:${proxy.address.port}`)
      await client.exists('/')
      await client.close()
      await proxy.close()
    }
    expect(await socketsWithoutDelay(task)).to.equal(4)
  })
})
