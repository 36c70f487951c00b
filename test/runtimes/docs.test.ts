// Runs the code and the commands of docs/runtimes.md, and checks the limits of workers that the page describes.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect } from '../../src/index.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'
import { bundleWorker } from './bundle.ts'
import { root } from '../../environment/needs.ts'
import { installed, type Installed } from './install.ts'
import { Worker } from './workerd.ts'

const page = readFileSync(join(root, 'docs', 'runtimes.md'), 'utf8')
const listings = new Map(
  [...page.matchAll(/^```(?:js|toml) (\S+)\n([^]*?)^```$/gm)].map(([, name = '', code = '']) => [name, code]),
)
const commands = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, lines = '']) => lines.trim().split('\n'))

describe('docs/runtimes.md', () => {
  let at: Installed
  let servers: string

  before(async function () {
    this.timeout(600_000)
    at = await installed()
    servers = (await sharedServer()).connectString
    for (const [name, code] of listings)
      await writeFile(join(at.user, name), code.replaceAll('localhost:2181', servers))
  })

  after(async () => {
    await using zk = await connect(servers)
    await zk.deleteRecursive('/locks')
  })

  const workerOf = async (name: string, durableObjects = {}) =>
    Worker.start(at.runtimes, await bundleWorker(join(at.user, name)), { durableObjects })

  it('has one command each for Node, Bun and Deno', () =>
    expect(commands.map(command => command.split(' ')[0])).to.deep.equal(['node', 'bun', 'deno']))

  for (const command of commands) {
    it(`has a command that acquires a lock: ${command}`, async () => {
      const [program = '', ...args] = command.replaceAll('localhost', '127.0.0.1').split(' ')
      const bin = join(at.runtimes, 'node_modules', '.bin')
      const env = { ...process.env, PATH: [bin, process.env['PATH']].join(delimiter) }
      const { stdout } = await promisify(execFile)(program, args, { cwd: at.user, env, timeout: 20_000 })
      expect(stdout).to.match(/^held with \d+\n$/)
    })
  }

  it('has a worker that acquires a lock for each request and leaves no connection', async () => {
    await using worker = await workerOf('worker.js')
    expect(await worker.ask('/')).to.match(/^held with \d+$/)
    expect(await worker.ask('/')).to.match(/^held with \d+$/)
    await until(async () => (await connections()) === 0)
  })

  for (const name of ['wrangler.toml', 'keeper.toml'])
    it(`has a ${name} of which wrangler makes a bundle to deploy`, async () => {
      const wrangler = join(at.runtimes, 'node_modules', '.bin', 'wrangler')
      const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', XDG_CONFIG_HOME: join(at.user, '.config') }
      const args = ['deploy', '--dry-run', '--outdir', `deployed-${name}`, '--config', name]
      const { stdout } = await promisify(execFile)(wrangler, args, { cwd: at.user, env })
      expect(stdout).to.include('--dry-run: exiting now')
    }).timeout(60_000)

  it('has a Durable Object whose pings keep one session alive between requests', async () => {
    const code = listings.get('keeper.js')?.replace('localhost:2181', servers) ?? ''
    const shortTimeout = code.replace(`connect('${servers}')`, `connect('${servers}', { sessionTimeout: 1000 })`)
    expect(shortTimeout).to.include('sessionTimeout')
    await writeFile(join(at.user, 'keeper.js'), shortTimeout)
    await using worker = await workerOf('keeper.js', { KEEPER: 'Keeper' })
    const answer = async () => JSON.parse(await worker.ask('/')) as { session: string; children: string[] }
    const { session, children } = await answer()
    expect(children).to.include('zookeeper')
    await delay(3000) // three times the session timeout, without a request
    expect((await answer()).session).to.equal(session)
  })

  it('has a worker that uses the connect of zkwire with a dial', async () => {
    await using worker = await workerOf('followed.js')
    expect(JSON.parse(await worker.ask('/'))).to.include('zookeeper')
    await until(async () => (await connections()) === 0)
  })

  it('is right about the imports in the bundle of a worker that acquires a lock', async () => {
    const importsOf = async (name: string) =>
      [...(await bundleWorker(join(at.user, name))).matchAll(/^import (?:.* from )?"(.+)";$/gm)].map(([, path]) => path)
    expect(new Set(await importsOf('worker.js'))).to.deep.equal(
      new Set(['cloudflare:sockets', 'node:diagnostics_channel']),
    )
    expect(await importsOf('followed.js')).to.include.members(['node:net', 'node:tls', 'node:dns'])
  })

  it('is right about what the connect and the supervise of zkwire/cloudflare reject with BADARGUMENTS', async () => {
    const [, options = ''] = /They take the same options .*? except\s+(.*?)\. /s.exec(page) ?? []
    const names = [...options.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
    expect(names).to.have.length(5)
    await writeFile(
      join(at.user, 'rejected.js'),
      `import { connect, supervise } from 'zkwire/cloudflare'
       const codeOf = call => call.then(() => null, error => error.code)
       export default {
         async fetch() {
           const tried = [['dns-srv://_zookeeper._tcp.example.org', {}], ['${servers}', { tls: {} }]]
           for (const name of ${JSON.stringify(names)}) tried.push(['${servers}', { [name]: () => undefined }])
           const calls = tried.flatMap(([servers, options]) => [
             connect(servers, options),
             supervise(servers, options, () => undefined),
           ])
           return Response.json(await Promise.all(calls.map(codeOf)))
         },
       }`,
    )
    await using worker = await workerOf('rejected.js')
    const codes = JSON.parse(await worker.ask('/')) as unknown[]
    expect(codes).to.have.length(2 * (names.length + 2))
    expect(new Set(codes)).to.deep.equal(new Set(['BADARGUMENTS']))
  })

  it('is right that a worker’s client cannot be used by another request', async () => {
    await writeFile(
      join(at.user, 'kept.js'),
      `import { connect } from 'zkwire/cloudflare'
       let kept
       export default {
         async fetch() {
           kept ??= await connect('${servers}', { sessionTimeout: 2000 })
           return Response.json({ state: kept.state, stat: (await kept.exists('/zookeeper')) !== null })
         },
       }`,
    )
    await using worker = await workerOf('kept.js')
    expect(JSON.parse(await worker.ask('/'))).to.deep.equal({ state: 'connected', stat: true })
    const refusal = await worker.ask('/').catch((error: unknown) => error)
    expect(String(refusal)).to.match(/hung|will never generate a response|CONNECTIONLOSS/)
  })

  const connections = async () => Number((await (await sharedServer()).mntr()).get('zk_num_alive_connections')) - 1
})
