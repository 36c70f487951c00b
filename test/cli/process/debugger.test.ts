// SIGUSR1, at which Node opens its debugger for each user of the machine unless a listener takes it.
import { expect } from 'chai'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Client } from '../../../src/index.ts'
import { LeaderElection, Mutex } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { ChildProgram } from '../../../environment/child-program.ts'
import { commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'
import { Program } from './program.ts'
import { isWatchdog, Rivals } from './rivals.ts'

/** Returns the sockets that listen, of all processes. */
const listening = () =>
  readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .flatMap(fields => (fields[3] === '0A' ? [`socket:[${fields[9]}]`] : []))

/** Returns how many sockets of a process listen. */
function listenersOf(pid: number): number {
  const all = new Set(listening())
  return readdirSync(`/proc/${pid}/fd`).filter(name => {
    try {
      return all.has(readlinkSync(`/proc/${pid}/fd/${name}`))
    } catch {
      return false
    }
  }).length
}

/** Sends SIGUSR1 to the process, and to another one, whose debugger opens. Resolves when that has happened. */
async function signalAsPlainNode(pid: number): Promise<void> {
  await using plain = new ChildProgram(['--inspect-port=0', '-e', "console.log('up'); setInterval(() => {}, 1000)"])
  await until(() => plain.out !== '')
  process.kill(pid, 'SIGUSR1')
  plain.kill('SIGUSR1')
  await until(() => plain.err !== '')
  expect(listenersOf(plain.pid)).to.equal(1)
}

interface Command {
  args: string[]
  /** A line of stdin, which stays open. */
  input?: string
  /** Returns true if the command has begun its work. */
  isUp: (program: Program) => boolean | Promise<boolean>
}

describe('SIGUSR1 opens no debugger', function () {
  this.timeout(60_000)
  let server: Server
  let zk: Client

  before(async () => {
    server = await Server.start({ tickTime: 500 })
    zk = await connect(server.connectString)
  })
  after(async () => {
    await zk.close()
    await server.close()
  })

  /** Commands that run until they are ended. Some of them listen themselves. */
  const commands: Record<string, Command> = {
    watch: { args: ['watch', '/'], isUp: ({ out }) => out.includes('watching') },
    'get --watch': { args: ['get', '--watch', '/zookeeper', '--json'], isUp: ({ out }) => out !== '' },
    'who --follow': { args: ['who', '--follow', '/who'], isUp: ({ out }) => out !== '' },
    'create -e': { args: ['create', '-e', '/ephemeral'], isUp: ({ out }) => out !== '' },
    shell: { args: ['shell'], input: 'pwd\n', isUp: ({ out }) => out !== '' },
    serve: { args: ['serve', '--port', '0'], isUp: ({ out }) => out !== '' },
    playground: { args: ['playground', '--port', '0'], isUp: ({ out }) => out !== '' },
    trace: { args: ['trace', '0', 'localhost:1'], isUp: ({ out, err }) => `${out}${err}`.includes('listening') },
    'lock that waits': {
      args: ['lock', '/taken', '--', 'true'],
      isUp: async () => (await new Mutex(zk, '/taken').contenders()).length === 2,
    },
    'elect that campaigns': {
      args: ['elect', '/led', '--', 'true'],
      isUp: async () => (await zk.getChildren('/led')).children.length === 2,
    },
    'lock that runs a program': {
      args: ['lock', '/held', '--', 'sh', '-c', "trap '' USR1; echo ready; sleep 600"],
      isUp: ({ out }) => out.includes('ready'),
    },
  }

  for (const [name, { args, input, isUp }] of Object.entries(commands))
    it(`in zkwire ${name}`, async () => {
      await zk.create('/who').catch(() => undefined)
      await using _lock = await new Mutex(zk, '/taken').acquire()
      await using _lead = await new LeaderElection(zk, '/led', { id: 'test' }).campaign()
      const env = { ZKWIRE_SERVER: server.connectString, NODE_OPTIONS: '--inspect-port=0' }
      const program = new Program(args, { env, keepsInput: true })
      program.child.stdin.write(input ?? '')
      try {
        await until(() => program.child.exitCode !== null || isUp(program))
        const before = listenersOf(program.pid)
        await signalAsPlainNode(program.pid)
        expect(listenersOf(program.pid)).to.equal(before)
        program.kill('SIGTERM')
        const { err, status } = await program.ended
        expect(err).not.to.match(/debugger|inspector/i)
        expect(status).to.equal(143)
      } finally {
        program.kill('SIGKILL')
      }
    })

  it('in the watchdog of zkwire lock, nor does another signal end that', async () => {
    using rivals = new Rivals()
    const program = new Program(
      ['lock', '/guarded', '-s', server.connectString, '--', 'sh', '-c', 'echo ready; sleep 600'],
      {
        env: rivals.env,
      },
    )
    await until(() => program.out.includes('ready'))
    const watchdog = () => rivals.pids.find(isWatchdog)
    // It has a title when it has its listeners.
    await until(() => commandOf(watchdog() ?? 0).startsWith('zkwire'))
    const pid = watchdog() ?? 0
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const) process.kill(pid, name)
    await signalAsPlainNode(pid)
    expect(listenersOf(pid)).to.equal(0)
    expect(watchdog()).to.equal(pid)
    program.kill('SIGTERM')
    expect((await program.ended).status).to.equal(143)
  })
})
