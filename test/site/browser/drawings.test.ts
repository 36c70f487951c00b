// The benchmark of the drawings. It runs here for a moment, because no other test would notice that it has failed.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startChromium } from '../../../environment/chromium.ts'

const program = join(import.meta.dirname, '../../../site/playground/draw-rate.ts')

describe('npm run bench -- playground', () => {
  // Installs Chromium if it is missing.
  before(async () => (await startChromium()).close())

  it('counts the drawings at both speeds', async () => {
    const args = ['--import', 'tsx', program, '--seconds', '2', '--clients', '3']
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const lines = stdout.split('\n').filter(line => line.startsWith('3 clients on one core'))
    expect(lines).to.have.length(2)
    for (const line of lines) expect(line).to.match(/at speed [18]: \d+\.\d drawings a second$/)
    expect(stdout).to.match(/up to [1-9]\d* frames in flight/)
  })
})
