// `zkwire lock` in a real terminal that is stopped, suspended or closed: no line of its program after the first line of
// the next holder.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { commandOf, threadStates } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { main } from './program.ts'
import { descendants, leaders, Rivals } from './rivals.ts'
import { installTmux, Tmux } from './tmux.ts'

/** The session timeout of zkwire, in seconds. */
const T = 2

const all = Object.values(descendants).join('\n')

describe('zkwire lock in a terminal', function () {
  this.timeout(60_000)
  let server: Server
  let zk: Client
  let path = ''
  let run = 0

  before(async function () {
    this.timeout(300_000)
    await installTmux()
    server = await Server.start({ tickTime: 500 })
    zk = await connect(server.connectString)
  })
  after(async () => {
    await zk.close()
    await server.close()
  })
  beforeEach(() => void (path = `/lock-${++run}`))

  const zkwire = `${process.execPath} ${main}`
  const commands = {
    'zkwire lock': (options: string, program: string) => `${zkwire} lock ${path} ${options} -- ${program}`,
    'the lock of zkwire shell': (options: string, program: string) => `lock ${path} ${options} -- ${program}`,
  }

  /** Starts a bash, or a shell of zkwire in it, whose environment has the script of the program. */
  const start = async (rivals: Rivals, script: string, isShell: boolean, timeout = T): Promise<Tmux> => {
    const tmux = await Tmux.start({ ...rivals.env, SCRIPT: script, ZKWIRE_SERVER: server.connectString })
    if (isShell) {
      await tmux.line(`${zkwire} shell --timeout ${timeout}`)
      await tmux.until(screen => screen.endsWith('/>'))
    }
    return tmux
  }
  const isStarted = (rivals: Rivals) => rivals.hasLinesOf('child', 'timed', 'job', 'orphan')
  const node = async () => (await new Mutex(zk, path).contenders())[0]?.path ?? expect.fail('there is no holder')

  for (const [title, line] of Object.entries(commands)) {
    const isShell = title.includes('shell')
    const options = (text = '', timeout = T) => `${isShell ? '' : `--timeout ${timeout} `}${text}`
    const program = `sh -c 'eval "$SCRIPT"'`

    describe(`as ${title}`, () => {
      it('ends its program after the grace if the node is deleted while the terminal is stopped with Ctrl-S', async () => {
        using rivals = new Rivals()
        await using tmux = await start(rivals, `${all}\n${leaders['ignores SIGTERM']}`, isShell)
        await tmux.line(line(options('--grace 0.3'), program))
        await isStarted(rivals)
        await tmux.press('C-s')
        await zk.delete(await node())
        await until(() => rivals.programs.length === 0)
        await tmux.press('C-q')
        await tmux.until(screen => screen.includes("is lost: the lock's node was deleted; ending sh"))
      })

      it('ends its program before the next holder if no server answers while the terminal is stopped', async () => {
        using rivals = new Rivals()
        await using tmux = await start(rivals, `${all}\n${leaders['ignores SIGTERM']}`, isShell)
        await tmux.line(line(options(), program))
        await isStarted(rivals)
        await tmux.press('C-s')
        await server.stop()
        await until(() => rivals.programs.length === 0)
        await server.start()
        await rivals.succeed(zk, path)
      })

      it('stops its program with Ctrl-Z, and ends it before the next holder', async () => {
        using rivals = new Rivals()
        await using tmux = await start(rivals, `${all}\n${leaders['ignores SIGTERM']}`, isShell)
        await tmux.line(line(options(), program))
        await isStarted(rivals)
        await tmux.press('C-z')
        await tmux.until(screen => screen.includes('Stopped'))
        await rivals.succeed(zk, path)
        await tmux.line('fg')
        await tmux.until(screen => screen.includes('is lost: the session has ended'))
      })

      it('does not continue its program after Ctrl-Z and fg if the lock is lost, also without its watchdog', async () => {
        using rivals = new Rivals()
        await using tmux = await start(rivals, `${all}\n${leaders['ignores SIGTERM']}`, isShell)
        await tmux.line(line(options(), program))
        await isStarted(rivals)
        const watchdog = rivals.pids.find(pid => commandOf(pid).includes('watchdog-main')) ?? expect.fail('no watchdog')
        process.kill(watchdog, 'SIGSTOP')
        await tmux.press('C-z')
        await tmux.until(screen => screen.includes('Stopped'))
        const succeeded = rivals.succeed(zk, path)
        await until(() => rivals.lines.includes('next'))
        await tmux.line('fg')
        await succeeded
      })

      it('continues its program after Ctrl-Z and fg if the lock is still valid', async () => {
        using rivals = new Rivals()
        // On a busy machine the lease of a short session would end before this test has seen the program stopped.
        const long = 10
        await using tmux = await start(rivals, leaders['ignores SIGTERM'], isShell, long)
        await tmux.line(line(options('', long), program))
        await rivals.hasLinesOf('leader')
        // Several processes for a moment: a shell that forks has the same command line until its child runs another program.
        const isLeader = (pid: number) => commandOf(pid).endsWith(' leader')
        const isStopped = () => rivals.programs.some(pid => isLeader(pid) && stateOf(pid) === 'T')
        await tmux.press('C-z')
        await until(isStopped)
        await tmux.until(screen => screen.includes('Stopped'))
        await tmux.line('fg')
        await until(() => !isStopped())
        const count = rivals.lines.length
        await until(() => rivals.lines.length > count)
        rivals.kill(isLeader)
        await rivals.succeed(zk, path)
      })

      it('hands Ctrl-C on to all processes of its program', async () => {
        using rivals = new Rivals()
        const script = `trap 'echo got INT >> "$FILE"; exit 3' INT; echo ready >> "$FILE"; ${leaders.waits}`
        await using tmux = await start(rivals, script, isShell)
        await tmux.line(line(options(), program))
        await until(() => rivals.lines.includes('ready'))
        await tmux.press('C-c')
        await until(() => rivals.lines.includes('got INT'))
        await tmux.until(screen => screen.endsWith(isShell ? '/>' : '$'))
        if (!isShell) {
          await tmux.line('echo "status $?"')
          await tmux.until(screen => screen.includes('status 3\n'))
        }
        expect(await new Mutex(zk, path).contenders()).to.deep.equal([])
      })

      it('hands SIGHUP on when the terminal is closed, and holds the lock until its program has ended', async () => {
        using rivals = new Rivals()
        const script = `trap 'echo got HUP >> "$FILE"' HUP; echo ready >> "$FILE"; ${leaders.waits}`
        const tmux = await start(rivals, script, isShell)
        await tmux.line(line(options(), program))
        await until(() => rivals.lines.includes('ready'))
        await tmux[Symbol.asyncDispose]()
        await until(() => rivals.lines.includes('got HUP'))
        expect(await new Mutex(zk, path).tryAcquire()).to.equal(null)
        const succeeded = rivals.succeed(zk, path)
        rivals.kill(pid => commandOf(pid).startsWith('sh -c eval'))
        await succeeded
      })

      it('ends its program after the grace if the node is deleted while the terminal is stopped and then closed', async () => {
        using rivals = new Rivals()
        const tmux = await start(rivals, `${all}\n${leaders['ignores SIGTERM']}`, isShell)
        await tmux.line(line(options('--grace 0.3'), program))
        await isStarted(rivals)
        await tmux.press('C-s')
        await zk.delete(await node())
        await tmux[Symbol.asyncDispose]()
        await until(() => rivals.programs.length === 0)
      })
    })
  }

  it('hands SIGTERM to the shell on to the program as SIGTERM', async () => {
    using rivals = new Rivals()
    const script = `trap 'echo got TERM >> "$FILE"; exit' TERM; trap 'echo got INT >> "$FILE"' INT; echo ready >> "$FILE"; ${leaders.waits}`
    await using tmux = await start(rivals, script, true)
    await tmux.line(commands['the lock of zkwire shell']('', `sh -c 'eval "$SCRIPT"'`))
    await until(() => rivals.lines.includes('ready'))
    const shell = rivals.pids.find(pid => commandOf(pid).includes(`${main} shell`)) ?? expect.fail('there is no shell')
    process.kill(shell, 'SIGTERM')
    await until(() => rivals.lines.includes('got TERM'))
    await tmux.until(screen => screen.endsWith('$'))
    expect(rivals.lines).not.to.include('got INT')
    await tmux.line('echo "status $?"')
    await tmux.until(screen => screen.includes('status 143\n'))
  })
})

/** The state of a process, such as T if it is stopped. */
const stateOf = (pid: number): string | undefined => threadStates(pid)[0]
