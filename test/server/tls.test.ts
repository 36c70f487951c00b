// TLS on the embedded server.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect as open } from 'node:net'
import { connect } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { CertificateAuthority, type Certificate } from '../support/certificates.ts'
import { failureOf } from '../support/settled.ts'

describe('an embedded server with TLS', () => {
  let ca: CertificateAuthority
  let certificate: Certificate
  let client: Certificate

  before(async () => {
    ca = await CertificateAuthority.start('ours')
    certificate = await ca.issue('server', 'IP:127.0.0.1,DNS:localhost')
    client = await ca.issue('client', 'DNS:client')
  })
  after(() => ca.close())

  const start = (options = {}) => Server.start({ tls: { cert: certificate.cert, key: certificate.key, ...options } })

  it('serves a client that trusts its certificate, also after stop() and start()', async () => {
    const server = await start()
    const zk = await connect(server.connectString, { tls: { ca: ca.cert } })
    await zk.create('/a', 'x'.repeat(200_000))
    await server.stop()
    await server.start()
    expect((await zk.retry(() => zk.getData('/a'))).data).to.have.length(200_000)
    await zk.close()
    await server.close()
  })

  it('is reported to a client without TLS, or without trust', async () => {
    await using server = await start()
    expect(String(await failureOf(connect(server.connectString)))).to.match(/TLS/)
    expect(String(await failureOf(connect(server.connectString, { tls: true })))).to.match(/TLS/)
  })

  it('can require a certificate of the client', async () => {
    await using server = await start({ requestCert: true, ca: ca.cert })
    await using zk = await connect(server.connectString, { tls: { ca: ca.cert, cert: client.cert, key: client.key } })
    await zk.create('/a')
    expect(String(await failureOf(connect(server.connectString, { tls: { ca: ca.cert } })))).to.match(/certificate/)
  })

  it('closes while a handshake is not complete', async () => {
    const server = await start()
    const socket = open({ host: server.host, port: server.port })
    await once(socket, 'connect')
    const zk = await connect(server.connectString, { tls: { ca: ca.cert } })
    await zk.close()
    const closed = once(
      socket.resume().on('error', () => undefined),
      'close',
    )
    await server.close()
    await closed
  })

  it('is refused with a wrong key', async () => {
    expect(await failureOf(start({ key: 'nonsense' }))).to.be.instanceOf(Error)
  })
})
