// Checks docs/run-once.md: runs its code.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { codeBlocks, testCodeBlocks, writeScript } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { ChildProgram } from '../../environment/child-program.ts'

describe('docs/run-once.md', () => {
  testCodeBlocks('docs/run-once.md', [
    /^pod 1: makes the report\npod 2: makes the report\n$/,
    /^pod 1 fails\nthe report is made\ntrue\nfalse\nthe report is made\ntrue\n$/,
    /^the backup is made\n$/,
    /^creates the table\ncreates the index\n\[ '001-table-of-orders', '002-index-by-day' \]\n\[\]\ncreates the archive\n\[ '003-archive' \]\n$/,
    /^the report is made\ntrue\n$/,
  ])

  it('runs the job once, and marks it, if the connection is lost at the marker', async () => {
    const block = codeBlocks('docs/run-once.md').find(({ heading }) => heading === 'A marker says that it was done')
    const [theFunction = ''] = block?.code.split('const zk = ') ?? []
    for (const fault of ['drop', 'ignore']) {
      const scenario = `
        import { Server } from 'zkwire/server'
        const server = await Server.start()
        const [one, two] = [await connect(server.connectString), await connect(server.connectString)]
        let runs = 0
        const job = async () => {
          runs++
          server.faults.${fault}('multi', { session: one.sessionId })
        }
        const outcomes = [
          await runOnce(one, '/jobs/report', '2026-11-24', job),
          await runOnce(two, '/jobs/report', '2026-11-24', job),
        ]
        console.log(...outcomes, runs, one.stats.disconnects)
        process.exit()`
      const script = await writeScript('run-once-fault', theFunction + scenario, '')
      const { out, err } = await new ChildProgram([script]).ended
      expect(out + err, fault).to.equal('true false 1 1\n')
    }
  })

  it('runs each migration once, and those that are missing after a failure, if the connection is lost at a marker', async () => {
    const block = codeBlocks('docs/run-once.md').find(({ heading }) => heading === 'Migrations run once per cluster')
    const [theFunction = ''] = block?.code.split('const zk = ') ?? []
    for (const fault of ['drop', 'ignore']) {
      const scenario = `
        import { Server } from 'zkwire/server'
        const server = await Server.start()
        const clients = [await connect(server.connectString), await connect(server.connectString)]
        const runs: string[] = []
        let fails = true
        const migrations = {
          first: async () => {
            runs.push('first')
            server.faults.${fault}('multi')
          },
          second: async () => {
            runs.push('second')
            if (fails) throw new Error(String((fails = false)))
          },
        }
        const outcomes = await Promise.allSettled(clients.map(each => migrate(each, '/schema', migrations)))
        console.log(outcomes.map(({ status }) => status).sort().join(' '), ...runs)
        process.exit()`
      const script = await writeScript('run-once-migrate', theFunction + scenario, '')
      const { out, err } = await new ChildProgram([script]).ended
      expect(out + err, fault).to.equal('fulfilled rejected first second second\n')
    }
  })

  after(async () => {
    await using zk = await connect((await sharedServer()).connectString)
    await zk.deleteRecursive('/jobs')
  })
})
