// One suite on every runtime that the package is for, against a real server. A runtime that is missing is a failure.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../../src/index.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { sharedServer } from '../support/shared-server.ts'
import { bundleWorker, compile } from './bundle.ts'
import { installPackage, installRuntimes } from './install.ts'
import { steps, type Outcome, type Place } from './suite.ts'
import { Worker } from './workerd.ts'

/** For one run of the suite; less than mocha's, so that what was printed till then is told. */
const PATIENCE = 50_000

/** Where everything is, once it is installed. */
const at = { runtimes: '', user: '' }

type Start = (place: Place) => Promise<Outcome>

/** A runtime with a command line. It has to end by itself when the suite has closed what it opened. */
const byCommand =
  (command: string, ...args: string[]): Start =>
  async ({ servers, cut }) => {
    const program = [...args, join(at.user, 'main.js'), servers, cut]
    const { stdout } = await promisify(execFile)(join(at.runtimes, 'node_modules', command), program, {
      cwd: at.user,
      timeout: PATIENCE,
    })
    return JSON.parse(stdout) as Outcome
  }

const inWorkerd =
  (over: string): Start =>
  async place => {
    await using worker = Worker.start(at.runtimes, await bundleWorker(join(at.user, 'worker.js')))
    return JSON.parse(await worker.ask(`/${over}`, JSON.stringify(place))) as Outcome
  }

const runtimes: Record<string, { start: Start; is: RegExp }> = {
  'Node 20': { start: byCommand('node-20/bin/node'), is: /^Node 20\.19\./ },
  'Node 22': { start: byCommand('node-22/bin/node'), is: /^Node 22\./ },
  'Node 24': { start: byCommand('node-24/bin/node'), is: /^Node 24\./ },
  'Node 26': { start: byCommand('node-26/bin/node'), is: /^Node 26\./ },
  Bun: { start: byCommand('.bin/bun'), is: /^Bun 1\./ },
  Deno: { start: byCommand('.bin/deno', 'run', '--allow-net=127.0.0.1'), is: /^Deno 2\./ },
  'workerd over node:net': { start: inWorkerd('node-net'), is: /^workerd$/ },
  'workerd over cloudflare:sockets': { start: inWorkerd('cloudflare-sockets'), is: /^workerd$/ },
}

let proxy: FaultProxy
let control: Server

before(async function () {
  this.timeout(300_000)
  ;[at.runtimes, at.user] = await Promise.all([installRuntimes(), installPackage()])
  await compile(join(import.meta.dirname, 'main.ts'), join(at.user, 'main.js'))
  await compile(join(import.meta.dirname, 'worker.ts'), join(at.user, 'worker.js'))
  proxy = await FaultProxy.start(await sharedServer())
  control = createServer((_, response) => {
    proxy.resetAll()
    response.end()
  })
  control.listen(0, '127.0.0.1')
  await once(control, 'listening')
})

after(async () => {
  control.close()
  await proxy.close()
})

for (const [name, { start, is }] of Object.entries(runtimes)) {
  describe(name, () => {
    const chroot = `/${name.replaceAll(/\W+/g, '-')}`
    let outcome: Outcome
    before(async () => {
      await using zk = await connect((await sharedServer()).connectString)
      await zk.ensurePath(chroot)
      const cut = `http://127.0.0.1:${(control.address() as AddressInfo).port}/`
      outcome = await start({ servers: proxy.connectString + chroot, cut })
      await zk.deleteRecursive(chroot)
    })

    it('is the one that it is taken for', () => expect(outcome.runtime).to.match(is))

    for (const step of Object.keys(steps)) {
      it(step, () => expect(outcome.results[step], outcome.results[step] ?? 'it was not run').to.equal(null))
    }
  })
}

describe('all of them', () => {
  it('leave no session on the server', async () => {
    const server = await sharedServer()
    expect((await server.mntr()).get('zk_global_sessions')).to.equal('0')
  })
})
