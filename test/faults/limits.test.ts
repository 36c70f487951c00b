// Limits and arguments. docs/fault-matrix.md names the tests of all faults.
import { expect } from 'chai'
import { behindProxy } from '../support/behind-proxy.ts'
import { failureOf } from '../support/settled.ts'
import { statOf } from '../support/scripted-server.ts'
import { scriptedSession } from '../support/scripted-session.ts'
import { until } from '../../environment/until.ts'

describe('limits and arguments:', function () {
  this.timeout(30_000)
  const proxied = behindProxy({ sessionTimeout: 30_000, attemptTimeout: 10_000 })

  it('an oversize request is rejected by the client and does not affect other requests', async () => {
    const { proxy, client, path } = proxied
    const others = Array.from({ length: 20 }, () => client.getData(path))
    expect(await failureOf(client.setData(path, Buffer.alloc(1_048_576)))).to.include({ code: 'REQUESTTOOLARGE' })
    await Promise.all(others)
    // This is the largest request that the server accepts.
    await client.setData(path, Buffer.alloc(1_048_375))
    expect(proxy.connectionCount).to.equal(1)
    expect(client.state).to.equal('connected')
  })

  it('11,000 watches on long paths are all set again after a reconnect', async () => {
    const { server, proxy, client, path } = proxied
    const before = await server.watchCount()
    const long = `${path}/${'w'.repeat(90)}`
    await Promise.all(
      Array.from({ length: 11_000 }, (_, i) => client.exists(`${long}${i}`, { watch: () => undefined })),
    )
    expect(await server.watchCount()).to.equal(before + 11_000)
    proxy.resetAll()
    await until(() => client.state === 'suspended')
    await client.sync(path)
    await until(async () => (await server.watchCount()) === before + 11_000)
    expect(proxy.connectionCount).to.equal(2)
  })

  it('versions are signed 32-bit numbers, and -1 matches any version', async () => {
    const { client, connection } = await scriptedSession()
    for (const version of [0x7fff_ffff, -0x8000_0000, -2]) {
      const set = client.setData('/a', '', { version })
      const request = await connection.next()
      expect(request.body).to.include({ version })
      connection.reply(request, { body: { stat: statOf({ version, cversion: version }) } })
      expect(await set).to.include({ version, cversion: version })
    }
    void failureOf(client.setData('/a', ''))
    expect((await connection.next()).body).to.include({ version: -1 })
    expect(await failureOf(client.setData('/a', '', { version: 0x8000_0000 }))).to.include({ code: 'BADARGUMENTS' })
  })
})
