// `zkwire lock` and the processes of its program: no line of theirs after the first line of the next holder.
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { main, Program, zkwire } from './program.ts'
import { descendants, isWatchdog, leaders, Rivals } from './rivals.ts'

/** The session timeout of zkwire, in seconds. */
const T = 2

describe('the processes of the program of zkwire lock', function () {
  this.timeout(60_000)
  let server: Server
  let zk: Client
  let path = ''
  let run = 0

  before(async () => {
    server = await Server.start({ tickTime: 500 })
    zk = await connect(server.connectString)
  })
  after(async () => {
    await zk.close()
    await server.close()
  })
  beforeEach(() => void (path = `/lock-${++run}`))

  /** Starts a program whose processes write lines, under the lock. */
  const start = (rivals: Rivals, script: string, ...options: string[]): Program =>
    new Program(
      ['lock', path, '-s', server.connectString, '--timeout', String(T), ...options, '--', 'sh', '-c', script],
      {
        env: rivals.env,
      },
    )
  const all = Object.values(descendants).join('\n')
  const isStarted = (rivals: Rivals) => rivals.hasLinesOf('child', 'timed', 'job', 'orphan')
  const node = async () => (await new Mutex(zk, path).contenders())[0]?.path ?? expect.fail('there is no holder')

  for (const [kind, script] of Object.entries(descendants)) {
    const name = /" (\w+)/.exec(script)?.[1] ?? ''

    it(`have all ended before the lock is released, if the program leaves ${kind}`, async () => {
      using rivals = new Rivals()
      const program = start(rivals, `${script}\nexit 3`)
      await rivals.hasLinesOf(name)
      // The program has ended, and its descendant holds the lock.
      await until(() => program.err.includes('in the background have ended'))
      expect(program.err).to.match(
        /^zkwire lock: sh has ended with status 3; the lock is held until its \d+ process(es)? in the background have ended\n$/,
      )
      expect(await new Mutex(zk, path).tryAcquire()).to.equal(null)
      const next = rivals.succeed(zk, path)
      rivals.kill(pid => pid !== program.pid && !isWatchdog(pid))
      await next
      expect((await program.ended).status).to.equal(3)
    })

    it(`are killed if the node of the lock is deleted, also ${kind}`, async () => {
      using rivals = new Rivals()
      const program = start(rivals, `${script}\n${leaders.waits}`, '--grace', '0.3')
      await rivals.hasLinesOf(name)
      await zk.delete(await node())
      const { status } = await program.ended
      expect(status).to.equal(76)
      expect(rivals.programs).to.deep.equal([])
    })
  }

  it('hold the lock after SIGTERM until the last has cleaned up', async () => {
    using rivals = new Rivals()
    // The program itself dies of SIGTERM, and its worker needs longer.
    const program = start(rivals, `sh -c "$CLEANING" &\nwait`)
    await until(() => program.out.includes('ready'))
    const next = rivals.succeed(zk, path)
    program.kill('SIGTERM')
    await next
    expect(rivals.lines.filter(line => line === 'cleaning')).to.have.length(30)
    expect((await program.ended).status).to.equal(143)
  })

  it('have all ended before the next holder if no server confirms the session', async () => {
    using rivals = new Rivals()
    const own = await Server.start({ tickTime: 500 })
    const program = new Program(
      ['lock', path, '-s', own.connectString, '--timeout', String(T), '--', 'sh', '-c', `${all}\n${leaders.waits}`],
      { env: rivals.env },
    )
    await isStarted(rivals)
    const other = await connect(own.connectString)
    await own.stop()
    expect((await program.ended).status).to.equal(76)
    expect(rivals.programs).to.deep.equal([])
    await own.start()
    await rivals.succeed(other, path)
    await other.close()
    await own.close()
  })

  it('have all ended before the next holder if zkwire is killed with SIGKILL', async () => {
    using rivals = new Rivals()
    const program = start(rivals, `${all}\n${leaders['ignores SIGTERM']}`)
    await isStarted(rivals)
    await rivals.hasLinesOf('leader')
    program.kill('SIGKILL')
    await rivals.succeed(zk, path)
  })

  it('have all ended before the next holder if the program itself kills zkwire at once', async () => {
    using rivals = new Rivals()
    start(rivals, `kill -KILL $PPID\n${all}\n${leaders['ignores SIGTERM']}`)
    await isStarted(rivals)
    await rivals.succeed(zk, path)
  })

  it('get SIGTERM first if zkwire is killed, and time to end', async () => {
    using rivals = new Rivals()
    const program = start(rivals, `trap 'echo got TERM >> "$FILE"; exit' TERM; echo ready; ${leaders.waits}`)
    await until(() => program.out.includes('ready'))
    // The watchdog has been told the pid.
    await until(() => rivals.pids.some(isWatchdog))
    program.kill('SIGKILL')
    await until(() => rivals.lines.includes('got TERM'))
    await rivals.succeed(zk, path)
  })

  it('have all ended before the next holder if zkwire is stopped for longer than the session timeout', async () => {
    using rivals = new Rivals()
    const program = start(rivals, `${all}\n${leaders['ignores SIGTERM']}`)
    await isStarted(rivals)
    program.kill('SIGSTOP')
    await until(() => rivals.programs.length === 0)
    // The next holder must not wait for this process.
    const succeeded = rivals.succeed(zk, path)
    await until(() => rivals.lines.includes('next'))
    program.kill('SIGCONT')
    await succeeded
    expect((await program.ended).status).to.equal(76)
  })

  it('have all ended before the next holder if the watchdog is killed, and then zkwire', async () => {
    using rivals = new Rivals()
    const program = start(rivals, `${all}\n${leaders.waits}`)
    await isStarted(rivals)
    await until(() => rivals.pids.some(isWatchdog))
    const [watchdog = 0] = rivals.pids.filter(isWatchdog)
    process.kill(watchdog, 'SIGKILL')
    await until(() => rivals.pids.some(pid => pid !== watchdog && isWatchdog(pid)))
    program.kill('SIGKILL')
    await rivals.succeed(zk, path)
  })

  describe('that is a zkwire itself,', () => {
    for (const name of ['lock', 'elect'] as const) {
      const startNested = async (rivals: Rivals) => {
        const inner = `zkwire ${name} ${path}-inner -s ${server.connectString} --timeout ${T}`
        const program = start(
          rivals,
          `zkwire() { "${process.execPath}" "${main}" "$@"; }\n${inner} -- sh -c "$STUBBORN" leader`,
        )
        await rivals.hasLinesOf('leader')
        return program
      }

      it(`with ${name}, have all ended before the next holder if that is killed with SIGKILL`, async () => {
        using rivals = new Rivals()
        await startNested(rivals)
        const inner = rivals.programs.find(pid => commandOf(pid).includes(`${main} ${name}`))
        process.kill(inner ?? expect.fail('there is no inner zkwire'), 'SIGKILL')
        await rivals.succeed(zk, path)
      })

      it(`with ${name}, are killed at the end of the grace if the node of the outer lock is deleted`, async () => {
        using rivals = new Rivals()
        const program = await startNested(rivals)
        await zk.delete(await node())
        expect((await program.ended).status).to.equal(76)
        expect(rivals.programs).to.deep.equal([])
      })

      it(`with ${name}, have all ended before the next holder if the outer zkwire is killed with SIGKILL`, async () => {
        using rivals = new Rivals()
        const program = await startNested(rivals)
        program.kill('SIGKILL')
        await rivals.succeed(zk, path)
      })
    }
  })

  it('leave no watchdog when they have ended, or could not be started', async () => {
    using rivals = new Rivals()
    expect((await start(rivals, 'true').ended).status).to.equal(0)
    expect(
      (await zkwire(['lock', path, '-s', server.connectString, '--', '/missing'], { env: rivals.env })).status,
    ).to.equal(127)
    await until(() => rivals.pids.length === 0)
  })

  it('are not waited for once they have ended, although no process has asked for their status', async () => {
    using rivals = new Rivals()
    // A shell that starts another session, and never asks for the status of its child, which stays in the old one.
    const { status } = await start(rivals, `sh -c 'true & exec setsid sleep 600 > /dev/null 2>&1' & sleep 0.2`).ended
    expect(status).to.equal(0)
    expect(rivals.programs.map(pid => readFileSync(`/proc/${pid}/comm`, 'utf8'))).to.deep.equal(['sleep\n'])
  })

  describe('that cannot be started,', () => {
    let directory: string
    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'zkwire-start-'))
      writeFileSync(join(directory, 'file'), 'not a program')
      symlinkSync('loop', join(directory, 'loop'))
    })
    after(() => rmSync(directory, { recursive: true }))

    for (const [title, name, status, message] of [
      ['is below a file', 'file/program', 126, 'not a directory'],
      ['is a loop of links', 'loop', 126, 'too many symbolic links encountered'],
      ['is a folder', '.', 126, 'permission denied'],
      ['may not be executed', 'file', 126, 'permission denied'],
      ['has a name that is too long', 'x'.repeat(300), 126, 'name too long'],
      ['does not exist', 'missing', 127, 'not found'],
    ] as const)
      it(`because the program ${title}, end zkwire with ${status} and one line, and leave the lock free`, async () => {
        const file = join(directory, name)
        const ended = await zkwire(['lock', path, '-s', server.connectString, '--', file])
        expect(ended.err).to.equal(`zkwire lock: cannot start ${file}: ${message}\n`)
        expect(ended.status).to.equal(status)
        expect(await new Mutex(zk, path).contenders()).to.deep.equal([])
      })

    it('because the name of the program is empty, end zkwire with 126', async () => {
      const { status, err } = await zkwire(['lock', path, '-s', server.connectString, '--', ''])
      expect([status, err]).to.deep.equal([126, 'zkwire lock: cannot start : its name is empty\n'])
      expect(await new Mutex(zk, path).contenders()).to.deep.equal([])
    })
  })
})
