// 200 locks on 5 keys, 20 at once, each in a session of its own, on each runtime: never two holders, and nothing is left.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '../../src/index.ts'
import { sharedServer } from '../support/shared-server.ts'
import { bundleWorker } from './bundle.ts'
import { installed, type Installed } from './install.ts'
import { RawWorker } from './raw-workerd.ts'
import { Worker } from './workerd.ts'

const COUNT = 200

/** Exports a function that holds a lock. Two holders at once would create the same node. */
const program = (entryPoint: string, servers: string) => `
  import { Sessions } from '${entryPoint}'
  import { Mutex } from 'zkwire/recipes'
  const sessions = new Sessions('${servers}', { sessionTimeout: 5_000, idleTimeout: 0 })
  const hold = key =>
    sessions.withLock(zk => new Mutex(zk, '/crowd/' + key), { timeout: 60_000 }, async held => {
      await held.guard().create('/busy-' + key, '').commit()
      await held.guard().delete('/busy-' + key).commit()
    })`

const inProcess = `
  let next = 0
  const caller = async () => {
    while (next < ${COUNT}) await hold(next++ % 5)
  }
  await Promise.all(Array.from({ length: 20 }, caller))
  console.log('done')`

const inWorker = `
  export default {
    async fetch(request, env, ctx) {
      const holding = hold(new URL(request.url).pathname.slice(1))
      ctx.waitUntil(holding.catch(() => undefined))
      await holding
      return new Response('done')
    },
  }`

describe(`${COUNT} locks on 5 keys, 20 at once,`, () => {
  let at: Installed
  let servers: string

  before(async function () {
    this.timeout(600_000)
    at = await installed()
    servers = (await sharedServer()).connectString
    await writeFile(join(at.user, 'crowd.js'), program('zkwire', servers) + inProcess)
    await writeFile(join(at.user, 'crowd-worker.js'), program('zkwire/cloudflare', servers) + inWorker)
  })

  afterEach(async () => {
    await using zk = await connect(servers)
    const { children } = await zk.getChildren('/')
    expect(children.filter(name => name.startsWith('busy-'))).to.deep.equal([])
    for (const key of (await zk.getChildren('/crowd')).children)
      expect((await zk.getChildren(`/crowd/${key}`)).children).to.deep.equal([])
    await zk.deleteRecursive('/crowd')
  })

  const askAll = async (ask: (path: string) => Promise<string>) => {
    let next = 0
    const caller = async () => {
      while (next < COUNT) expect(await ask(`/${next++ % 5}`)).to.equal('done')
    }
    await Promise.all(Array.from({ length: 20 }, caller))
  }

  for (const [command, ...args] of [
    ...['node-20', 'node-22', 'node-24', 'node-26'].map(name => [`${name}/bin/node`]),
    ['.bin/bun'],
    ['.bin/deno', 'run', '--allow-net'],
  ])
    it(`are held one at a time: ${[command, ...args].join(' ')}`, async () => {
      const program = join(at.runtimes, 'node_modules', command ?? '')
      const running = promisify(execFile)(program, [...args, 'crowd.js'], { cwd: at.user, timeout: 100_000 })
      expect((await running).stdout).to.equal('done\n')
    }).timeout(120_000)

  it('are held one at a time: workerd', async () => {
    await using worker = await RawWorker.start(at.runtimes, await bundleWorker(join(at.user, 'crowd-worker.js')))
    await askAll(path => worker.ask(path))
  }).timeout(120_000)

  it('are held one at a time: miniflare', async () => {
    await using worker = Worker.start(at.runtimes, await bundleWorker(join(at.user, 'crowd-worker.js')))
    await askAll(path => worker.ask(path))
  }).timeout(120_000)
})
