import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installTools } from '../../environment/installed-tools.ts'
import { root, tmux, type Need } from '../../environment/needs.ts'
import { announcement, expectDeclared, missingOf, needsOf, runningSuite } from '../../environment/suites.ts'

const need = (given: Partial<Need>): Need => ({
  ...{ name: 'gcc', why: 'compiles', how: 'the Debian package build-essential, by apt-get', alternatives: 'none.' },
  isInstalled: () => false,
  ...given,
})

describe('what the suites install', () => {
  it('is installed by known files alone', () => {
    const folders = ['bench', 'environment', 'test', 'site']
    const sources = folders.flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)),
    )
    const installing = sources
      .filter(path => path.endsWith('.ts') && !path.includes('node_modules'))
      .filter(path => /'apt-get',|'install', '-/.test(readFileSync(join(root, path), 'utf8')))
    const itself = 'test/environment/needs.test.ts'
    const known = ['environment/debian-package.ts', 'environment/installed-tools.ts']
    expect(installing.filter(path => path !== itself)).to.have.members([...known, 'test/support/packed-package.ts'])
  })

  it('is announced with the reason, the command and the alternative, and not at all if nothing is missing', () => {
    expect(announcement('test', [], true)).to.equal('')
    const zookeeper = need({ name: 'ZooKeeper', why: 'serves', how: 'by apt-get', alternatives: 'ZOOKEEPER_HOME' })
    expect(announcement('test', [zookeeper, need({ how: 'npm ci' })], true)).to.equal(
      'npm test will install what this machine lacks:\n' +
        '  ZooKeeper (by apt-get): serves\n    or provide it yourself: ZOOKEEPER_HOME\n  gcc (npm ci): compiles\n',
    )
    expect(announcement('cli', [tmux], false)).to.match(/^npm run suite -- cli .*only root can, so the tests/s)
  })

  it('is missing only if it is not installed', async () => {
    expect(await missingOf('exploration')).to.deep.equal([])
    const missing = await missingOf('test')
    for (const each of needsOf('test') ?? []) expect(missing.includes(each)).to.equal(!(await each.isInstalled()))
  })

  it('is an error if a suite has not declared it', () => {
    expect(() => expectDeclared(tmux, 'cli')).not.to.throw()
    expect(() => expectDeclared(tmux, 'a script that runs no tests')).not.to.throw()
    expect(() => expectDeclared(tmux, 'site')).to.throw('site needs tmux: add it to the suite')
  })

  it('is not checked in other scripts of package.json than the suites, whatever their names', () => {
    const suites = ['test', 'suite', 'bench'].map(script => runningSuite({ npm_lifecycle_event: script }))
    expect(suites).to.deep.equal(['test', '', ''])
    expect(runningSuite({ npm_lifecycle_event: 'suite', SUITE: 'bench' })).to.equal('bench')
  })

  describe('with npm and apt-get that write down their calls,', () => {
    let directory: string
    let before: NodeJS.ProcessEnv
    const calls = () => readFileSync(join(directory, 'calls'), 'utf8')
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'zkwire-needs-'))
      mkdirSync(join(directory, 'bin'))
      writeFileSync(join(directory, 'calls'), '')
      for (const name of ['npm', 'apt-get']) {
        const program = join(directory, 'bin', name)
        writeFileSync(program, `#!/bin/sh\necho ${name} "$@" >> '${directory}/calls'\n`)
        chmodSync(program, 0o755)
      }
      before = process.env
      // The suite that npm runs has not declared the tools of this test.
      const { npm_lifecycle_event: _, SUITE: __, ...others } = before
      process.env = { ...others, PATH: `${join(directory, 'bin')}${delimiter}${before['PATH']}` }
    })
    afterEach(() => {
      process.env = before
      rmSync(directory, { recursive: true })
    })

    it('tools of npm are installed once, and again only if they have changed', async () => {
      const tools = (manifest: string) => ({
        ...need({ name: 'tools', how: 'npm install' }),
        ...{ directory: join(directory, 'tools'), manifest },
        isInstalled: () =>
          promisify(execFile)('grep', ['-qxF', manifest, join(directory, 'tools', 'complete.json')]).then(
            () => true,
            () => false,
          ),
      })
      const install = 'npm install --no-package-lock --no-audit --no-fund\n'
      for (const [manifest, expected] of [
        ['{"one":1}', install],
        ['{"one":1}', install],
        ['{"two":2}', install + install],
      ] as const) {
        expect(await installTools(tools(manifest))).to.equal(join(directory, 'tools', 'node_modules'))
        expect(calls()).to.equal(expected)
      }
    })

    it('the start of a suite installs nothing', async () => {
      const program = join(root, 'environment/announce.ts')
      await promisify(execFile)(process.execPath, ['--import', 'tsx', program, 'interop'], { cwd: root })
      expect(calls()).to.equal('')
    })
  })
})
