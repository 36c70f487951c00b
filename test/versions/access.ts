// Credentials and TLS.
import { expect } from 'chai'
import { connect, creatorAllACL } from '../../src/index.ts'
import { CertificateAuthority } from '../support/certificates.ts'
import { startSecureZooKeeper } from '../support/secure-zookeeper.ts'
import { failureOf } from '../support/settled.ts'
import type { Subject } from './subject.ts'

export function accessSuite(subject: Subject): void {
  it('protects a node with credentials, which are sent again on a new connection', async () => {
    const { client, path, sessions, server } = subject
    const ann = await sessions.open(server.connectString, { auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    await ann.create(`${path}/mine`, 'x', { acl: creatorAllACL })
    expect(await failureOf(client.getData(`${path}/mine`))).to.have.property('code', 'NOAUTH')
    await client.addAuth('digest', 'ann:secret')
    expect(String((await client.getData(`${path}/mine`)).data)).to.equal('x')
    expect(await failureOf(client.addAuth('unknown', 'x'))).to.have.property('code', 'AUTHFAILED')
    subject.client = await connect(server.connectString, { auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    await subject.client.delete(`${path}/mine`)
  })

  it('serves TLS from 3.5 on', async function () {
    if (!subject.has('creates with a Stat, containers, removal of watches, TLS')) return this.skip()
    const ca = await CertificateAuthority.start('ours')
    const certificate = await ca.issue('server', 'IP:127.0.0.1,DNS:localhost')
    const { server, securePort } = await startSecureZooKeeper(certificate, ca, 'none', subject.home)
    try {
      const client = await connect(`localhost:${securePort}`, { tls: { ca: ca.cert } })
      const data = Buffer.alloc(500_000, 'x')
      await client.create('/big', data)
      expect((await client.getData('/big')).data).to.deep.equal(data)
      await client.close()
      expect(await failureOf(connect(`localhost:${securePort}`, { tls: {} }))).to.have.property('code', 'PROTOCOL')
    } finally {
      await server.close()
      await ca.close()
    }
  })
}
