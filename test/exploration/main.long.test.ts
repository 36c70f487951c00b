import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { until } from '../../environment/until.ts'
import { ChildProgram } from '../../environment/child-program.ts'

const PASSED = { status: 0 }
const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url))
const SHORT = 'Mutex, 1 contender: 1 of expire'
/** Takes minutes. */
const LONG = 'Mutex, 2 contenders: 2 of'

describe('the program of the exploration', function () {
  this.timeout(120_000)
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zkwire-exploration-'))
  })

  afterEach(() => rmSync(directory, { recursive: true }))

  const start = (...args: string[]) => {
    const passed = ['--passed', join(directory, 'passed.json')]
    return new ChildProgram(['--import', 'tsx', PROGRAM, ...passed, ...args])
  }

  it('goes on after the explorations that had passed when it was killed', async () => {
    const killed = start(SHORT, LONG)
    await until(() => killed.out.includes('schedules'), { within: 60_000 })
    killed.kill('SIGKILL')
    // The processes that explore hold the other end of the pipe.
    await killed.ended
    const next = start(SHORT)
    expect(await next.ended, next.err).to.deep.include(PASSED)
    expect(next.out).to.match(/^1 have passed with these sources\n\| world/)
  })

  it('tells the schedule that is passed to it', async () => {
    const run = start(SHORT, '--schedule', '0,0,0,2')
    expect(await run.ended, run.err).to.deep.include(PASSED)
    expect(run.out).to.include('FAULT: the caller of anna gives up')
    expect(run.out).to.match(/--schedule 0,0,0,2\n$/)
  })
})
