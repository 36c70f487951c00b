// The size of a program with the client, and the work that importing the client causes.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { byPart, sizeOf, budgeted, type Size } from '../../../bench/micro/size.ts'
import { readDocument } from '../../support/document.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** The largest allowed sizes in bytes: the present ones and a small reserve. Increase them only deliberately. */
const BUDGET = { minified: 141_500, brotli: 44_200 }
const WORKER_BUDGET = { minified: 131_900, brotli: 41_000 }

describe('the size of the client', () => {
  let size: Size

  before(async () => {
    expect(existsSync(join(root, 'dist', 'index.js')), 'dist/ is missing: run npm run build first').to.equal(true)
    size = await sizeOf(budgeted)
  })

  it('stays within its budget, including a Mutex', () => expectWithin(size, BUDGET))

  it('differs by at most a tenth from the figures in bench/profiles.md, in total and for each part', () => {
    const page = readDocument('bench/profiles.md')
    const [, minified, brotli] = /`connect` with `Mutex` is ([\d.]+) kB, ([\d.]+) kB with\s+brotli/.exec(page) ?? []
    expect(Number(minified) * 1000).to.be.closeTo(size.minified, size.minified / 10)
    expect(Number(brotli) * 1000).to.be.closeTo(size.brotli, size.brotli / 10)
    const rows = [...page.matchAll(/^\| (.+?) +\| ([\d.]+) kB \|$/gm)].map(([, part = '', told]) => [
      part,
      Number(told),
    ])
    const parts = byPart(size)
    expect(rows.map(([part]) => part)).to.have.members(parts.map(([part]) => part))
    const told = Object.fromEntries(rows) as Record<string, number>
    for (const [part, bytes] of parts) expect((told[part] ?? 0) * 1000, part).to.be.closeTo(bytes, 100 + bytes / 10)
  })

  it('includes no file of a feature that the program does not use', async () => {
    const isAsked = (file: string) =>
      !/explain|sasl\/|cloudflare|herd|ticket|reentrant|async-owner|coordination|recipes.data|server\//.test(file)
    expect([...size.files.keys()].filter(file => !isAsked(file))).to.deep.equal([])
    expect(size.files.size).to.be.greaterThan(20)
    expect([...(await sizeOf('connect')).files.keys()].filter(file => /leader-check|recipes/.test(file))).to.deep.equal(
      [],
    )
    expect((await sizeOf('the errors alone')).minified).to.be.below(size.minified / 10)
  })

  it('is smaller in a worker: the bundle of zkwire/cloudflare has a smaller budget, and imports no node:net, node:tls or node:dns', async () => {
    const worker = await sizeOf('connect of zkwire/cloudflare and Mutex')
    expect(worker.imports).to.deep.equal(['cloudflare:sockets', 'node:diagnostics_channel'])
    expect(
      [...worker.files.keys()].filter(file => /transport.(tcp|tls|srv)|servers.(srv|system)/.test(file)),
    ).to.deep.equal([])
    expectWithin(worker, WORKER_BUDGET)
    expect(size.imports).to.include.members(['node:dns', 'node:net', 'node:tls'])
  })

  it('differs by at most a tenth from the figures in docs/runtimes.md', async () => {
    const page = readDocument('docs/runtimes.md')
    const rows = [...page.matchAll(/^\| `(Sessions|connect)` and `Mutex` \| ([\d.]+) kB \| ([\d.]+) kB \|/gm)]
    expect(rows.map(([, name]) => name)).to.have.members(['Sessions', 'connect'])
    for (const [, name = '', minified, brotli] of rows) {
      const worker = await sizeOf(`${name as 'Sessions' | 'connect'} of zkwire/cloudflare and Mutex`)
      expect(Number(minified) * 1000, name).to.be.closeTo(worker.minified, worker.minified / 10)
      expect(Number(brotli) * 1000, name).to.be.closeTo(worker.brotli, worker.brotli / 10)
    }
  })

  it('is the only cost of an import: importing the package opens no handle and derives no layout', async () => {
    const { idle, busy } = await told(`
      import { Session } from 'node:inspector/promises'
      // Node 26 opens the standard output when a module imports this one.
      import 'node:util'
      const inspector = new Session()
      inspector.connect()
      await inspector.post('Profiler.enable')
      await inspector.post('Profiler.startPreciseCoverage', { callCount: true })
      const derived = async () => {
        const { result } = await inspector.post('Profiler.takePreciseCoverage')
        const functions = result.filter(({ url }) => url.endsWith('/protocol/jute.js')).flatMap(each => each.functions)
        return functions.find(each => each.functionName === 'layoutOf')?.ranges[0].count ?? 0
      }
      // The loader itself opens files, and closes them within a few turns of the event loop.
      const handles = async () => {
        for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
        return process.getActiveResourcesInfo()
      }
      const before = await handles()
      await import('zkwire')
      await import('zkwire/recipes')
      await import('zkwire/sasl')
      const protocol = await import('zkwire/protocol')
      const idle = { before, after: await handles(), derived: await derived() }
      protocol.records.Stat.layout
      const timer = setTimeout(() => undefined, 60_000)
      const after = await handles()
      clearTimeout(timer)
      console.log(JSON.stringify({ idle, busy: { after, derived: await derived() } }))`)
    expect(idle).to.deep.equal({ before: idle?.before, after: idle?.before, derived: 0 })
    expect(busy?.derived).to.equal(1)
    expect(busy?.after).to.have.length(((idle?.before ?? []) as string[]).length + 1)
  })
})

function expectWithin(size: Size, budget: typeof BUDGET): void {
  expect(size.minified).to.be.within(budget.minified / 2, budget.minified)
  expect(size.brotli).to.be.within(budget.brotli / 2, budget.brotli)
}

/** Runs a module in a child process, and returns the JSON that it prints. */
async function told(module: string): Promise<Record<string, Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', module], {
    cwd: root,
    timeout: 15_000,
  })
  return JSON.parse(stdout) as Record<string, Record<string, unknown>>
}
