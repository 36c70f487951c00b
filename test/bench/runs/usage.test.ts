import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('a benchmark with an unknown option:', () => {
  for (const [program, command] of [
    ['bench/main.ts', 'npm start --'],
    ['bench/compare/main.ts', 'npm run bench -- compare'],
    ['bench/fleet/main.ts', 'npm run bench -- join'],
    ['bench/peers/main.ts', 'npm run bench -- peers'],
    ['bench/throughput/main.ts', 'npm run bench -- throughput'],
    ['bench/throughput/calls.ts', 'npm run bench -- calls'],
    ['bench/growth/main.ts', 'npm run bench -- growth'],
  ] as const)
    it(`${command} reports it in one line, and exits with 2`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', program, '--nothing'], {
        cwd: root,
        encoding: 'utf8',
      })
      expect(stderr).to.equal(`Unknown option '--nothing' (see ${command} --help)\n`)
      expect([status, stdout]).to.deep.equal([2, ''])
    })
})

describe('npm run bench without a name', () => {
  it('lists the programs, whose files exist', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'bench/run.ts'], {
      cwd: root,
      encoding: 'utf8',
    })
    const files = [...readFileSync(`${root}bench/run.ts`, 'utf8').matchAll(/ file: '([^']+)'/g)].map(([, file]) => file)
    expect(files).to.have.length.above(10)
    expect(files.filter(file => !existsSync(`${root}${file}`))).to.deep.equal([])
    expect(stderr.trim().split('\n')).to.have.length(files.length + 1)
    expect(status).to.equal(2)
  })
})
