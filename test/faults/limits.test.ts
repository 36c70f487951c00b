// Limits and arguments. docs/fault-matrix.md names the tests of all faults.
import { expect } from 'chai'
import { behindProxy } from '../support/behind-proxy.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { failureOf } from '../support/settled.ts'
import { eventFrame, statOf, type Received } from '../support/scripted-server.ts'
import { dataReply, scriptedSession } from '../support/scripted-session.ts'
import { until } from '../../environment/until.ts'

describe('limits and arguments:', function () {
  this.timeout(30_000)
  const proxied = behindProxy()

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

  it('100,000 calls in flight that set 100,000 watches take linear time and constant stack', async function () {
    this.timeout(90_000)
    const { client, connection } = await scriptedSession()
    let fired = 0
    const watch = () => {
      fired++
    }
    const paths = Array.from({ length: 100_000 }, (_, i) => `/${String(i).padStart(6, '0')}`)
    const startedAt = performance.now()
    const calls = paths.map(path => client.getData(path, { watch }))
    expect(await failureOf(client.getData('/one-more'))).to.include({ code: 'TOOMANYPENDING' })
    await settle()
    // The replies are patched copies of one frame, because encoding a hundred thousand frames would be the slowest
    // part.
    const reply = connection.replyTo(connection.requests[0] as Received, dataReply('', 9n))
    connection.send(...paths.map((_, i) => patched(reply, frame => frame.writeInt32BE(i + 1, 4))))
    await Promise.all(calls)
    const event = eventFrame(3, '/000000')
    connection.send(...paths.map(path => patched(event, frame => frame.write(path, 32))))
    await settle()
    expect(fired).to.equal(100_000)
    // All of this takes two seconds on an idle machine.
    expect(performance.now() - startedAt).to.be.below(60_000)
  })
})

function patched(frame: Buffer, patch: (frame: Buffer) => void): Buffer {
  const copy = Buffer.from(frame)
  patch(copy)
  return copy
}
