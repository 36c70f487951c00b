import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MeasuringProcess } from '../../../bench/processes/measuring-process.ts'
import { failureOf } from '../../support/settled.ts'

describe('MeasuringProcess', () => {
  let folder: string

  before(async () => (folder = await mkdtemp(join(tmpdir(), 'zkwire-measuring-'))))
  after(() => rm(folder, { recursive: true }))

  it('rejects a request that is sent just after the process was killed, and raises nothing else', async () => {
    const program = join(folder, 'echo.js')
    await writeFile(program, `process.on('message', message => process.send(message))`)
    const killing = new AbortController()
    const echo = await MeasuringProcess.open(
      program,
      { is: 'sent' },
      { about: 'an echo', execArgv: [], signal: killing.signal },
    )
    expect(await echo.measure()).to.equal('turn')
    killing.abort()
    // Blocks this thread, so that the system has closed the channel of the process and Node does not know it yet.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    expect(await failureOf(echo.measure())).to.include({ name: 'AbortError' })
  })
})
