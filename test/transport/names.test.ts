// Names with several addresses or none, over real sockets.
import { expect } from 'chai'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { connect as open, createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net'
import { connect } from '../../src/client/index.ts'
import { tcp } from '../../src/transport/tcp.ts'
import type { Dial } from '../../src/transport/transport.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { freePort } from '../../environment/free-port.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

/** Returns a lookup that resolves only the names of a table and records each query. */
function names(table: Record<string, string[]>) {
  const queries: string[] = []
  const lookup: LookupFunction = (name, options, callback) => {
    queries.push(name)
    const found: LookupAddress[] = (table[name] ?? []).map(address => ({ address, family: 4 }))
    const error =
      found.length > 0 ? null : Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
    if (options.all) callback(error, found)
    else callback(error, found[0]?.address ?? '', 4)
  }
  return { lookup, queries, table }
}

/** Starts a server that accepts connections and never sends a byte. */
async function mute(host: string): Promise<{ server: Server; port: number }> {
  const server = createServer(socket => socket.on('error', () => undefined)).listen(0, host)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

describe('dialling a name', () => {
  it('connects in one attempt if dead addresses precede a live one', async () => {
    const { port } = await sharedServer()
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.3', '127.0.0.2', '127.0.0.1'],
    ]) {
      const { lookup, queries } = names({ zk: addresses })
      const zk = await connect(`zk:${port}`, {
        dial: tcp({ lookup }),
        attemptTimeout: LOAD_ALLOWANCE,
        connectTimeout: LOAD_ALLOWANCE,
      })
      expect(queries).to.deep.equal(['zk'])
      await zk.close()
    }
  })

  it('connects even if the first address accepts connections and never replies, because the order is random', async () => {
    const { server, port } = await mute('127.0.0.2')
    const target = await sharedServer()
    const { lookup } = names({ zk: ['127.0.0.2', '127.0.0.1'] })
    // The live server must listen on the port of the mute one.
    const forward = createServer(socket => socket.pipe(open(target.port, target.host)).pipe(socket))
    forward.listen(port, '127.0.0.1')
    await once(forward, 'listening')
    let draws = 0
    const random = () => [0.1, 0.9, 0.1][draws++ % 3] as number
    const zk = await connect(`zk:${port}`, { dial: tcp({ lookup, random }), attemptTimeout: 200 })
    expect(zk.state).to.equal('connected')
    await zk.close()
    forward.close()
    server.close()
  })

  it('resolves the name at each attempt, so that the session continues once it resolves again', async () => {
    const { port } = await sharedServer()
    const { lookup, queries, table } = names({ zk: ['127.0.0.1'] })
    let cut = () => {}
    const dial: Dial = (address, handler) => {
      const transport = tcp({ lookup })(address, handler)
      cut = () => {
        transport.destroy()
        handler.closed()
      }
      return transport
    }
    const zk = await connect(`zk:${port}`, { dial })
    const { sessionId } = zk
    table['zk'] = []
    cut()
    await until(() => queries.length >= 3)
    expect(zk.state).to.equal('suspended')
    table['zk'] = ['127.0.0.1']
    await zk.whenConnected()
    expect(zk.sessionId).to.equal(sessionId)
    await zk.close()
  })

  it('skips a host that does not resolve and tries the next', async () => {
    const { port } = await sharedServer()
    const { lookup } = names({ good: ['127.0.0.1'] })
    const zk = await connect(`gone:${port},good:${port},also-gone:${port}`, {
      dial: tcp({ lookup }),
      sessionTimeout: 5000,
    })
    expect(zk.state).to.equal('connected')
    await zk.close()
  })

  it('names the host in the error if none resolves', async () => {
    const { lookup } = names({})
    const error: unknown = await connect(`gone:${await freePort()}`, {
      dial: tcp({ lookup }),
      connectTimeout: 300,
    }).catch((e: unknown) => e)
    expect(error).to.include({ code: 'CONNECTTIMEOUT' })
    expect((error as Error & { cause: Error }).cause.message).to.contain('gone:')
    expect(String(((error as Error).cause as Error).cause)).to.contain('ENOTFOUND gone')
  })
})
