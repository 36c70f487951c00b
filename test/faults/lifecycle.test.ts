// The lifecycle of a client. docs/fault-matrix.md names the tests of all faults.
import { expect } from 'chai'
import { eventTypes } from '../../src/protocol/index.ts'
import { connect } from '../../src/client/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { dataReply, scriptedSession } from '../support/scripted-session.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

/** Returns the resources that keep the event loop alive and that a client may create. */
const resources = () =>
  process
    .getActiveResourcesInfo()
    .filter(kind => /TCP|Timeout|Immediate|DNS|GetAddrInfo/i.test(kind))
    .sort()

describe('the lifecycle of a client', () => {
  it('leaks no resource in 200 cycles', async function () {
    this.timeout(30_000)
    const server = await sharedServer()
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    // Resources of earlier tests may close meanwhile. No new ones may remain.
    const before = resources()
    for (let i = 0; i < 40; i++)
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          const client = await connect(server.connectString, { signal })
          await client.exists('/', { signal, watch: () => undefined })
          await client.close()
        }),
      )
    await until(() => resources().length <= before.length)
    expect(before).to.include.members(resources())
    process.off('warning', onWarning)
    expect(warnings).to.deep.equal([])
    const { length } = (await server.command('cons')).trim().split('\n')
    expect(length, 'connections at the server: this command, and those of other tests').to.be.below(20)
  })

  it('cannot be cloned or sent to another thread, and the error names the client', async () => {
    const { client } = await scriptedSession()
    const { port1, port2 } = new MessageChannel()
    for (const value of [client, client.chroot('/view'), { zk: client }]) {
      expect(() => structuredClone(value))
        .to.throw(DOMException, 'a client of zkwire')
        .with.property('code', 25)
      expect(() => port1.postMessage(value)).to.throw('a client of zkwire')
    }
    for (const port of [port1, port2]) port.close()
  })

  it('reports a callback whose promise rejects, and continues with later frames', async () => {
    const all = await scriptedSession()
    const [inWatch, inListener] = [new Error('in a watch'), new Error('in a listener')]
    // Only untyped code can pass an async function here.
    const rejecting = (error: Error) => (() => Promise.reject(error)) as () => void
    const armed = all.client.getData('/a', { watch: rejecting(inWatch) })
    all.connection.reply(await all.connection.next(), dataReply())
    await armed
    all.client.on('state', rejecting(inListener))
    all.connection.event(eventTypes.NodeDeleted, '/a')
    all.connection.close()
    await settle()
    expect(all.callbackErrors).to.deep.equal([inWatch, inListener])
  })

  for (const [ending, statement] of [
    ['closed', 'await client.close()'],
    ['rejected for its credentials', "await client.addAuth('nonsense', '').catch(() => undefined)"],
    [
      'never opened',
      "await client.close(); await connect('127.0.0.1:1', { connectTimeout: 50 }).catch(() => undefined)",
    ],
  ] as const) {
    it(`lets its process end when it is ${ending}`, async function () {
      this.timeout(30_000)
      const server = await sharedServer()
      const { href } = new URL('../../src/index.ts', import.meta.url)
      const script = `
        const { connect } = await import(${JSON.stringify(href)})
        const client = await connect(${JSON.stringify(server.connectString)}, { sessionTimeout: 30000 })
        client.exists('/', { watch: () => undefined }).catch(() => undefined)
        ${statement}
        process.on('exit', () => process.stdout.write(String(process.uptime() - at)))
        const at = process.uptime()`
      const ended = await ChildProgram.of(script).ended
      expect(ended, ended.err).to.include({ status: 0 })
      expect(Number(ended.out)).to.be.below(10)
    })
  }
})
