// `zkwire completion` in real shells: a name of a node is data, and never runs, whatever its characters.
import { expect } from 'chai'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { ensureInstalled } from '../../../environment/debian-package.ts'
import { shells as shellPackages } from '../../../environment/needs.ts'
import { main, zkwire } from './program.ts'
import { installTmux, Tmux } from './tmux.ts'

/** Each name starts with a letter of its own. The data of a node is `data of` that letter. */
const NAMES = [
  'a;touch${IFS}pwned',
  'b$(touch pwned)',
  'c`touch pwned`',
  'd*',
  "e'q';touch pwned;'",
  'f"q";touch pwned;"',
  'g h',
  'h&touch pwned',
  'i|touch pwned',
  'j>pwned',
  'k#x',
  'l~',
  'm\\x',
  'n{1,2}',
  'o?[p]q',
  'r<x',
  's(x)',
  't=x:y@z',
  'uäß',
  'v%x^y,w',
  'x!y',
] as const

const shells = {
  bash: { words: ['bash', '--norc', '--noprofile'], load: 'eval "$(zkwire completion bash)"' },
  zsh: { words: ['zsh', '-f', '-i'], load: 'eval "$(zkwire completion zsh)"' },
  fish: {
    words: ['fish', '--no-config', '-i', '-C', "function fish_prompt; echo '$ '; end"],
    load: 'zkwire completion fish | source',
  },
} as const

describe('zkwire completion', function () {
  this.timeout(300_000)
  let server: Server
  let directory: string
  let env: Record<string, string>

  before(async () => {
    await installTmux()
    for (const each of shellPackages) await ensureInstalled(each)
    server = await Server.start()
    const zk = await connect(server.connectString)
    await zk.create('/n')
    for (const name of NAMES) await zk.create(`/n/${name}`, `data of ${name.charAt(0)}`)
    await zk.close()
    directory = mkdtempSync(join(tmpdir(), 'zkwire-completion-'))
    const program = join(directory, 'zkwire')
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    chmodSync(program, 0o755)
    writeFileSync(join(directory, 'local-file'), '')
    env = {
      ...{ HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory, ZKWIRE_SERVER: server.connectString },
      PROMPT: '$ ',
    }
  })
  after(async () => {
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  for (const [name, { words, load }] of Object.entries(shells))
    describe(`in ${name}`, () => {
      const start = async (): Promise<Tmux> => {
        const tmux = await Tmux.start(env, ['env', `PATH=${directory}:${process.env['PATH'] ?? ''}`, ...words])
        await tmux.line(`cd ${directory}`)
        await tmux.line(load)
        await tmux.line('clear')
        await tmux.until(screen => /^\S* ?\$$/.test(screen))
        return tmux
      }
      /** Types the start of a line, presses Tab, and returns the line when it has changed. */
      const completed = async (tmux: Tmux, typed: string): Promise<string> => {
        await tmux.press('C-u')
        await tmux.line('clear')
        await tmux.until(screen => /^\S* ?\$$/.test(screen))
        await tmux.type(typed)
        await tmux.until(screen => screen.includes(typed))
        await tmux.press('Tab')
        return tmux.until(screen => screen.trimEnd().length > typed.length + 2 && !screen.endsWith(typed))
      }

      it('completes commands, options and paths', async () => {
        await using tmux = await start()
        expect(await completed(tmux, 'zkwire ser')).to.match(/zkwire serve$/)
        expect(await completed(tmux, 'zkwire lock --no-w')).to.match(/zkwire lock --no-wait$/)
        expect(await completed(tmux, 'zkwire get /n/u')).to.match(/zkwire get \/n\/uäß$/)
      })

      it('offers no local files as commands, and local files where a file is meant', async () => {
        await using tmux = await start()
        expect(await completed(tmux, 'zkwire explain local-f')).to.match(/zkwire explain local-file$/)
        await tmux.press('C-u')
        await tmux.line('clear')
        await tmux.type('zkwire l')
        await tmux.press('Tab', 'Tab')
        expect(await tmux.until(screen => screen.includes('leader'))).not.to.contain('local-file')
      })

      it('quotes hostile names, so that they are data', async () => {
        await using tmux = await start()
        for (const node of NAMES) {
          const letter = node.charAt(0)
          await completed(tmux, `zkwire get /n/${letter}`)
          await tmux.press('Enter')
          await tmux
            .until(screen => screen.includes(`data of ${letter}`))
            .catch((error: unknown) => {
              throw new Error(`the name ${node}`, { cause: error })
            })
        }
        expect(readdirSync(directory)).not.to.include('pwned')
      })

      if (name !== 'fish')
        it('quotes hostile names within quotes that the user has begun', async () => {
          await using tmux = await start()
          for (const quote of ["'", '"'])
            for (const node of NAMES.filter(each => /[;'"$]/.test(each) && !each.includes(quote))) {
              const letter = node.charAt(0)
              await completed(tmux, `zkwire get ${quote}/n/${letter}`)
              await tmux.press('Enter')
              await tmux
                .until(screen => screen.includes(`data of ${letter}`))
                .catch((error: unknown) => {
                  throw new Error(`the name ${node} after ${quote}`, { cause: error })
                })
            }
          expect(readdirSync(directory)).not.to.include('pwned')
        })
    })

  it('takes the server from the command line, and prints nothing without a server', async () => {
    const completion = ['completion', 'zsh', '--', 'zkwire', 'get']
    const { out } = await zkwire([...completion, '-s', server.connectString, '/n/d'])
    expect(out).to.equal('/n/d*\n')
    const without = await zkwire([...completion, '-s', '127.0.0.1:1', '/n/d'])
    expect([without.status, without.out, without.err]).to.deep.equal([0, '', ''])
  })
})
