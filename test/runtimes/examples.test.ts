// Runs examples/testing with each test runner, against the installed package.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cp, readFile, readdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../environment/needs.ts'
import { installed, type Installed } from './install.ts'

const examples = join(root, 'examples', 'testing')

describe('examples/testing', () => {
  let at: Installed

  before(async function () {
    this.timeout(600_000)
    at = await installed()
    await cp(examples, at.user, { recursive: true })
    // Keeps mocha from using our .mocharc.json in a parent folder.
    await writeFile(join(at.user, '.mocharc.json'), '{}')
  })

  it('has one example each for mocha, node --test and vitest', async () => {
    const tests = (await readdir(examples)).filter(file => file.endsWith('.test.js'))
    expect(tests).to.have.members(['mocha.test.js', 'node.test.js', 'vitest.test.js'])
  })

  for (const runner of ['mocha', 'node', 'vitest']) {
    it(`passes when it is run by the command in ${runner}.test.js`, async () => {
      const text = await readFile(join(examples, `${runner}.test.js`), 'utf8')
      const [, command = ''] = /^\/\/ With .*?: (?:npx )?(.*)$/m.exec(text) ?? []
      const [program = '', ...args] = command.split(' ')
      const env = {
        ...process.env,
        PATH: [join(at.runtimes, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
        NO_COLOR: '1',
      }
      const { stdout } = await promisify(execFile)(program, args, { cwd: at.user, env, timeout: 50_000 })
      expect(stdout).to.match(/^# pass 2$|^ℹ pass 2$|\b2 passing\b|Tests\s+2 passed/m)
    })
  }
})
