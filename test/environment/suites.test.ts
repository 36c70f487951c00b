import { expect } from 'chai'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../environment/needs.ts'
import { needsOf, suites } from '../../environment/suites.ts'

const { npm_lifecycle_event: _, SUITE: __, ...env } = process.env
const suite = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'environment/run-suite.ts', ...args], {
    ...{ cwd: root, env, encoding: 'utf8' },
  })

describe('npm run suite', () => {
  it('lists the suites in a line each without a name, and exits with 2', () => {
    const { status, stdout, stderr } = suite()
    const [first, ...lines] = stderr.trimEnd().split('\n')
    expect(first).to.equal('npm run suite -- NAME [options], where NAME is one of:')
    expect(lines.map(line => line.trim().split(' ')[0])).to.deep.equal(Object.keys(suites))
    expect([status, stdout]).to.deep.equal([2, ''])
  })

  it('says that there is no suite of an unknown name, and exits with 2', () => {
    const { status, stderr } = suite('toString')
    expect(stderr).to.match(/^there is no toString\nnpm run suite -- NAME/)
    expect(status).to.equal(2)
  })

  it('has a file for each suite, and tests', () => {
    const paths = Object.values(suites).flatMap(({ file, tests = [] }) => [file, ...tests])
    expect(paths.filter(path => !path.includes('*') && !existsSync(join(root, path)))).to.deep.equal([])
  })

  describe('with tests of its own,', () => {
    let directory: string
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'zkwire-suite-'))
    })
    afterEach(() => rmSync(directory, { recursive: true }))
    const run = (...options: string[]) => suite('versions', '--reporter', 'json', ...options)
    /** The path of a file as from the folder test, by which the suite knows that it is one. */
    const fromTest = (name: string) => `test/${'../'.repeat(20)}${join(directory, name).slice(1)}`

    it('runs them in place of those of the suite, and exits with the number of failures', () => {
      const fails = "it('fails', () => { throw new Error('planted') })\n"
      write(
        'a.test.ts',
        `it('passes', () => { if (process.env['SUITE'] !== 'versions') throw new Error('no name') })\n${fails}${fails}`,
      )
      const { status, stdout } = run(fromTest('a.test.ts'))
      const { passes, failures } = JSON.parse(stdout) as Record<'passes' | 'failures', { title: string }[]>
      expect(passes.map(({ title }) => title)).to.deep.equal(['passes'])
      expect([failures.length, status]).to.deep.equal([2, 2])
    })

    it('passes on options, with the tests of the suite', () => {
      const { status, stdout } = run('--dry-run')
      const { tests, passes } = JSON.parse(stdout) as Record<'tests' | 'passes', { file: string }[]>
      expect(tests.every(({ file }) => file.startsWith(join(root, 'test/versions')))).to.equal(true)
      expect([passes.length > 0, status]).to.deep.equal([true, 0])
    })

    it('ends by the signal that ends the tests', () => {
      write('a.test.ts', "it('ends', done => { process.kill(process.pid, 'SIGKILL'); setTimeout(done, 60_000) })\n")
      expect(run(fromTest('a.test.ts')).signal).to.equal('SIGKILL')
    })
  })
})

describe('npm run needs', () => {
  it('knows each suite and npm test, and refuses another name', async () => {
    const needs = (name: string) =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', 'environment/announce.ts', name], { cwd: root })
    for (const name of ['test', 'exploration']) expect(needsOf(name)).to.be.an('array')
    expect(await needs('exploration')).to.deep.equal({ stdout: '', stderr: '' })
    const refused = await needs('test:cli').catch((error: unknown) => error as { code: number; stderr: string })
    expect(refused).to.include({ code: 2 })
    expect(refused.stderr).to.match(/^there is no suite test:cli, only test, ensemble, /)
  })
})
