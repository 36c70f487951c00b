// Checks docs/service.md, and the web service of the README. test/ensemble/example-web.test.ts runs examples/web.
import { expect } from 'chai'
import { freePort } from '../../environment/free-port.ts'
import { until } from '../../environment/until.ts'
import { codeBlocks, readDocument, testCodeBlocks, writeScript } from '../support/document.ts'
import { ServiceProcess } from '../support/service-process.ts'
import { sharedServer } from '../support/shared-server.ts'

describe('docs/service.md', () => {
  testCodeBlocks('docs/service.md', [/^charged with true\nnull\ntrue\n$/, /^\[ 'host-1' \]\n$/, /^true\n$/])

  it('has the code of examples/web', () => {
    const code = readDocument('examples/web/src/web-service.ts')
    expect(readDocument('docs/service.md')).to.include('```ts web-service.ts\n' + code + '```\n')
  })

  for (const name of ['web', 'nest'])
    it(`belongs to examples/${name}, which depends on the versions that are tested`, () => {
      interface Manifest {
        version: string
        dependencies: Record<string, string>
      }
      const { dependencies } = JSON.parse(readDocument(`examples/${name}/package.json`)) as Manifest
      const { version } = JSON.parse(readDocument('package.json')) as Manifest
      const needs = readDocument('environment/needs.ts')
      for (const [dependency, range] of Object.entries(dependencies))
        if (dependency === 'zkwire') expect(range).to.equal(`^${version}`)
        else expect(needs).to.match(new RegExp(`'?${dependency}'?: '\\${range}'`))
    })
})

describe('the web service of the README', () => {
  it('charges an order under a lock, and ends at SIGTERM', async () => {
    const code = codeBlocks('README.md').find(({ heading }) => heading === 'In a web service')?.code ?? ''
    const port = await freePort()
    const { connectString } = await sharedServer()
    const script = await writeScript('readme-web-service', code.replace('8080', `${port}, '127.0.0.1'`), connectString)
    const service = new ServiceProcess(script, port, {})
    await until(async () => (await service.status('/7')) === 200)
    expect(await (await service.request('/7')).text()).to.match(/^7 is charged, with the token \d+\n$/)
    expect(await service.end('SIGTERM')).to.equal(0)
    expect(service.output).to.equal('')
  })
})
