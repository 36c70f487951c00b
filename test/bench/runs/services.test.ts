// A run of bench:services with few contenders, on the services that this machine has.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { etcdServer, postgresql, redisServer } from '../../../environment/needs.ts'
import { descendantsOf } from '../../../environment/procfs.ts'
import { Progress } from '../../../bench/output/progress.ts'
import { parseServicesResult, type ServicesResult } from '../../../bench/services/result.ts'
import { measureServices } from '../../../bench/services/run.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import { readDocument } from '../../support/document.ts'

const silent = new Progress({ write: () => undefined })
const missing = { etcd: etcdServer, Redis: redisServer, PostgreSQL: postgresql }

describe('npm run bench -- services', function () {
  this.timeout(300_000)

  let result: ServicesResult
  const others = descendantsOf(process.pid)
  before(async () => {
    const only = ['etcd-mutex', 'etcd3-election', 'etcd3-lock', 'redis-list', 'redis-redlock', 'pg-notify']
    // A release costs the median of three steps, because etcd measures the line of a waiter during one of them at times.
    const options = { sizes: [5], steps: 3, cycles: 3, timeout: 0, seconds: 0, only }
    result = await measureServices(options, [], silent, new AbortController().signal)
  })

  const committed = parseServicesResult(readDocument('docs/services.json'))
  for (const [lock, service, woken] of [
    ['etcd-mutex', 'etcd', 1],
    ['etcd3-election', 'etcd', 1],
    ['redis-list', 'Redis', 1],
    ['pg-notify', 'PostgreSQL', 4],
  ] as const)
    it(`counts what a release of ${lock} costs`, function () {
      const reason = result.services.find(({ name }) => name === service)?.missing
      if (reason !== undefined) {
        process.stderr.write(`SKIPPED: ${service} cannot be had. ${reason}\n${missing[service].alternatives}\n`)
        this.skip()
      }
      expect(result.failures.filter(each => each.lock === lock)).to.deep.equal([])
      const cell = result.releases.find(each => each.lock === lock && each.size === 5)
      expect(cell).to.include({ woken })
      // The server of etcd also sends frames that measure the line, at times of its own.
      if (woken === 1 && service !== 'etcd') {
        const { framesSent } = committed.releases.find(each => each.lock === lock) ?? expect.fail('not in the run')
        expect(cell, 'as in the committed run').to.include({ framesSent })
      }
      expect(result.uncontended.find(each => each.lock === lock)?.trips.warm).to.be.at.least(2)
    })

  for (const [lock, service] of [
    ['etcd3-lock', 'etcd'],
    ['redis-redlock', 'Redis'],
  ] as const)
    it(`measures ${lock} of npm, whose waiters never stop asking`, function () {
      if (result.services.find(({ name }) => name === service)?.missing !== undefined) this.skip()
      expect(result.failures.filter(each => each.lock === lock)).to.deep.equal([])
      const cell = result.waiting.find(each => each.lock === lock) ?? expect.fail('no rate of waiting')
      // Four waiters ask five times a second on average, and a busy machine lets them ask less often.
      expect(cell.framesSent).to.be.above(1)
      expect(result.releases.find(each => each.lock === lock)?.ms).to.be.above(0)
    })

  it('leaves no server and no contender', () => {
    expect(descendantsOf(process.pid).filter(pid => !others.includes(pid))).to.deep.equal([])
  })
})

const main = join(import.meta.dirname, '..', '..', '..', 'bench', 'services', 'main.ts')

describe('npm run bench -- services without a server', function () {
  this.timeout(60_000)

  it('removes the folder of one that cannot be prepared', async function () {
    if (!(await postgresql.isInstalled())) this.skip()
    const folderOfResult = await mkdtemp(join(tmpdir(), 'zkwire-services-'))
    const options = ['--only', 'pg-notify', '--json', join(folderOfResult, 'result.json')]
    // initdb refuses a locale that is not there.
    const program = new ChildProgram(['--import', 'tsx', main, ...options], { env: { ...process.env, LC_ALL: 'none' } })
    const { out } = await program.ended
    const [, folder] = /NOT MEASURED: PostgreSQL.*?-D\s+(\S+)\/data/s.exec(out) ?? expect.fail(out)
    expect(existsSync(folder ?? '')).to.equal(false)
    await rm(folderOfResult, { recursive: true })
  })
})
