// Checks docs/testing.md: runs its code and its examples. The test of the runtimes runs the example for vitest.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { FaultPlan } from '../../src/server/control/fault-plan.ts'
import { Server } from '../../src/server/index.ts'
import { Member } from '../../src/server/member.ts'
import { ServerControls } from '../../src/server/server-controls.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'

const root = join(import.meta.dirname, '..', '..')

describe('docs/testing.md', () => {
  testCodeBlocks('docs/testing.md', [
    /^passed$/m,
    /^1\n\/jobs\/job-2147483647\nSESSIONEXPIRED$/m,
    /^old\nnew\ntrue true\nlooking\nfollower follower leader$/m,
    /^colour=blue$/m,
    /^false\ntrue\ntrue\n0$/m,
  ])

  it('documents every method of a server, of its faults and of the members of an ensemble', () => {
    const documented = [...readDocument('docs/testing.md').matchAll(/^\| (.*?) \| .*\|$/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(?:faults\.)?(\w+)[(`]/g)].map(([, name]) => name),
    )
    const namesOf = (shown: { prototype: object }, ...hidden: string[]) =>
      Object.getOwnPropertyNames(shown.prototype).filter(name => !['constructor', ...hidden].includes(name))
    const shared = namesOf(ServerControls)
    const has = [...namesOf(Server, 'close'), ...shared.filter(name => name !== 'connectString'), ...namesOf(Member)]
    const fields = ['host', 'port', 'dial', 'faults']
    expect(documented).to.have.members([...has, ...shared, ...fields, ...namesOf(FaultPlan, 'match')])
  })

  for (const [runner, command, passed] of [
    ['mocha', ['node_modules/mocha/bin/mocha.js', '--no-config'], /\b2 passing\b/],
    ['node', ['--test'], /^# pass 2$|^ℹ pass 2$/m],
  ] as const)
    it(`has an example that passes with ${runner}`, async () => {
      const args = [...command, `examples/testing/${runner}.test.js`]
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 15_000 })
      expect(stdout).to.match(passed)
    })
})
