// Which servers are asked whether they speak the other protocol.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { detectPlaintext, detectTls } from '../../src/transport/tls-mismatch.ts'
import type { Address, Dial } from '../../src/transport/transport.ts'

const dial: Dial = () => ({ write: () => undefined, destroy: () => undefined })

/** What a server of the other protocol answers. */
const detectors = {
  'speaks TLS': { detect: detectTls, answer: Buffer.from('15030100020228', 'hex') },
  'speaks plaintext': { detect: detectPlaintext, answer: Buffer.from('Zookeeper version: 3.8.0') },
} as const

describe('a server that closes a connection without a reply is asked', () => {
  for (const [what, { detect, answer }] of Object.entries(detectors))
    it(`whether it ${what}, again while it cannot be reached, and once when it can`, async () => {
      const { mismatch } = detect(dial)
      const ask = (address: Address) =>
        new Promise<boolean | undefined>(resolve => {
          if (mismatch?.probe(address, resolve) === undefined) resolve(undefined)
        })
      const newServer = () => createServer(socket => socket.once('data', () => socket.end(answer)))
      const start = async (server: Server, port = 0) => {
        await once(server.listen(port, '127.0.0.1'), 'listening')
        return (server.address() as AddressInfo).port
      }
      const stop = (server: Server) => once(server.close(), 'close')
      const [server, second] = [newServer(), newServer()]
      const address = { host: '127.0.0.1', port: await start(server) }
      await stop(server)
      expect([await ask(address), await ask(address)]).to.deep.equal([false, false])
      await start(server, address.port)
      expect([await ask(address), await ask(address)]).to.deep.equal([true, undefined])
      const other = { ...address, port: await start(second) }
      expect([await ask(other), await ask(other)]).to.deep.equal([true, undefined])
      await Promise.all([server, second].map(stop))
    })
})
