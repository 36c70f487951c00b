// Section 2.6 of the fault matrix, the rows about a client's whole process: one that is stopped, is busy, or ends while it holds a lock.
import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { connect, type Client } from '../../src/client/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { startApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'
import { sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

const TICK = 500
/** Of the holder's session, ms. */
const T = 1000

/** Has a lock, and tells by lines of JSON what it sees. */
class Holder implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #messages: AsyncIterator<string>

  /** @param then what it does with `zk` and the lock that it `held`; it has `tell(value)` */
  constructor(server: ApacheZooKeeper, path: string, then: string) {
    const from = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href)
    const script = `
      const { connect } = await import(${from('index.ts')})
      const { Mutex } = await import(${from('recipes/index.ts')})
      const tell = value => process.stdout.write(JSON.stringify(value) + '\\n')
      const zk = await connect(${JSON.stringify(server.connectString)}, { sessionTimeout: ${T} })
      const held = await new Mutex(zk, ${JSON.stringify(path)}).acquire()
      ${then}
      tell({ token: String(held.token) })`
    this.#child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (this.#child.stdout === null) throw new Error('nothing of it is heard')
    this.#lines = createInterface(this.#child.stdout)
    this.#messages = this.#lines[Symbol.asyncIterator]()
  }

  async nextMessage<Told>(): Promise<Told> {
    const line = await this.#messages.next()
    if (line.done === true) throw new Error('it ended without a word')
    return JSON.parse(line.value) as Told
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    this.#child.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = this.#child.exitCode ?? this.#child.signalCode ?? once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
    this.#lines.close()
  }
}

/** What a holder tells of itself when it runs again after a pause that it did not notice. */
interface AfterPause {
  validFor: number
  abortedOneTurnLater: boolean
  write: string
  state: string
}

/**
 * It looks at the clock all the time; after a long pause, at everything else. Longer than the timeout by more than a timer is late: a machine
 * that is busy makes pauses of its own, and at the millisecond in which the lease ends its timer may not be due yet.
 */
const REPORT_AFTER_PAUSE = `
  let last = performance.now()
  const look = async () => {
    const paused = performance.now() - last
    last = performance.now()
    if (paused < ${1.2 * T}) return setTimeout(look, 5)
    const validFor = held.validFor()
    // A whole turn: what Node has begun to run of its timers before the pause, it ends before it looks at the clock again.
    await new Promise(resolve => setTimeout(resolve, 1))
    const abortedOneTurnLater = held.signal.aborted
    const write = await held.guard().setData(resource, 'by the old holder').commit().then(() => 'done', error => error.code)
    await zk.whenConnected().catch(() => undefined)
    tell({ validFor, abortedOneTurnLater, write, state: zk.state })
    await zk.close()
  }
  look()`

describe('2.6 the process of a client', function () {
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

  it('G4: that is stopped for twice its timeout knows at once that the lock is lost, and writes no more', async () => {
    await using holder = new Holder(server, path, resource() + REPORT_AFTER_PAUSE)
    const { token } = await holder.nextMessage<{ token: string }>()
    holder.signal('SIGSTOP')
    const stopped = performance.now()
    const granted = await new Mutex(rival, path).acquire()
    expect(granted.token > BigInt(token)).to.equal(true)
    await granted.guard().setData(`${path}-resource`, 'by the new holder').commit()
    await until(() => performance.now() - stopped > 2 * T)
    holder.signal('SIGCONT')
    const awakening = await holder.nextMessage<AfterPause>()
    expect(awakening).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'expired' })
    expect(awakening.write).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
    expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('by the new holder')
    await granted.release()
  })

  it('G5: that is busy for twice its timeout knows at once that the lock is lost, and writes no more', async () => {
    const busy = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${2 * T});`
    const then = `${resource()} setTimeout(() => { ${busy} }, 100); ${REPORT_AFTER_PAUSE}`
    await using holder = new Holder(server, path, then)
    await holder.nextMessage()
    const granted = await new Mutex(rival, path).acquire()
    const awakening = await holder.nextMessage<AfterPause>()
    expect(awakening).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'expired' })
    expect(awakening.write).to.be.oneOf(['CONNECTIONLOSS', 'SESSIONEXPIRED'])
    expect((await rival.getData(`${path}-resource`)).data?.toString()).to.equal('untouched')
    await granted.release()
  })

  it('G5: that was busy beyond its timeout has its session yet where the server has it', async () => {
    // Its ticks are so long that it counts the session out late, but for the moment before a tick.
    await using patient = await startApacheZooKeeper({ config: { tickTime: 2_000_000, minSessionTimeout: T } })
    await using onlooker = await connect(patient.connectString)
    await onlooker.create('/resource', 'untouched')
    const busy = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${1.5 * T});`
    const then = `const resource = '/resource'; setTimeout(() => { ${busy} }, 100); ${REPORT_AFTER_PAUSE}`
    await using holder = new Holder(patient, '/lock', then)
    await holder.nextMessage()
    const awakening = await holder.nextMessage<AfterPause>()
    expect(awakening).to.include({ validFor: 0, abortedOneTurnLater: true, state: 'connected' })
  })

  for (const [how, then] of [
    ['killed', ''],
    ['ended by process.exit()', 'setTimeout(() => process.exit(0), 50)'],
  ] as const) {
    it(`G9: that is ${how} while it holds a lock leaves it to the next one when its session is over`, async () => {
      await using holder = new Holder(server, path, then)
      const { token } = await holder.nextMessage<{ token: string }>()
      const waiting = new Mutex(rival, path).acquire()
      if (how === 'killed') {
        await until(async () => (await waiters()) === 2)
        holder.signal('SIGKILL')
      }
      const ended = performance.now()
      const granted = await waiting
      expect(granted.token > BigInt(token)).to.equal(true)
      // The server looks at its sessions once a tick.
      expect(performance.now() - ended).to.be.below(T + TICK + LOAD_ALLOWANCE)
      await granted.release()
    })
  }
})
