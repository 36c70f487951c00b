// `zkwire shell` in a real terminal, on a real server.
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client } from '../../../src/index.ts'
import { Server } from '../../../src/server/index.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { main } from './program.ts'
import { installTmux, Tmux } from './tmux.ts'

describe('zkwire shell in a terminal', function () {
  this.timeout(60_000)
  let zk: Client
  let state: string
  let server: string
  const start = `'${process.execPath}' '${main}' shell`

  before(async function () {
    this.timeout(300_000)
    await installTmux()
    server = (await sharedServer()).connectString
    zk = await connect(server)
    state = mkdtempSync(join(tmpdir(), 'zkwire-shell-'))
    for (const path of ['/shell', '/shell/first', '/shell/first/leaf', '/shell/fir tree', '/shell/second'])
      await zk.create(path, path)
  })
  after(async () => {
    await zk.deleteRecursive('/shell')
    await zk.close()
    rmSync(state, { recursive: true })
  })

  /** Starts the shell and waits for its prompt. */
  async function startShell(options: { server?: string; args?: string } = {}): Promise<Tmux> {
    const env = { ZKWIRE_SERVER: options.server ?? server, XDG_STATE_HOME: state }
    const tmux = await Tmux.start(env)
    await tmux.line(`${start} ${options.args ?? ''}`)
    await tmux.until(screen => screen.endsWith('/>'))
    return tmux
  }

  it('completes commands, options and paths', async () => {
    await using tmux = await startShell()
    await tmux.type('sta')
    await tmux.press('Tab')
    await tmux.until(screen => screen.endsWith('/> stat'))
    await tmux.type('/shell/se')
    await tmux.press('Tab')
    await tmux.until(screen => screen.endsWith('/> stat /shell/second'))
    await tmux.press('C-u')
    await tmux.line('cd /shell')
    await tmux.until(screen => screen.endsWith('/shell>'))
    await tmux.type('get f')
    await tmux.press('Tab')
    await tmux.until(screen => screen.endsWith('/shell> get fir'))
    await tmux.press('Tab')
    const both = await tmux.until(screen => screen.includes(String.raw`fir\ tree`))
    expect(both).to.match(/fir\\ tree +first/)
    await tmux.type('s')
    await tmux.press('Tab')
    // The node has a child, so the path may go on.
    await tmux.until(screen => screen.endsWith('/shell> get first/'))
    await tmux.press('C-u')
    await tmux.type('get "fir ')
    await tmux.press('Tab')
    await tmux.until(screen => screen.endsWith(String.raw`get fir\ tree`))
    await tmux.press('Enter')
    await tmux.until(screen => screen.includes('\n/shell/fir tree\n'))
    await tmux.type('ls --rec')
    await tmux.press('Tab')
    await tmux.until(screen => screen.endsWith('ls --recursive'))
  })

  it('keeps the history, also for the next shell, in a file that only its user can read', async () => {
    {
      await using tmux = await startShell()
      await tmux.line('get /shell/second')
      await tmux.until(screen => screen.includes('\n/shell/second\n'))
      await tmux.line(' set /shell/second secret-set')
      await tmux.line('pwd')
      await tmux.until(screen => /^\/$/m.test(screen))
    }
    await using tmux = await startShell()
    await tmux.press('Up')
    await tmux.until(screen => screen.endsWith('/> pwd'))
    await tmux.press('Up', 'Enter')
    await tmux.until(screen => screen.includes('/> get /shell/second\nsecret-set\n'))
    const file = join(state, 'zkwire', 'history')
    expect(readFileSync(file, 'utf8')).not.to.contain('secret-set')
    expect(statSync(file).mode & 0o777).to.equal(0o600)
  })

  it('ends a command that waits at Ctrl-C, and empties a typed line, without ending itself', async () => {
    await using tmux = await startShell()
    await tmux.line('watch /shell')
    await tmux.until(screen => screen.includes('watching  /shell'))
    await tmux.press('C-c')
    await tmux.until(screen => screen.endsWith('/>'))
    await tmux.type('rm /shell/first')
    await tmux.press('C-c')
    await tmux.until(screen => /\^C\n[^\n]*\/>$/.test(screen))
    await tmux.line('pwd')
    await tmux.until(screen => /> pwd\n\/\n[^\n]*\/>$/.test(screen))
    expect(await zk.exists('/shell/first')).not.to.equal(null)
    // The command has given the session back.
    expect(await zk.exists('/shell')).not.to.equal(null)
  })

  it('prints events above the line that is being typed, and keeps the line', async () => {
    await using tmux = await startShell()
    await tmux.line('.watch -r /shell')
    await tmux.until(screen => screen.includes('[1]') && screen.includes('watching  /shell'))
    await tmux.type(`get /shell/${'typed-'.repeat(14)}`)
    await tmux.until(screen => screen.endsWith('typed-typed-'))
    await tmux.press('Left', 'Left')
    await zk.create('/shell/new', '')
    const screen = await tmux.until(text => text.includes('NodeCreated  /shell/new'))
    await zk.create('/shell/new-too', '')
    await tmux.until(text => text.includes('NodeCreated  /shell/new-too'))
    // One key after the other: Node 20 puts the second character of a paste within a line into a wrong place.
    await tmux.type('X')
    await tmux.until(text => text.endsWith('typed-typeXd-'))
    await tmux.type('X')
    const last = await tmux.until(text => text.endsWith('typed-typeXXd-'))
    expect(last.match(/get \/shell/g), screen).to.have.length(1)
    expect(last).to.match(/NodeCreated {2}\/shell\/new\n\[1\] [^\n]*\/shell\/new-too\n127[^\n]*get/)
    await tmux.press('C-c')
    await tmux.line('.unwatch 1')
    await tmux.line('.watch')
    await zk.delete('/shell/new')
    await zk.delete('/shell/new-too')
    await tmux.line('pwd')
    await tmux.until(text => /> pwd\n\/\n/.test(text))
    expect(await tmux.screen()).not.to.contain('NodeDeleted')
  })

  it('draws the line again when the window is resized', async () => {
    await using tmux = await startShell()
    const text = `get /shell/${'0123456789'.repeat(5)}`
    await tmux.type(text)
    await tmux.until(screen => screen.endsWith(text))
    await tmux.resize(40, 20)
    await tmux.until(screen => screen.replaceAll('\n', '').endsWith(text))
    await tmux.type('end')
    await tmux.until(screen => screen.replaceAll('\n', '').endsWith(`${text}end`))
    await tmux.resize(120, 30)
    await tmux.type('!')
    await tmux.until(screen => screen.endsWith(`/> ${text}end!`))
  })

  it('shows in the prompt that the session is suspended, and begins a new one after the session has expired', async () => {
    const embedded = await Server.start()
    try {
      await using tmux = await startShell({ server: embedded.connectString })
      await tmux.line('.watch -r /')
      await tmux.until(screen => screen.includes('watching'))
      await tmux.type('get /typed')
      await embedded.stop()
      await tmux.until(screen => screen.endsWith('(suspended) /> get /typed'))
      await embedded.start()
      await tmux.until(screen => screen.endsWith(`${embedded.connectString} /> get /typed`))
      const [session] = embedded.snapshot().sessions
      embedded.expireSession(session?.id ?? 0n)
      await tmux.until(
        screen =>
          screen.includes('The session has expired, so its ephemeral nodes and locks are gone') &&
          screen.endsWith(`${embedded.connectString} /> get /typed`),
      )
      expect(embedded.snapshot().sessions).to.have.length(1)
      await tmux.press('C-u')
      await tmux.line('create /typed text')
      await tmux.until(screen => screen.includes('NodeCreated  /typed'))
    } finally {
      await embedded.close()
    }
  })

  it('leaves at Ctrl-D and leaves the terminal as it was', async () => {
    await using tmux = await Tmux.start({ ZKWIRE_SERVER: server })
    await tmux.line('before=$(stty -g)')
    for (const end of ['C-d', 'exit']) {
      await tmux.line('clear')
      await tmux.line(start)
      await tmux.until(screen => screen.endsWith('/>'))
      if (end === 'exit') await tmux.line('exit')
      else await tmux.press(end)
      await tmux.until(screen => screen.endsWith('\n$'))
      await tmux.line('echo "status $?"; [ "$before" = "$(stty -g)" ] && echo the terminal is as before')
      await tmux.until(screen => screen.includes('status 0\nthe terminal is as before\n'))
    }
  })

  it('leaves the terminal as it was when a signal ends it', async () => {
    await using tmux = await Tmux.start({ ZKWIRE_SERVER: server })
    await tmux.line('before=$(stty -g)')
    await tmux.line(`bash -c 'echo pid $$; exec "$@"' - ${start}`)
    const screen = await tmux.until(text => text.endsWith('/>'))
    process.kill(Number(/^pid (\d+)$/m.exec(screen)?.[1]), 'SIGTERM')
    await tmux.until(text => text.endsWith('\n$'))
    await tmux.line('echo "status $?"; [ "$before" = "$(stty -g)" ] && echo the terminal is as before')
    await tmux.until(screen => screen.includes('status 143\nthe terminal is as before\n'))
  })
})
