// What a command says while it has no connection.
import { expect } from 'chai'
import { until } from '../../../environment/until.ts'
import { connect } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { Server } from '../../../src/server/index.ts'
import { inProcess, type Starters } from '../commands/in-process.ts'

/** The time after which a command says it. */
const PATIENCE = 3000
const NOTICE = /^zkwire \w+: no connection for 3 s, still trying \(zkwire doctor tells why\): [A-Z]+: .*\n$/

describe('while no server accepts the session,', () => {
  let server: Server
  let start: Starters['start']
  /** The timers of commands that wait for 3 s. */
  let waiting: Set<unknown>
  /** Ends at once when a command has waited long enough. */
  let isLong: boolean

  const clock = {
    ...systemClock,
    setTimeout: (callback: () => void, ms: number) => {
      const timer = systemClock.setTimeout(callback, ms === PATIENCE ? (isLong ? 0 : 60_000) : ms)
      if (ms === PATIENCE) waiting.add(timer)
      return timer
    },
    clearTimeout: (timer: unknown) => {
      waiting.delete(timer)
      systemClock.clearTimeout(timer)
    },
  }

  beforeEach(async () => {
    waiting = new Set()
    isLong = true
    server = await Server.start({ listen: false })
    ;({ start } = await inProcess(server))
    await using zk = await connect(server.connectString, { dial: server.dial })
    await zk.create('/a', 'data')
  })
  afterEach(() => server.close())

  for (const [line, status] of [
    ['ls /', 0],
    ['get /a', 0],
    ['du /a', 0],
    ['who /a', 0],
    ['lock /lock --no-wait -- true', 75],
    ['leader --follow /election', 130],
    ['watch /a', 130],
    ['diff /a /a', 0],
    ['shell', 0],
  ] as const)
    it(`says so once, and why, and then works: ${line}`, async () => {
      await using zk = await connect(server.connectString, { dial: server.dial })
      await using _held = await new Mutex(zk, '/lock').acquire()
      const refusal = server.faults.drop('connect', { times: Infinity })
      const running = start(line.split(' '), { clock, input: ['pwd\n'] })
      await until(() => running.err !== '')
      expect(running.err).to.match(NOTICE)
      expect(running.out).to.equal('')
      refusal.release()
      if (status === 130) {
        await until(() => running.out !== '')
        running.signals.deliver('SIGINT')
      }
      const ended = await running.ended
      expect(ended.status).to.equal(status)
      expect(ended.err.split('\n').filter(each => NOTICE.test(`${each}\n`))).to.have.length(1)
    })

  it('says so again in the next outage, also in the middle of a command', async () => {
    const watching = start(['watch', '/a'], { clock })
    await until(() => watching.out !== '')
    for (const count of [1, 2]) {
      const refusal = server.faults.drop('connect', { times: Infinity })
      server.dropConnections()
      await until(() => watching.err.split('\n').length === count + 1)
      refusal.release()
      const before = watching.out.length
      await until(() => watching.out.slice(before).includes('resync'))
    }
    watching.signals.deliver('SIGINT')
    await watching.ended
  })

  it('does not advise to call the doctor if it is the doctor', async () => {
    const refusal = server.faults.drop('connect', { times: Infinity })
    const running = start(['doctor'], { clock })
    await until(() => running.err !== '')
    expect(running.err).to.match(/^zkwire doctor: no connection for 3 s, still trying: [A-Z]+: .*\n$/)
    refusal.release()
    await running.ended
  })

  it('says nothing if a server accepts it in time, and leaves no timer', async () => {
    isLong = false
    server.faults.drop('connect')
    const { status, err } = await start(['ls', '/'], { clock }).ended
    expect([status, err]).to.deep.equal([0, ''])
    expect(waiting.size).to.equal(0)
  })

  it('leaves no timer if it cannot connect', async () => {
    isLong = false
    server.faults.drop('connect', { times: Infinity })
    for (const line of ['ls /', 'watch /a', 'diff /a /a', 'shell']) {
      const { status } = await start([...line.split(' '), '--connect-timeout', '0.2'], { clock }).ended
      expect(status).to.equal(69)
      expect(waiting.size).to.equal(0)
    }
  })
})
