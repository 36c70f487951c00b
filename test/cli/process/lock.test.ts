// `zkwire lock` as a process: what happens to its program when it, the program, the node or the server ends.
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex, ReadWriteLock, Semaphore, TicketMutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { startApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { freePort } from '../../../environment/free-port.ts'
import { threadStates } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { main, onBothServers, Program, zkwire } from './program.ts'

/** The session timeout of zkwire, ms. */
const T = 3000

/** Prints `ready`, then for each signal its name; goes on until it is killed. */
const STUBBORN = "trap 'echo got TERM' TERM; trap 'echo got USR1' USR1; echo ready; while :; do sleep 0.02; done"
/** Prints `ready`, and ends with 7 on SIGTERM. */
const OBEDIENT = "trap 'echo got TERM; exit 7' TERM; echo ready; while :; do sleep 0.02; done"

describe('zkwire lock', function () {
  this.timeout(60_000)
  let path = ''
  let run = 0
  beforeEach(() => void (path = `/cli-lock-${process.pid}-${++run}`))

  const lock = (connectString: string, script: string, ...options: string[]) =>
    new Program(
      ['lock', path, '--server', connectString, '--timeout', String(T / 1000), ...options, '--', 'sh', '-c', script],
      {},
    )
  const isReady = (program: Program) => until(() => program.out.includes('ready'))

  onBothServers('while the session is alive', server => {
    let zk: Client
    before(async () => {
      zk = await connect(server.connectString)
    })
    after(() => zk.close())

    const contenders = () => new Mutex(zk, path).contenders()

    it('gives the program a token and the path of its node, and returns its status', async () => {
      const script = 'echo $ZKWIRE_TOKEN $ZKWIRE_LOCK_NODE; exit 3'
      const first = await lock(server.connectString, script).ended
      const second = await lock(server.connectString, script).ended
      expect([first.status, first.err]).to.deep.equal([3, ''])
      expect(first.out).to.match(new RegExp(`^\\d+ ${path}/_c_.*-lock-0000000000\n$`))
      expect(Number.parseInt(second.out)).to.be.greaterThan(Number.parseInt(first.out))
      expect(await contenders()).to.deep.equal([])
    })

    it('hands signals on to the program and to its children, and then returns the status of the program', async () => {
      const loop = 'while :; do sleep 0.02; done'
      const child = `(trap 'echo child got USR1' USR1; trap 'echo child got TERM; exit' TERM; echo ready; ${loop})`
      const program = lock(server.connectString, `trap 'echo got USR1' USR1; trap 'exit 7' TERM; ${child} & ${loop}`)
      await isReady(program)
      program.kill('SIGUSR1')
      await until(() => /^got USR1/m.test(program.out) && program.out.includes('child got USR1'))
      program.kill('SIGTERM')
      const { status, out } = await program.ended
      expect(out).to.contain('child got TERM')
      expect(status).to.equal(7)
      expect(await contenders()).to.deep.equal([])
    })

    it('releases the lock at once if the program is killed, and ends with 137', async () => {
      const { status, err } = await lock(server.connectString, 'kill -9 $$').ended
      expect([status, err]).to.deep.equal([137, ''])
      expect(await contenders()).to.deep.equal([])
    })

    it('releases the lock and ends with 127 if there is no such program', async () => {
      const args = ['lock', path, '-s', server.connectString, '--', '/missing/program']
      const { status, err } = await zkwire(args)
      expect(err).to.equal('zkwire lock: cannot start /missing/program: not found\n')
      expect(status).to.equal(127)
      expect(await contenders()).to.deep.equal([])
    })

    it('ends with 75 if the lock is taken, at once with --no-wait, or after --wait, and leaves no node', async () => {
      await using held = await new Mutex(zk, path).acquire()
      const noWait = await lock(server.connectString, 'echo never', '--no-wait').ended
      const wait = await lock(server.connectString, 'echo never', '--wait', '0.2').ended
      expect([noWait.status, noWait.out, noWait.err]).to.deep.equal([75, '', `zkwire lock: ${path} is taken\n`])
      expect([wait.status, wait.out]).to.deep.equal([75, ''])
      // On a busy machine, no server may have answered in that time.
      expect(wait.err.startsWith(`zkwire lock: ${path} was not acquired within 0.2 s: `), wait.err).to.equal(true)
      expect((await contenders()).map(each => each.path)).to.deep.equal([held.path])
    })

    it('leaves the queue when Ctrl-C ends the wait, with 130', async () => {
      await using held = await new Mutex(zk, path).acquire()
      const program = lock(server.connectString, 'echo never')
      await until(async () => (await contenders()).length === 2)
      program.kill('SIGINT')
      const { status, out, err } = await program.ended
      expect([status, out, err]).to.deep.equal([130, '', ''])
      expect((await contenders()).map(each => each.path)).to.deep.equal([held.path])
    })

    it('sends SIGTERM at once and SIGKILL after --grace if the node is deleted, and ends with 76', async () => {
      const program = lock(server.connectString, STUBBORN, '--grace', '0.5')
      await isReady(program)
      await zk.delete((await contenders())[0]?.path ?? '')
      await until(() => program.out.includes('got TERM'))
      const toldAt = performance.now()
      const { status, err } = await program.ended
      expect(performance.now() - toldAt).to.be.greaterThan(300)
      // The shell may print a line about its own child, which gets the signal too.
      expect(err.split('\n')).to.include(`zkwire lock: ${path} is lost: the lock's node was deleted; ending sh`)
      expect(status).to.equal(76)
    })

    it('kills the program at once when it continues after a stop that was longer than the session timeout', async () => {
      const program = lock(server.connectString, STUBBORN)
      await isReady(program)
      program.kill('SIGSTOP')
      // The server expires the session, and the next contender has the lock.
      await using next = await new Mutex(zk, path).acquire({ timeout: 5 * T })
      expect(next.validFor()).to.be.greaterThan(0)
      program.kill('SIGCONT')
      const { status, out, err } = await program.ended
      expect(out).not.to.contain('got TERM')
      expect(err).to.match(/is lost: the session has ended, or the servers have not confirmed it in time; ending sh\n$/)
      expect(status).to.equal(76)
    })

    it('ends its program also if it is killed itself; the next holder has a larger token', async () => {
      const program = lock(server.connectString, 'echo $ZKWIRE_TOKEN; echo $$; while :; do sleep 0.02; done')
      await until(() => program.out.split('\n').length > 2)
      const [token = 0, pid = 0] = program.out.split('\n').map(Number)
      program.kill('SIGKILL')
      await using next = await new Mutex(zk, path).acquire({ timeout: 5 * T })
      // A process that has ended may not have been reaped yet.
      expect(threadStates(pid).filter(state => state !== 'Z')).to.deep.equal([])
      expect(next.token > BigInt(token)).to.equal(true)
      await program.ended
    })

    for (const [option, holder] of [
      [['--write'], () => new ReadWriteLock(zk, path).readLock],
      [['--read'], () => new ReadWriteLock(zk, path).writeLock],
      [['--permits', '1'], () => new Semaphore(zk, path, 1)],
      [['--ticket'], () => new TicketMutex(zk, path)],
      [['--dialect', 'kazoo'], () => new Mutex(zk, path, { dialect: 'kazoo' })],
      [['--dialect', 'kazoo', '--write'], () => new ReadWriteLock(zk, path, { dialect: 'kazoo' }).readLock],
    ] as const)
      it(`waits for the holder of the same kind of lock with ${option.join(' ')}`, async () => {
        const held = await holder().acquire()
        expect((await lock(server.connectString, 'echo never', '-n', ...option).ended).status).to.equal(75)
        await held.release()
        expect((await lock(server.connectString, 'true', '-n', ...option).ended).status).to.equal(0)
      })

    it('lets readers in together', async () => {
      await using held = await new ReadWriteLock(zk, path).readLock.acquire()
      expect((await lock(server.connectString, 'echo read', '--no-wait', '--read').ended).out).to.equal('read\n')
      expect(held.validFor()).to.be.greaterThan(0)
    })
  })

  it('waits with --wait for a server too, and ends with 69 if none comes in this time', async () => {
    const port = await freePort()
    const late = lock(`127.0.0.1:${port}`, 'echo done', '--wait', '30')
    const never = await lock(`127.0.0.1:${await freePort()}`, 'echo never', '--wait', '0.5').ended
    expect([never.status, never.out]).to.deep.equal([69, ''])
    expect(never.err).to.match(/^zkwire lock: (NOSERVER|CONNECTTIMEOUT): /)
    const server = await Server.start({ port })
    const { status, out } = await late.ended
    await server.close()
    expect([status, out]).to.deep.equal([0, 'done\n'])
  })

  it('queues again in a new session if its session ends during the wait, until --wait is over', async () => {
    const server = await Server.start()
    const zk = await connect(server.connectString)
    const mutex = new Mutex(zk, path)
    const held = await mutex.acquire()
    const patient = lock(server.connectString, 'echo done', '--wait', '60')
    const hasty = lock(server.connectString, 'echo never', '--wait', '8')
    await until(async () => (await mutex.contenders()).length === 3)
    for (const { session } of (await mutex.contenders()).slice(1)) server.expireSession(session)
    await until(async () => (await mutex.contenders()).length === 3)
    const { status, out, err } = await hasty.ended
    expect([status, out]).to.deep.equal([75, ''])
    expect(err.split('\n')[0]).to.equal(
      `zkwire lock: the session has ended during the wait for ${path}; waiting again, at the end of the queue`,
    )
    await held.release()
    expect(await patient.ended).to.include({ status: 0, out: 'done\n' })
    await zk.close()
    await server.close()
  })

  it('refuses a --grace that is longer than a third of the session timeout that the server chose', async () => {
    const server = await Server.start({ tickTime: 500 })
    const { status, err } = await lock(server.connectString, 'echo never', '--grace', '3').ended
    await server.close()
    expect(err).to.match(/^zkwire lock: --grace: 3 s is longer than a third of the session timeout of 3 s: .*\n$/)
    expect(status).to.equal(64)
  })

  for (const [name, start] of [
    ['Apache ZooKeeper is killed', () => startApacheZooKeeper({ config: { tickTime: 500 } })],
    ['the embedded server stops', () => Server.start({ tickTime: 500 })],
  ] as const)
    describe(`if ${name}`, () => {
      const outage = async (script: string, ...options: string[]) => {
        const server = await start()
        const program = lock(server.connectString, script, ...options)
        await isReady(program)
        const stoppedAt = performance.now()
        await ('kill' in server ? server.kill() : server.stop())
        const times = { term: NaN, end: NaN }
        const told = until(() => program.out.includes('got TERM')).then(
          () => (times.term = performance.now() - stoppedAt),
        )
        const ended = await program.ended
        times.end = performance.now() - stoppedAt
        await told
        await server.close()
        return { ...ended, times }
      }

      it('sends SIGTERM when the session is valid for less than --grace, and SIGKILL before it may expire', async () => {
        const { status, err, times } = await outage(STUBBORN, '--grace', '1')
        expect(err).to.match(/is lost: the servers do not confirm the session; ending sh\n/)
        expect(status).to.equal(76)
        // No bound that noise can break.
        expect(times.end - times.term).to.be.greaterThan(700)
        expect(times.end).to.be.lessThan(T + 1000)
      })

      it('ends with 76 too if the program obeys SIGTERM', async () => {
        const { status, out } = await outage(OBEDIENT)
        expect(out).to.contain('got TERM')
        expect(status).to.equal(76)
      })
    })

  it('loses no update of two hundred runs by eight shells', async function () {
    this.timeout(180_000)
    const directory = mkdtempSync(join(tmpdir(), 'zkwire-cli-'))
    const counter = join(directory, 'counter')
    writeFileSync(counter, '0')
    const server = await startApacheZooKeeper()
    const increment = `n=$(cat ${counter}); sleep 0.001; echo $((n + 1)) > ${counter}`
    const command = `'${process.execPath}' '${main}' lock ${path} -s ${server.connectString} -- sh -c '${increment}'`
    const shells = Array.from({ length: 8 }, () => {
      const loop = `i=0; while [ $i -lt 25 ]; do ${command} || exit 1; i=$((i + 1)); done`
      const child = spawn('sh', ['-c', loop], { stdio: ['ignore', 'inherit', 'inherit'] })
      return new Promise<number | null>(resolve => child.once('exit', resolve))
    })
    expect(await Promise.all(shells)).to.deep.equal(shells.map(() => 0))
    expect(Number(readFileSync(counter, 'utf8'))).to.equal(200)
    await server.close()
    rmSync(directory, { recursive: true })
  })
})
