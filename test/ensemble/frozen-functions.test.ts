// Processes that are frozen between two invocations, as those of Lambda and Vercel are.
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/index.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import { until } from '../../environment/until.ts'
import { sharedServer } from '../support/shared-server.ts'

const script = fileURLToPath(new URL('function-process.ts', import.meta.url))

/** How long the process is stopped, ms, and its idleTimeout. The session timeout is 4 s. */
const freezes: readonly [freeze: number, idleTimeout?: string][] = [
  [500],
  [2_500],
  [6_000],
  [6_000, '0'],
  [6_000, '1000'],
]

describe('a process with Sessions that is stopped and continued', () => {
  it('is served at the first call, however long it was stopped', () =>
    Promise.all(
      freezes.map(async ([freeze, idleTimeout = '']) => {
        const { connectString } = await sharedServer()
        const path = `/frozen-${freeze}-${idleTimeout}`
        const args = ['--import', 'tsx', script, connectString, path, idleTimeout]
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
    )).timeout(120_000)
})
