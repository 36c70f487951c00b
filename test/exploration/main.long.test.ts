import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

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
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, ...passed, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.on('data', chunk => (printed += String(chunk)))
    return { child, closed: once(child, 'close'), printed: () => printed }
  }

  it('goes on after the explorations that had passed when it was killed', async () => {
    const killed = start(SHORT, LONG)
    while (!/schedules/.test(killed.printed())) await once(killed.child.stdout, 'data')
    killed.child.kill('SIGKILL')
    // The processes that explore hold the other end of the pipe.
    await killed.closed
    const next = start(SHORT)
    expect(await next.closed).to.deep.equal([0, null])
    expect(next.printed()).to.match(/^1 have passed with these sources\n\| world/)
  })

  it('tells the schedule that is passed to it', async () => {
    const run = start(SHORT, '--schedule', '0,0,0,2')
    expect(await run.closed).to.deep.equal([0, null])
    expect(run.printed()).to.include('FAULT: the caller of anna gives up')
    expect(run.printed()).to.match(/--schedule 0,0,0,2\n$/)
  })
})
