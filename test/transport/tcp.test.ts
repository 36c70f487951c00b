import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Address } from '../../src/transport/transport.ts'

/** Notes what a transport tells, and lets a test wait for it. */
function listener() {
  const told: string[] = []
  let wake = (): void => undefined
  const tell = (what: string) => {
    told.push(what)
    wake()
  }
  return {
    told,
    opened: () => tell('opened'),
    received: (chunk: Buffer) => tell(`received ${chunk.toString()}`),
    closed: (cause?: Error) =>
      tell(`closed ${(cause as NodeJS.ErrnoException | undefined)?.code ?? 'without a cause'}`),
    async heard(beginning: string): Promise<void> {
      while (!told.some(each => each.startsWith(beginning))) await new Promise<void>(resolve => (wake = resolve))
    },
  }
}

describe('TCP through node:net', () => {
  let server: Server
  let address: Address

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  })
  afterEach(() => server.close())

  const accepted = async () => ((await once(server, 'connection')) as [Socket])[0]

  it('tells that it is open, what comes, and that the other end is done, in this order', async () => {
    const heard = listener()
    const socket = accepted()
    const transport = dialTcp(address, heard)
    expect(heard.told, 'nothing before dial has returned').to.deep.equal([])
    await heard.heard('opened')
    transport.write(Buffer.from('ping'))
    const [data] = (await once(await socket, 'data')) as [Buffer]
    expect(data.toString()).to.equal('ping')
    ;(await socket).end('pong')
    await heard.heard('closed')
    expect(heard.told).to.deep.equal(['opened', 'received pong', 'closed without a cause'])
  })

  it('tells why it could not be opened, once', async () => {
    server.close()
    await once(server, 'close')
    const heard = listener()
    dialTcp(address, heard)
    await heard.heard('closed')
    expect(heard.told).to.deep.equal(['closed ECONNREFUSED'])
  })

  it('tells of a reset', async () => {
    const heard = listener()
    const socket = accepted()
    dialTcp(address, heard)
    await heard.heard('opened')
    ;(await socket).resetAndDestroy()
    await heard.heard('closed')
    expect(heard.told).to.deep.equal(['opened', 'closed ECONNRESET'])
  })

  it('is dropped without a word to the other end, and may be written to all the same', async () => {
    const heard = listener()
    const socket = accepted()
    const transport = dialTcp(address, heard)
    await heard.heard('opened')
    const end = once(await socket, 'close')
    ;(await socket).resume()
    transport.destroy()
    transport.destroy()
    transport.write(Buffer.from('late'))
    await end
    await heard.heard('closed')
    expect(heard.told).to.have.length(2)
  })
})
