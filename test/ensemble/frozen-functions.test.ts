// Processes that are frozen between two invocations, as those of Lambda and Vercel are.
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/index.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import { until } from '../../environment/until.ts'
import { sharedServer } from '../support/shared-server.ts'

const script = fileURLToPath(new URL('function-process.ts', import.meta.url))

/** How long the process is stopped, and its session timeout, ms. */
const freezes: readonly [freeze: number, sessionTimeout: number, idleTimeout?: string][] = [
  [500, 4_000],
  [2_500, 4_000],
  [5_000, 4_000],
  [5_000, 4_000, '0'],
  [5_000, 4_000, '1000'],
  [5_000, 10_000],
  [60_000, 4_000],
  [60_000, 10_000],
  [60_000, 4_000, '0'],
  [60_000, 4_000, '1000'],
]

describe('a process with Sessions that is stopped and continued', () => {
  it('is served at the first call, however long it was stopped', () =>
    Promise.all(
      freezes.map(async ([freeze, sessionTimeout, idleTimeout = '']) => {
        const { connectString } = await sharedServer()
        const path = `/frozen-${freeze}-${sessionTimeout}-${idleTimeout}`
        const args = ['--import', 'tsx', script, connectString, path, `${sessionTimeout}`, idleTimeout]
        const invoked = new SubprocessRpc(process.execPath, args)
        const pid = Number(await invoked.request('pid'))
        process.kill(pid, 'SIGSTOP')
        await delay(freeze)
        // They arrive while the process is stopped, as an invocation does.
        const answering = invoked.requestAll(['first', 'second'])
        process.kill(pid, 'SIGCONT')
        for (const answer of await answering) expect(answer).to.match(new RegExp(`^true ${path}/_c_`))
        await invoked.close()
        await using zk = await connect(connectString)
        await until(async () => (await zk.getChildren(path)).children.length === 0)
        await zk.deleteRecursive(path)
      }),
    )).timeout(240_000)
})
