// In-memory streams keep the contract of a transport: bytes in order, then the close, and nothing after it.
import { expect } from 'chai'
import { memoryDial } from '../../src/transport/memory.ts'
import type { ServerTransport } from '../../src/transport/transport.ts'
import { settle } from '../../src/testing/virtual-clock.ts'

describe('a stream in memory', () => {
  let log: string[]
  let far: ServerTransport | undefined

  const dial = () =>
    memoryDial((transport, remote) => {
      far = transport
      log.push(`accepted from ${remote.host}:${remote.port}`)
      return {
        received: chunk => log.push(`far received ${chunk.toString()}`),
        closed: () => log.push('far closed'),
      }
    })(
      { host: 'anywhere', port: 1 },
      {
        opened: () => log.push('opened'),
        received: chunk => log.push(`near received ${chunk.toString()}`),
        closed: () => log.push('near closed'),
      },
    )

  beforeEach(() => {
    log = []
    far = undefined
  })

  it('opens after dial has returned, and carries bytes both ways in order', async () => {
    const near = dial()
    expect(log).to.deep.equal([])
    await settle()
    near.write(Buffer.from('a'))
    near.write(Buffer.from('b'))
    far?.write(Buffer.from('c'))
    expect(log).to.deep.equal(['accepted from 127.0.0.1:1', 'opened'])
    await settle()
    expect(log.slice(2)).to.deep.equal(['far received a', 'far received b', 'near received c'])
  })

  it('closes both ends once, after all written bytes have arrived', async () => {
    dial()
    await settle()
    far?.write(Buffer.from('last'))
    far?.end()
    far?.destroy()
    far?.write(Buffer.from('too late'))
    await settle()
    expect(log.slice(2)).to.deep.equal(['near received last', 'near closed', 'far closed'])
  })

  it('reports only the close to the end that destroyed it', async () => {
    const near = dial()
    await settle()
    far?.write(Buffer.from('in flight'))
    near.destroy()
    await settle()
    expect(log.slice(2)).to.deep.equal(['far closed', 'near closed'])
  })

  it('is not accepted if it was destroyed before', async () => {
    dial().destroy()
    await settle()
    expect(log).to.deep.equal(['near closed'])
  })
})
