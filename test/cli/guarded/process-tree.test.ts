import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { runAtExit } from '../../../environment/at-exit.ts'
import { until } from '../../../environment/until.ts'
import { ProcessTree } from '../../../src/cli/guarded/process-tree.ts'

/** Each process starts the next one in the background, and ends. The last one stays for a moment. */
const CHAIN = 'next() { if [ "$1" = 0 ]; then sleep 0.2; else next $(($1 - 1)) & fi; }; next 300'

describe('the processes of a program', () => {
  it('are not empty while each starts the next and ends, whenever they are looked at', async function () {
    this.timeout(30_000)
    const program = spawn('sh', ['-c', CHAIN], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const tree = new ProcessTree(program.pid ?? 0)
    // Every process of the chain has the pipe, so the pipe closes when the last one ends.
    let isOver = false
    const closed = once(program.stdout.resume(), 'close').then(() => (isOver = true))
    let looks = 0
    for (; !tree.isEmpty; looks++) await setImmediate()
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    expect(isOver, `after ${looks} looks`).to.equal(true)
    await closed
  })

  it('include the program of a zkwire lock within the program until its watchdog has ended', async function () {
    this.timeout(60_000)
    const spawned = (file: string, ...args: string[]) => {
      const child = spawn(file, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
      const ended = once(child, 'exit').then(([, signal]) => signal as string | null)
      runAtExit(() => child.kill('SIGKILL'))
      return { child, ended, pid: child.pid ?? expect.fail(`${file} did not start`) }
    }
    const outer = spawned('sleep', '600')
    const inner = spawned('sleep', '600')
    const main = join(import.meta.dirname, '../../../src/cli/guarded/watchdog-main.ts')
    const args = ['--import', 'tsx', main, `within=${outer.pid}`, '600000', 'ZKWIRE_TEST_PROCESS_TREE=1']
    const watchdog = spawned(process.execPath, ...args)
    const tree = new ProcessTree(outer.pid)
    // As if the zkwire of the inner lock, which is the last process of the session, were killed before it could tell the
    // pid of its program to the watchdog.
    outer.child.kill('SIGKILL')
    await outer.ended
    const looks = [tree.isEmpty, tree.isEmpty, tree.isEmpty]
    expect(looks).to.deep.equal([false, false, false])
    watchdog.child.stdin.write(`${inner.pid} ${Date.now() + 600_000}\n`)
    await until(() => tree.size === 1)
    tree.kill('SIGTERM')
    tree.kill('SIGKILL')
    // Only a zkwire hands SIGTERM on to its own program.
    expect(await inner.ended).to.equal('SIGKILL')
    expect(tree.isEmpty || tree.isEmpty).to.equal(false)
    watchdog.child.stdin.end()
    await watchdog.ended
    await until(() => tree.isEmpty)
  })
})
