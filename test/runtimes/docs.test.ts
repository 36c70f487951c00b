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
import { RawWorker } from './raw-workerd.ts'
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
    // The name of the page, because a runtime may ask for permission for the name and for its address.
    const byName = servers.replace('127.0.0.1', 'localhost')
    for (const [name, code] of listings) await writeFile(join(at.user, name), code.replaceAll('localhost:2181', byName))
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
      const [program = '', ...args] = command.split(' ')
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

  for (const command of [
    'deno run --allow-net=localhost lock.js',
    'deno run lock.js',
    'node --permission --allow-fs-read=* lock.js',
  ])
    it(`is right that a program without the permission fails at once: ${command}`, async () => {
      const [program = '', ...args] = command.split(' ')
      const bin = [join(at.runtimes, 'node_modules', 'node-26', 'bin'), join(at.runtimes, 'node_modules', '.bin')]
      const env = { ...process.env, PATH: [...bin, process.env['PATH']].join(delimiter), NO_COLOR: '1' }
      const running = promisify(execFile)(program, args, { cwd: at.user, env, timeout: 20_000 })
      const { code, stderr } = (await running.catch((error: unknown) => error)) as { code: number; stderr: string }
      expect([code, /ACCESSDENIED: connect: .*localhost:\d+: /.test(stderr)], stderr).to.deep.equal([1, true])
    })

  for (const date of ['2024-09-23', '2026-04-01'])
    it(`has a worker that frees its lock when the client leaves: compatibility date ${date}`, async () => {
      const code = (listings.get('worker.js') ?? '').replaceAll('localhost:2181', servers)
      // Work that takes longer than the session timeout, unless it is told to end.
      const long = code.replace(
        'ending.throwIfAborted()',
        `if (request.url.endsWith('/long')) await new Promise((_, reject) => {
           ending.addEventListener('abort', () => reject(ending.reason))
           setTimeout(reject, 20_000)
         })`,
      )
      await writeFile(
        join(at.user, 'long.js'),
        long
          .replace(/\{ signal \}, env/, 'request, env')
          .replace('const options', 'const { signal } = request; const options')
          .replaceAll('work(held, ', 'work(request, held, ')
          .replace('work({ token }, ', 'work(request, { token }, '),
      )
      await using worker = await RawWorker.start(at.runtimes, await bundleWorker(join(at.user, 'long.js')), { date })
      expect(await worker.ask('/')).to.match(/^held with \d+$/)
      await using zk = await connect(servers)
      const holders = async () => (await zk.getChildren('/locks/orders')).children.length
      const leaving = worker.begin('/long')
      await until(async () => (await holders()) === 1)
      leaving.resetAndDestroy()
      const leftAt = performance.now()
      await until(async () => (await holders()) === 0)
      // The session timeout is 5 s, and a cancelled worker would block the lock for that time.
      expect(performance.now() - leftAt).to.be.below(4_000)
      expect(await worker.ask('/')).to.match(/^held with \d+$/)
    })

  it('is right that the compatibility date 2024-09-22 is too early', async () => {
    const script = await bundleWorker(join(at.user, 'worker.js'))
    const error = await RawWorker.start(at.runtimes, script, { date: '2024-09-22' }).catch(String)
    expect(error).to.match(/Buffer is not defined/)
  })

  it('has a worker that opens its sockets by a binding', async () => {
    const code = (listings.get('private.js') ?? '').replace('10.0.0.5:2181', servers)
    await writeFile(
      join(at.user, 'private.js'),
      `import { connect as connectSocket } from 'cloudflare:sockets'
       const asked = []
       const env = { NETWORK: { connect: (...all) => (asked.push(all), connectSocket(...all)) } }
       ${code.replace('(request, env)', '(request)').replace('json(children)', 'json({ children, asked })')}`,
    )
    await using worker = await workerOf('private.js')
    const { children, asked } = JSON.parse(await worker.ask('/')) as { children: string[]; asked: unknown[] }
    expect(children).to.include('zookeeper')
    const [hostname, port] = servers.split(':')
    expect(asked).to.deep.equal([
      [
        { hostname, port: Number(port) },
        { secureTransport: 'off', allowHalfOpen: false },
      ],
    ])
  })

  for (const name of ['wrangler.toml', 'keeper.toml'])
    it(`has a ${name} of which wrangler makes a bundle to deploy`, async () => {
      const wrangler = join(at.runtimes, 'node_modules', '.bin', 'wrangler')
      const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', XDG_CONFIG_HOME: join(at.user, '.config') }
      const args = ['deploy', '--dry-run', '--outdir', `deployed-${name}`, '--config', name]
      const { stdout } = await promisify(execFile)(wrangler, args, { cwd: at.user, env })
      expect(stdout).to.include('--dry-run: exiting now')
    }).timeout(60_000)

  it('has a Durable Object with one session for all workers, which frees the lock of a worker that is cancelled', async () => {
    const code = (listings.get('keeper.js') ?? '').replaceAll('localhost:2181', servers).replace('10_000', '1_000')
    const long = code.replace(
      'token => `held with ${token}`',
      `async token => {
         if (request.url.endsWith('/long')) await new Promise(resolve => setTimeout(resolve, 20_000))
         return \`held with \${token}\`
       }`,
    )
    await writeFile(join(at.user, 'keeper-long.js'), long)
    const script = await bundleWorker(join(at.user, 'keeper-long.js'))
    await using worker = await RawWorker.start(at.runtimes, script, { durableObject: 'Keeper' })
    const session = await worker.ask('/session')
    const answers = await Promise.all(Array.from({ length: 20 }, () => worker.ask('/')))
    for (const answer of answers) expect(answer).to.match(/^held with \d+$/)
    expect(new Set(answers).size).to.equal(20)
    await delay(3000) // longer than the session timeout, without a request
    expect(await worker.ask('/session')).to.equal(session)
    await using zk = await connect(servers)
    const holders = async () => (await zk.getChildren('/locks/orders')).children.length
    const leaving = worker.begin('/long')
    await until(async () => (await holders()) === 1)
    leaving.resetAndDestroy()
    await until(async () => (await holders()) === 0)
    expect(await worker.ask('/session')).to.equal(session)
  })

  for (const kind of ['workerd', 'miniflare'])
    it(`has a Durable Object whose alarm keeps its session without requests: ${kind}`, async () => {
      const code = (listings.get('keeper.js') ?? '')
        .replaceAll('localhost:2181', servers)
        .replace('idleTimeout: 60_000', 'idleTimeout: 3_000')
        .replaceAll('Date.now() + 5_000', 'Date.now() + 200')
      await writeFile(join(at.user, 'keeper-kept.js'), code)
      const script = await bundleWorker(join(at.user, 'keeper-kept.js'))
      await using worker =
        kind === 'workerd'
          ? await RawWorker.start(at.runtimes, script, { durableObject: 'Keeper' })
          : Worker.start(at.runtimes, script, { durableObjects: { KEEPER: 'Keeper' } })
      const session = await worker.ask('/session')
      await delay(5_000) // longer than idleTimeout
      expect(await worker.ask('/session')).to.equal(session)
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
