// Faults of a client's process: it is stopped, blocks its event loop, or ends while it holds a lock.
import { expect } from 'chai'
import { connect, type Client } from '../../src/client/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

const TICK = 500
/** The session timeout of the holder, in milliseconds. */
const T = 1000

/** A child process that holds a lock and reports its observations as lines of JSON. */
class Holder extends ChildProgram {
  readonly #messages: AsyncIterator<string>

  /** @param then code that the process runs after the acquire, with `zk`, `held` and `report(value)` */
  constructor(server: ApacheZooKeeper, path: string, then: string) {
    const from = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href)
    const script = `
      const { connect } = await import(${from('index.ts')})
      const { Mutex } = await import(${from('recipes/index.ts')})
      const report = value => process.stdout.write(JSON.stringify(value) + '\\n')
      const zk = await connect(${JSON.stringify(server.connectString)}, { sessionTimeout: ${T} })
      const held = await new Mutex(zk, ${JSON.stringify(path)}).acquire()
      ${then}
      report({ token: String(held.token) })`
    super(['--import', 'tsx', '--input-type=module', '--eval', script])
    this.#messages = this.lines()
  }

  async nextMessage<Message>(): Promise<Message> {
    const line = await this.#messages.next()
    if (line.done === true) throw new Error(`the child process ended without a message: ${this.err}`)
    return JSON.parse(line.value) as Message
  }
}

/** The report of a holder after a pause of its process. */
interface AfterPause {
  validFor: number
  abortedOneTurnLater: boolean
  write: string
  state: string
}

/**
 * Polls the clock, and reports the state of the lock after a long pause. The pause must exceed the timeout by more than
 * the delay of a timer, because a busy machine causes pauses too. After a pause as long as the timeout, the timer of
 * the lease may not be due yet.
 */
const REPORT_AFTER_PAUSE = `
  let last = performance.now()
  const look = async () => {
    const paused = performance.now() - last
    last = performance.now()
    if (paused < ${1.2 * T}) return setTimeout(look, 5)
    const validFor = held.validFor()
    // Wait one full turn: Node first runs the timers that were due before the pause, and then reads the clock again.
    await new Promise(resolve => setTimeout(resolve, 1))
    const abortedOneTurnLater = held.signal.aborted
    const write = await held.guard().setData(resource, 'by the old holder').commit().then(() => 'done', error => error.code)
    await zk.whenConnected().catch(() => undefined)
    report({ validFor, abortedOneTurnLater, write, state: zk.state })
    await zk.close()
  }
  look()`

describe('a lock holder’s process', function () {
  this.timeout(30_000)
  let server: ApacheZooKeeper
  let rival: Client
  let path: string
  let run = 0

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    rival = await connect(server.connectString)
    path = `/processes-${++run}`
    await rival.create(`${path}-resource`, 'untouched')
  })
  afterEach(async () => {
    await rival.deleteRecursive(path)
    await rival.deleteRecursive(`${path}-resource`)
    await rival.close()
  })

  const resource = () => `const resource = ${JSON.stringify(`${path}-resource`)};`
  const waiters = async () => (await rival.getChildren(path)).children.length

  it('that is stopped for twice its timeout sees at once that the lock is lost, and its writes fail', async () => {
    await using holder = new Holder(server, path, resource() + REPORT_AFTER_PAUSE)
    const { token } = await holder.nextMessage<{ token: string }>()
    holder.kill('SIGSTOP')
    const stopped = performance.now()
    const granted = await new Mutex(rival, path).acquire()
    expect(granted.token > BigInt(token)).to.equal(true)
    await granted.guard().setData(`${path}-resource`, 'by the new holder').commit()
    await until(() => performance.now() - stopped > 2 * T)
    holder.kill('SIGCONT')
    const observation = await holder.nextMessage<AfterPause>()
    expect(observation).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'expired' })
    expect(observation.write).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
    expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('by the new holder')
    await granted.release()
  })

  it('that blocks for twice its timeout sees at once that the lock is lost, and its writes fail', async () => {
    const busy = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${2 * T});`
    const then = `${resource()} setTimeout(() => { ${busy} }, 100); ${REPORT_AFTER_PAUSE}`
    await using holder = new Holder(server, path, then)
    await holder.nextMessage()
    const granted = await new Mutex(rival, path).acquire()
    const observation = await holder.nextMessage<AfterPause>()
    expect(observation).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'expired' })
    expect(observation.write).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
    expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('untouched')
    await granted.release()
  })

  it('that blocks for longer than its timeout keeps its session if the server has not expired it', async () => {
    // With such long ticks the server expires the session much later than its timeout, unless a tick is due just then.
    await using slowServer = await startApacheZooKeeper({ config: { tickTime: 2_000_000, minSessionTimeout: T } })
    await using observer = await connect(slowServer.connectString)
    await observer.create('/resource', 'untouched')
    const busy = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${1.5 * T});`
    const then = `const resource = '/resource'; setTimeout(() => { ${busy} }, 100); ${REPORT_AFTER_PAUSE}`
    await using holder = new Holder(slowServer, '/lock', then)
    await holder.nextMessage()
    const observation = await holder.nextMessage<AfterPause>()
    expect(observation).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'connected' })
  })

  for (const [how, then] of [
    ['killed', ''],
    ['ended by process.exit()', 'setTimeout(() => process.exit(0), 50)'],
  ] as const) {
    it(`that is ${how} while it holds a lock releases it to the next contender when its session expires`, async () => {
      await using holder = new Holder(server, path, then)
      const { token } = await holder.nextMessage<{ token: string }>()
      const waiting = new Mutex(rival, path).acquire()
      if (how === 'killed') {
        await until(async () => (await waiters()) === 2)
        holder.kill('SIGKILL')
      }
      const ended = performance.now()
      const granted = await waiting
      expect(granted.token > BigInt(token)).to.equal(true)
      // The server checks its sessions once per tick.
      expect(performance.now() - ended).to.be.below(T + TICK + LOAD_ALLOWANCE)
      await granted.release()
    })
  }
})
