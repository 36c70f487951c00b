import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { descendantsOf, isAsleep } from '../../environment/procfs.ts'

const MANY = 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'

describe('the descendants of a process', () => {
  it('can be looked at while they start and end', async function () {
    this.timeout(60_000)
    const program = spawn('sh', ['-c', MANY], { stdio: 'ignore' })
    let looks = 0
    // Another process asks for their status, so each can be gone between two reads.
    while (program.exitCode === null) {
      for (let i = 0; i < 100; i++, looks++) for (const pid of descendantsOf(program.pid ?? NaN)) isAsleep(pid)
      await setImmediate()
    }
    expect(looks).to.be.above(0)
  })
})
