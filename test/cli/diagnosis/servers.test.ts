import { expect } from 'chai'
import { serversOf } from '../../../src/cli/diagnosis/servers.ts'
import type { SrvRecord } from '../../../src/index.ts'
import { VirtualClock } from '../../../src/testing/index.ts'
import { failureOf } from '../../support/settled.ts'

const servers = 'dns-srv://_zookeeper._tcp.example.org'
const found = (records: readonly SrvRecord[], tls = false) =>
  serversOf({ servers, options: { tls, resolveSrv: () => Promise.resolve(records) } }, new VirtualClock())

describe('the servers that a command asks', () => {
  it('are those to which a session would connect: a name has no dot at its end', async () => {
    const records = [
      { name: 'zk1.example.org.', port: 2181 },
      { name: 'zk2.example.org', port: 0 },
    ]
    expect(await found(records)).to.deep.equal([{ host: 'zk1.example.org', port: 2181 }])
  })

  it('are none if the only record says that there is no service (RFC 2782)', async () => {
    expect(((await failureOf(found([{ name: '.', port: 0 }]))) as Error).message).to.equal(
      'the SRV records of _zookeeper._tcp.example.org name no server: no record names a host',
    )
  })

  it('are none if a record names a host of another domain, over TLS', async () => {
    expect(((await failureOf(found([{ name: 'zk1.example.com', port: 2181 }], true))) as Error).message).to.match(
      /set srvDomain$/,
    )
  })
})
