import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from '../../src/session/index.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

/** What keeps the event loop alive, by kind. Pipes and the like that were there before stay. */
const resources = () =>
  process
    .getActiveResourcesInfo()
    .filter(kind => /TCP|Timeout|Immediate|DNS|GetAddrInfo/i.test(kind))
    .sort()

describe('the life of a client', () => {
  it('leaves nothing behind, 200 times over', async function () {
    this.timeout(30_000)
    const server = await sharedServer()
    const { signal } = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    await until(() => resources().length <= 1)
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
    expect(resources()).to.deep.equal(before)
    process.off('warning', onWarning)
    expect(warnings).to.deep.equal([])
    const { length } = (await server.command('cons')).trim().split('\n')
    expect(length, 'connections at the server: our question, and those of other tests').to.be.below(20)
  })

  for (const [ending, statement] of [
    ['closed', 'await client.close()'],
    ['refused for its credentials', "await client.addAuth('nonsense', '').catch(() => undefined)"],
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
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let lingered = ''
      child.stdout.on('data', chunk => (lingered += String(chunk)))
      expect(await once(child, 'close')).to.deep.equal([0, null])
      expect(Number(lingered)).to.be.below(2)
    })
  }
})
