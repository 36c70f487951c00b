// Checks examples/service: its code on the embedded server, and its manifests. test/ensemble/example-service.test.ts runs it on
// Apache's servers.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readYaml } from '../../site/checks/workflows.ts'
import { Server } from '../../src/server/index.ts'
import { until } from '../../environment/until.ts'
import { readDocument } from '../support/document.ts'
import { ExampleService } from '../support/example-service.ts'

const root = join(import.meta.dirname, '..', '..')

describe('examples/service', () => {
  it('compiles', async () => {
    const folder = join(root, '.cache/example-types')
    await mkdir(folder, { recursive: true })
    for (const name of ['main', 'metrics', 'service'])
      await writeFile(join(folder, `${name}.ts`), readDocument(`examples/service/src/${name}.ts`))
    const config = JSON.parse(readDocument('examples/service/tsconfig.json')) as { compilerOptions: object }
    const compilerOptions = { ...config.compilerOptions, rootDir: '.', noEmit: true }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
      (error: unknown) => error as { stdout: string },
    )
    expect(stdout).to.equal('')
  })

  it('is the code of docs/kubernetes.md', () => {
    const blocks = [...readDocument('docs/kubernetes.md').matchAll(/^```\w+\n([^]*?)^```$/gm)].map(([, code]) => code)
    const files = ['src/main.ts', 'src/service.ts', 'Dockerfile', 'kubernetes/service.yaml', 'kubernetes/cronjob.yaml']
    expect(blocks).to.deep.equal(files.map(file => readDocument(`examples/service/${file}`)))
  })

  it('depends on the versions that are tested here', () => {
    type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>> & { version: string }
    const { dependencies } = JSON.parse(readDocument('examples/service/package.json')) as Manifest
    const { version, devDependencies } = JSON.parse(readDocument('package.json')) as Manifest
    const { pino, 'prom-client': prometheus } = devDependencies
    expect(dependencies).to.deep.equal({ pino, 'prom-client': prometheus, zkwire: `^${version}` })
  })

  it('has one leader, hands over at SIGTERM, logs an outage in two lines, and is ready unless ZooKeeper is away', async function () {
    this.timeout(60_000)
    await using server = await Server.start()
    const services = await ExampleService.start(2, server.connectString, 4_000)
    const isLeading = (each: ExampleService) => each.messages.at(-1) === 'leading'
    try {
      await until(() => services.some(isLeading))
      const leader = services.find(isLeading) as ExampleService
      const next = services.find(each => each !== leader) as ExampleService
      await until(async () => (await next.status('/readyz')) === 200)
      await until(async () => (await leader.metric('service_steps_total')) > 1)
      expect(await leader.metric('service_leading')).to.equal(1)
      expect(await next.metric('service_leading')).to.equal(0)

      const before = leader.output.length
      await server.stop()
      await until(async () => (await leader.status('/readyz')) === 503)
      expect(await leader.status('/healthz')).to.equal(200)
      await server.start()
      await until(async () => (await leader.status('/readyz')) === 200)
      await until(() => leader.messages.includes('ZooKeeper is back')) // its output arrives later than its figures
      expect(leader.messages.filter(message => message.includes('ZooKeeper'))).to.deep.equal([
        'ZooKeeper is away',
        'ZooKeeper is back',
      ])
      expect(leader.output.length - before).to.be.below(1_000)
      expect(await leader.metric('zookeeper_outages_total')).to.equal(1)

      // On a busy machine, the outage can be longer than the lease. Then either of them leads.
      let last: ExampleService | undefined
      await until(async () => {
        for (const each of services) if ((await each.metric('service_leading')) === 1) last = each
        return last !== undefined
      })
      expect(await last?.end('SIGTERM')).to.equal(0)
      expect(last?.messages.slice(-2)).to.deep.equal(['not leading', 'stopped'])
      await until(() => services.some(each => each !== last && isLeading(each)))
    } finally {
      await Promise.all(services.map(each => each.end('SIGTERM')))
    }
  })

  describe('its Kubernetes manifests', () => {
    interface Manifest {
      kind: string
      spec: {
        template: { spec: PodSpec }
        jobTemplate: { spec: { template: { spec: PodSpec } } }
        clusterIP: string
        selector: { matchLabels: object }
        ports: { name: string }[]
      }
    }
    interface PodSpec {
      terminationGracePeriodSeconds: number
      containers: {
        command: string[]
        env: { name: string; value: string }[]
        livenessProbe: { httpGet: { path: string } }
        readinessProbe: { httpGet: { path: string } }
        resources: { limits?: { cpu?: string } }
      }[]
    }
    const manifests = ['service', 'cronjob'].flatMap(name =>
      readDocument(`examples/service/kubernetes/${name}.yaml`)
        .split('---\n')
        .map(text => readYaml(text) as Manifest),
    )
    const spec = (kind: string) => manifests.find(each => each.kind === kind)?.spec ?? expect.fail(`no ${kind}`)

    it('do not ask ZooKeeper whether a pod lives, and do not throttle it', () => {
      const [container] = spec('Deployment').template.spec.containers
      expect(container?.livenessProbe.httpGet.path).to.equal('/healthz')
      expect(container?.readinessProbe.httpGet.path).to.equal('/readyz')
      expect(container?.resources.limits).to.not.have.property('cpu')
    })

    it('find the servers by the headless service', () => {
      const { clusterIP, ports } = spec('Service')
      expect(clusterIP).to.equal('None')
      const [container] = spec('Deployment').template.spec.containers
      const servers = container?.env.find(({ name }) => name === 'ZOOKEEPER')?.value
      expect(servers).to.match(new RegExp(`^dns-srv://_${ports[0]?.name}\\._tcp\\.zookeeper\\.`))
    })

    it('lock the scheduled job with options that the program has', async () => {
      const [container] = spec('CronJob').jobTemplate.spec.template.spec.containers
      const [, , command = '', wait = ''] = container?.command ?? []
      const program = join(root, 'dist/cli/main.js')
      const { stdout } = await promisify(execFile)(process.execPath, [program, 'help', command])
      expect(stdout).to.contain(wait)
    })
  })
})
