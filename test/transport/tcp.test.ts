import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { dialTcp } from '../../src/transport/tcp.ts'
import type { Address } from '../../src/transport/transport.ts'

/** Records the events of a transport and lets a test wait for them. */
function recordEvents() {
  const events: string[] = []
  let wake = (): void => undefined
  const record = (event: string) => {
    events.push(event)
    wake()
  }
  return {
    events,
    opened: () => record('opened'),
    received: (chunk: Buffer) => record(`received ${chunk.toString()}`),
    closed: (cause?: NodeJS.ErrnoException) => record(`closed ${cause?.code ?? 'without a cause'}`),
    async waitFor(beginning: string): Promise<void> {
      while (!events.some(each => each.startsWith(beginning))) await new Promise<void>(resolve => (wake = resolve))
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

  it('reports opened, received bytes and closed, in this order', async () => {
    const recorder = recordEvents()
    const socket = accepted()
    const transport = dialTcp(address, recorder)
    expect(recorder.events, 'no event before dial has returned').to.deep.equal([])
    await recorder.waitFor('opened')
    transport.write(Buffer.from('ping'))
    const [data] = (await once(await socket, 'data')) as [Buffer]
    expect(data.toString()).to.equal('ping')
    ;(await socket).end('pong')
    await recorder.waitFor('closed')
    expect(recorder.events).to.deep.equal(['opened', 'received pong', 'closed without a cause'])
  })

  it('reports exactly the bytes of each chunk, whether it is longer or shorter than the last one', async () => {
    const recorder = recordEvents()
    const socket = accepted()
    const transport = dialTcp(address, recorder)
    const chunks = ['long chunk', 'ab', 'cd', 'longer than all others', 'e']
    for (const chunk of chunks) {
      ;(await socket).write(chunk)
      await recorder.waitFor(`received ${chunk}`)
    }
    expect(recorder.events.slice(1)).to.deep.equal(chunks.map(chunk => `received ${chunk}`))
    transport.destroy()
  })

  it('reports once why it could not be opened', async () => {
    server.close()
    await once(server, 'close')
    const recorder = recordEvents()
    dialTcp(address, recorder)
    await recorder.waitFor('closed')
    expect(recorder.events).to.deep.equal(['closed ECONNREFUSED'])
  })

  it('reports a reset', async () => {
    const recorder = recordEvents()
    const socket = accepted()
    dialTcp(address, recorder)
    await recorder.waitFor('opened')
    ;(await socket).resetAndDestroy()
    await recorder.waitFor('closed')
    expect(recorder.events).to.deep.equal(['opened', 'closed ECONNRESET'])
  })

  it('closes on destroy(), and ignores later writes and calls of destroy()', async () => {
    const recorder = recordEvents()
    const socket = accepted()
    const transport = dialTcp(address, recorder)
    await recorder.waitFor('opened')
    const end = once(await socket, 'close')
    ;(await socket).resume()
    transport.destroy()
    transport.destroy()
    transport.write(Buffer.from('late'))
    await end
    await recorder.waitFor('closed')
    expect(recorder.events).to.have.length(2)
  })
})
