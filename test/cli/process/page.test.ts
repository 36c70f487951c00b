// docs/cli.md: runs its examples, and has one for each command.
import { expect } from 'chai'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commands } from '../../../src/cli/table.ts'
import { connect } from '../../../src/index.ts'
import { readDocument } from '../../support/document.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { main, type Ended } from './program.ts'

interface Example {
  heading: string
  command: string
  output: string
}

/** The commands of the console blocks. `$ ` starts a command, and `> ` continues it. */
function examples(): Example[] {
  let heading = ''
  return [...readDocument('docs/cli.md').matchAll(/^#+ (.*)$|^```console\n([^]*?)^```$/gm)].flatMap(
    ([, title, block]) => {
      heading = title ?? heading
      return (block ?? '').split(/^\$ /m).flatMap(each => {
        const [, command = '', output = ''] = /^(.*(?:\n> .*)*)\n([^]*)$/.exec(each) ?? []
        return command === '' ? [] : [{ heading, command: command.replaceAll('\n> ', '\n'), output }]
      })
    },
  )
}

/** Replaces what differs from run to run: times, ids, numbers, and the width of columns. */
const withoutNumbers = (output: string): string =>
  output
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/0x[\da-f]+/g, 'ID')
    .replaceAll(/\btoken \d+/g, 'token N')
    .replaceAll(/\b127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/[+-]?\b\d+(\.\d)? ms/g, 'N ms')
    .replaceAll(/(?<= )\d+ s(?= )/g, 'N s')
    .replaceAll(/plain: \d\S+/g, 'plain: VERSION')
    .replaceAll(/TLS: no \(.*\)/g, 'TLS: no')
    .replaceAll(/\((ENOTFOUND|EAI_AGAIN)\)/g, '(UNKNOWN)')
    .replaceAll(/^ *\d+\.\d{3} (?= \[)/gm, 'SECONDS ')
    .replaceAll(/forwarding to \S+/g, 'forwarding to SERVER')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/^ /gm, '')

describe('docs/cli.md', function () {
  this.timeout(60_000)
  let server: ApacheZooKeeper
  let directory: string
  let status: Ended['status'] = 0

  before(async () => {
    server = await startApacheZooKeeper({ config: { tickTime: 2000 } })
    directory = mkdtempSync(join(tmpdir(), 'zkwire-cli-'))
    writeFileSync(join(directory, 'zkwire'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    chmodSync(join(directory, 'zkwire'), 0o755)
    const zk = await connect(server.connectString)
    await zk.create('/docs')
    await zk.close()
  })
  after(async () => {
    await server.close()
    rmSync(directory, { recursive: true })
  })

  async function run(command: string): Promise<string> {
    const env = { PATH: `${directory}:${process.env['PATH']}`, ZKWIRE_SERVER: `${server.connectString}/docs` }
    const args = ['-c', `exec 2>&1; (exit ${status}); ${command}`]
    const ended = await new ChildProgram(args, { program: 'bash', env }).ended
    status = ended.status
    return ended.out
  }

  for (const { heading, command, output } of examples())
    it(`under “${heading}”, ${command.split('\n')[0]}`, async () => {
      expect(withoutNumbers(await run(command))).to.equal(withoutNumbers(output))
    })

  it('has an example of every command', () => {
    const shown = examples().flatMap(({ command }) => [...command.matchAll(/\bzkwire (\w+)/g)].map(([, name]) => name))
    expect([...commands.keys()].filter(name => !shown.includes(name))).to.deep.equal([])
  })

  it('describes every option of a connection', async () => {
    const { connectionOptions } = await import('../../../src/cli/runner/connection.ts')
    const page = readDocument('docs/cli.md')
    for (const name of Object.keys(connectionOptions)) expect(page).to.contain(`--${name}`)
  })
})
