import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('a benchmark with an unknown option:', () => {
  for (const [program, command] of [
    ['bench/main.ts', 'npm start'],
    ['bench/compare/main.ts', 'npm run bench:compare'],
    ['bench/fleet/main.ts', 'npm run bench:join'],
    ['bench/peers/main.ts', 'npm run bench:peers'],
    ['bench/throughput/main.ts', 'npm run bench:throughput'],
    ['bench/throughput/calls.ts', 'npm run bench:calls'],
    ['bench/growth/main.ts', 'npm run bench:growth'],
  ] as const)
    it(`${command} reports it in one line, and exits with 2`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', program, '--nothing'], {
        cwd: root,
        encoding: 'utf8',
      })
      expect(stderr).to.equal(`Unknown option '--nothing' (see ${command} -- --help)\n`)
      expect([status, stdout]).to.deep.equal([2, ''])
    })
})
