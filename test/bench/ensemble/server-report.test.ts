// Real servers say what they counted: by the four-letter word mntr, by the admin server, or not at all.
import { expect } from 'chai'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { findServerReporter, roleBySrvr, reportOf } from '../../../bench/ensemble/server-report.ts'
import { startApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { sharedServer } from '../../support/shared-server.ts'

describe('the counts that a server reports', function () {
  this.timeout(60_000)

  it('is mntr, and does not count its own requests', async () => {
    const { host, port } = await sharedServer()
    const reporter = await findServerReporter(host, port)
    expect(reporter?.source).to.equal('mntr')
    const first = await reporter?.read()
    const second = await reporter?.read()
    expect(first).to.include({ role: 'standalone' })
    expect([second?.framesSent, second?.framesReceived]).to.deep.equal([first?.framesSent, first?.framesReceived])
  })

  it('is the admin server if mntr is disabled and the admin server belongs to the same server', async () => {
    await using server = await startApacheZooKeeper({ config: { '4lw.commands.whitelist': 'srvr' } })
    const monitor = { server_state: 'follower', packets_received: 7, packets_sent: 8, watch_count: 2 }
    const replies: Record<string, object> = { configuration: { client_port: server.port }, monitor }
    const admin = createServer((request, response) =>
      response.end(JSON.stringify(replies[/\w+$/.exec(request.url ?? '')?.[0] ?? ''] ?? {})),
    )
    admin.listen(0, '127.0.0.1')
    await once(admin, 'listening')
    const { port: adminPort } = admin.address() as AddressInfo
    try {
      const reporter = await findServerReporter(server.host, server.port, adminPort)
      expect(reporter?.source).to.equal('the admin server')
      expect(await reporter?.read()).to.deep.equal(reportOf(monitor))
      replies['configuration'] = { client_port: server.port + 1 }
      expect(await findServerReporter(server.host, server.port, adminPort), 'the admin server of another one').to.equal(
        undefined,
      )
    } finally {
      admin.close()
    }
    expect(await findServerReporter(server.host, server.port, adminPort)).to.equal(undefined)
    expect(await roleBySrvr(server.host, server.port)).to.equal('standalone')
  })

  it('has no counts that the server does not report, and no role that is unknown', () => {
    expect(reportOf({ server_state: 'read-only', packets_sent: 3 })).to.deep.equal({
      ...{ role: 'unknown', framesSent: undefined, framesReceived: 3, watches: undefined, proposals: undefined },
    })
  })
})
