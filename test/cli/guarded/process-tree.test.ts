import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
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
})
