// Runs one suite on every supported runtime, against a real server. A missing runtime is a failure.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { connect } from '../../src/index.ts'
import { CertificateAuthority } from '../support/certificates.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { startSecureZooKeeper, type SecureZooKeeper } from '../support/secure-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'
import { bundleWorker, compile } from './bundle.ts'
import { installed, type Installed } from './install.ts'
import { steps, type SuiteResult, type SuiteInput } from './suite.ts'
import { Worker } from './workerd.ts'

/** The time limit of one suite run, ms. It is shorter than mocha's, so that a failure shows the output. */
const RUN_TIMEOUT = 50_000

let at: Installed

type RunSuite = (input: SuiteInput) => Promise<SuiteResult>

/** Runs the suite by a command. The process must exit on its own when the suite has closed all its clients. */
const byCommand =
  (command: string, ...args: string[]): RunSuite =>
  async input => {
    const program = [...args, join(at.user, 'suite-main.js'), JSON.stringify(input)]
    const { stdout } = await promisify(execFile)(join(at.runtimes, 'node_modules', command), program, {
      cwd: at.user,
      env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined },
      timeout: RUN_TIMEOUT,
    })
    return JSON.parse(stdout) as SuiteResult
  }

const byWorkerd =
  (transport: string): RunSuite =>
  async input => {
    await using worker = Worker.start(at.runtimes, await bundleWorker(join(at.user, 'suite-worker.js')))
    return JSON.parse(await worker.ask(`/${transport}`, JSON.stringify(input))) as SuiteResult
  }

const runtimes: Record<string, { start: RunSuite; is: RegExp }> = {
  'Node 20': { start: byCommand('node-20/bin/node'), is: /^Node 20\.19\./ },
  'Node 22': { start: byCommand('node-22/bin/node'), is: /^Node 22\./ },
  'Node 24': { start: byCommand('node-24/bin/node'), is: /^Node 24\./ },
  'Node 26': { start: byCommand('node-26/bin/node'), is: /^Node 26\./ },
  Bun: { start: byCommand('.bin/bun'), is: /^Bun 1\./ },
  Deno: { start: byCommand('.bin/deno', 'run', '--allow-net=127.0.0.1'), is: /^Deno 2\./ },
  'workerd over node:net': { start: byWorkerd('node-net'), is: /^workerd$/ },
  'workerd over cloudflare:sockets': { start: byWorkerd('cloudflare-sockets'), is: /^workerd$/ },
  'workerd over cloudflare:sockets, by a dial': { start: byWorkerd('cloudflare-dial'), is: /^workerd$/ },
}

let proxy: FaultProxy
let control: Server
let ca: CertificateAuthority
let secure: SecureZooKeeper
let impostors: TlsServer[]
/** All bytes that clients sent to servers with untrusted certificates. */
const receivedByImpostors: Buffer[] = []

async function listening(server: Server | TlsServer): Promise<void> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

const addressOf = (server: Server | TlsServer) => `127.0.0.1:${(server.address() as AddressInfo).port}`

// miniflare makes workerd trust the certificates in this file. It reads the variable only once, before it starts the
// first worker. Another test file may start that worker.
before(async () => {
  ca = await CertificateAuthority.start('ours')
  process.env['NODE_EXTRA_CA_CERTS'] = ca.file
})

after(() => ca.close())

describe('the package', () => {
  before(async function () {
    this.timeout(600_000)
    at = await installed()
    await compile(join(import.meta.dirname, 'main.ts'), join(at.user, 'suite-main.js'))
    await compile(join(import.meta.dirname, 'worker.ts'), join(at.user, 'suite-worker.js'))
    proxy = await FaultProxy.start(await sharedServer())
    control = createServer((_, response) => {
      proxy.resetAll()
      response.end()
    })
    await listening(control)
    secure = await startSecureZooKeeper(await ca.issue('server', 'IP:127.0.0.1'), ca)
    const otherCa = await CertificateAuthority.start('another')
    const untrusted = [await ca.issue('elsewhere', 'IP:127.0.0.9'), await otherCa.issue('stranger', 'IP:127.0.0.1')]
    await otherCa.close()
    impostors = untrusted.map(certificate =>
      createTlsServer(certificate, socket =>
        socket.on('error', () => undefined).on('data', (data: Buffer) => receivedByImpostors.push(data)),
      ),
    )
    await Promise.all(impostors.map(listening))
  })

  after(async () => {
    for (const server of [control, ...impostors]) server.close()
    await Promise.all([proxy, secure.server].map(each => each.close()))
  })

  for (const [name, { start, is }] of Object.entries(runtimes)) {
    describe(`on ${name}`, () => {
      const chroot = `/${name.replaceAll(/\W+/g, '-')}`
      let result: SuiteResult
      before(async () => {
        await using zk = await connect((await sharedServer()).connectString)
        await zk.ensurePath(chroot)
        result = await start({
          servers: proxy.connectString + chroot,
          resetUrl: `http://${addressOf(control)}/`,
          secure: { servers: `127.0.0.1:${secure.securePort}`, ca: ca.cert, impostors: impostors.map(addressOf) },
        })
        await zk.deleteRecursive(chroot)
      })

      it('reports the expected name and version', () => expect(result.runtime).to.match(is))

      for (const step of Object.keys(steps)) {
        it(step, () => expect(result.failures[step], result.failures[step] ?? 'the step was not run').to.equal(null))
      }
    })
  }

  describe('on all runtimes', () => {
    it('sends nothing to servers with untrusted certificates', () =>
      expect(Buffer.concat(receivedByImpostors).toString()).to.equal(''))

    it('leaves no session on the server', async () => {
      const server = await sharedServer()
      expect((await server.mntr()).get('zk_global_sessions')).to.equal('0')
    })
  })
})
