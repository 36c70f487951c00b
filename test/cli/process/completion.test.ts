// `zkwire completion bash`, in bash.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { connect } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { main, zkwire } from './program.ts'

describe('zkwire completion', () => {
  let server: Server
  let script: string
  before(async () => {
    server = await Server.start()
    const zk = await connect(server.connectString)
    for (const path of ['/app', '/app/colour', '/app/color', '/app/two words']) await zk.create(path)
    await zk.close()
    script = (await zkwire(['completion', 'bash'])).out
  })
  after(() => server.close())

  /** Returns what bash offers for the last word. */
  async function offered(...words: string[]): Promise<string[]> {
    const program = `${script}
      zkwire() { '${process.execPath}' '${main}' "$@"; }
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _zkwire; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await promisify(execFile)('bash', ['-c', program, 'bash', ...words], {
      env: { ...process.env, ZKWIRE_SERVER: server.connectString },
    })
    return stdout.trimEnd().split('\n')
  }

  it('offers commands, the options of a command, and paths of nodes to bash', async () => {
    expect(await offered('zkwire', 'e')).to.include.members(['elect', 'export'])
    expect(await offered('zkwire', 'lock', '--no')).to.deep.equal(['--no-wait'])
    expect(await offered('zkwire', 'get', '/a')).to.deep.equal(['/app'])
    expect(await offered('zkwire', 'get', '/app/co')).to.deep.equal(['/app/color', '/app/colour'])
    expect(await offered('zkwire', 'get', '/app/t')).to.deep.equal(['/app/two words'])
  })

  it('prints a script for zsh that contains that of bash, and one for fish with every command', async () => {
    expect((await zkwire(['completion', 'zsh'])).out)
      .to.match(/^autoload -Uz compinit bashcompinit/)
      .and.contain(script)
    expect((await zkwire(['completion', 'fish'])).out)
      .to.contain('-a lock -d')
      .and.contain("-l no-wait -s n -d '")
  })
})
