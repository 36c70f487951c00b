// `zkwire doctor`, and connections with TLS, as processes.
import { expect } from 'chai'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Server } from '../../../src/server/index.ts'
import { CertificateAuthority, type Certificate } from '../../support/certificates.ts'
import { freePort } from '../../../environment/free-port.ts'
import { until } from '../../../environment/until.ts'
import { jsonOf, onBothServers, zkwire } from './program.ts'

onBothServers('zkwire doctor', server => {
  it('reports address, version, mode, latencies and clock, and finds nothing wrong', async () => {
    const report = (await jsonOf(['doctor', '-s', server.connectString, '--timeout', '4'])) as Record<string, object>
    expect(report['findings']).to.deep.equal([])
    expect(report).to.have.nested.property('hosts[0].addresses[0].plain.version', '3.8.0')
    expect(report).to.have.nested.property('hosts[0].addresses[0].plain.mode', 'standalone')
    expect(report).to.have.nested.property('hosts[0].addresses[0].tls.answers', false)
    expect(report['session']).to.include.keys('readMs', 'writeMs', 'clockDifference').and.include({ timeout: 4000 })
  })

  it('leaves no node, and says that the server changed the session timeout', async () => {
    const { out } = await zkwire(['doctor', '-s', server.connectString, '--timeout', '100'])
    expect(out).to.match(/^The server changed the session timeout from 100 s to 10 s: its limits are/m)
    const { out: nodes } = await zkwire(['ls', '/', '-s', server.connectString])
    expect(nodes).not.to.contain('zkwire-doctor')
  })

  it('ends with 1 if one of the servers is dead, although there is a session', async () => {
    const dead = `127.0.0.1:${await freePort()}`
    const { status, out } = await zkwire(['doctor', '-s', `${server.connectString},${dead}`, '--timeout', '4'])
    expect(out).to.match(new RegExp(`^${dead} does not answer \\(.*ECONNREFUSED.*\\): check that the server runs`, 'm'))
    expect(status).to.equal(1)
  })

  it('says that the server speaks no TLS, and ends with 69', async () => {
    const { status, out } = await zkwire(['doctor', '--tls', '-s', server.connectString])
    expect(out).to.match(/speaks plaintext, and not TLS, on this port: leave out --tls, or use the secure port\.$/m)
    expect(status).to.equal(69)
  })
})

it('zkwire doctor does not wait for a session if the servers have no quorum', async () => {
  await using ensemble = await Server.start({ servers: 3 })
  for (const member of ensemble.followers) await member.stop()
  await until(() => ensemble.leader === undefined)
  const { status, out } = await zkwire(['doctor', '-s', ensemble.connectString])
  expect(out).to.match(
    /runs, but serves no requests: too few servers of its ensemble are up, or it cannot reach them\.$/m,
  )
  // Without that, after the session timeout of 30 s.
  expect(out).to.match(/^No session could be used: CONNECTTIMEOUT: .*\(3000 ms; /m)
  expect(status).to.equal(69)
})

it('zkwire doctor prints no control characters of a server', async () => {
  const hostile = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('Zookeeper version: 3\u001b[2J, x\nMode: \u001b]0;owned\u0007\n'))
  })
  hostile.listen(0, '127.0.0.1')
  await once(hostile, 'listening')
  const { port } = hostile.address() as AddressInfo
  const { status, out } = await zkwire(['doctor', '-s', `127.0.0.1:${port}`, '--timeout', '4'])
  hostile.close()
  expect(out).to.contain('plain: 3\\u001b[2J \\u001b]0;owned\\u0007')
  // eslint-disable-next-line no-control-regex -- none of them must be there
  expect(out).not.to.match(/[\u0000-\u0009\u000b-\u001f]/)
  expect(status).to.equal(69)
})

describe('zkwire with TLS', () => {
  let ca: CertificateAuthority
  let own: Certificate
  let server: Server
  let file: (name: string, text: string) => string

  before(async () => {
    ca = await CertificateAuthority.start('ours')
    const { cert, key } = await ca.issue('server', 'IP:127.0.0.1')
    own = await ca.issue('client', 'DNS:client')
    server = await Server.start({ tls: { cert, key, requestCert: true, ca: ca.cert } })
    file = (name, text) => {
      const path = join(ca.directory, `${name}.pem`)
      writeFileSync(path, text)
      return path
    }
  })
  after(async () => {
    await server.close()
    await ca.close()
  })

  it('connects with --ca, --cert and --key', async () => {
    const files = ['--ca', file('ca', ca.cert), '--cert', file('own', own.cert), '--key', file('key', own.key)]
    const { status, out, err } = await zkwire(['create', '/secure', 'data', '--server', server.connectString, ...files])
    expect([status, out, err]).to.deep.equal([0, '/secure\n', ''])
  })

  it('ends with 69 and one line if it does not trust the certificate, or gives none', async () => {
    const distrusting = await zkwire(['get', '/', '--tls', '-s', server.connectString])
    expect(distrusting.err).to.match(/^zkwire get: PROTOCOL: .*certificate.*\n$/)
    const without = await zkwire(['get', '/', '--ca', file('ca', ca.cert), '-s', server.connectString])
    expect(without.err).to.match(/^zkwire get: PROTOCOL: .*client certificate.*\n$/)
    expect([distrusting.status, without.status]).to.deep.equal([69, 69])
  })

  it('ends with 64 if a file is no certificate, and does not print it', async () => {
    const { status, err } = await zkwire(['get', '/', '--key', file('wrong', 'S3CRET'), '-s', server.connectString])
    expect(err).to.match(/^zkwire get: BADARGUMENTS: /)
    expect(err).not.to.contain('S3CRET')
    expect(status).to.equal(64)
  })

  it('is what doctor asks for if the port speaks TLS only, or nothing answers', async () => {
    const plain = await zkwire(['doctor', '-s', server.connectString])
    expect(plain.out).to.match(/speaks TLS on this port: give --tls, or use the port for plaintext\.$/m)
    const nothing = await zkwire(['doctor', '-s', `127.0.0.1:${await freePort()}`])
    expect(nothing.out).to.match(
      /does not answer \(.*ECONNREFUSED.*\): check that the server runs, its port, and firewalls\.$/m,
    )
    expect([plain.status, nothing.status]).to.deep.equal([69, 69])
  })
})
