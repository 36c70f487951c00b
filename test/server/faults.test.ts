// Faults of the embedded server beside each other, let go, given up, and asked for by mistake.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../src/index.ts'
import { Server, type FaultKind } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'

describe('faults of an embedded server', () => {
  let clock: VirtualClock
  let server: Server
  let zk: Client

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock })
    zk = await connect(server.connectString, { dial: server.dial, clock })
  })

  afterEach(async () => {
    server.faults.clear()
    await clock.until(zk.close())
    await server.close()
    expect(clock.pendingTimers).to.equal(0)
  })

  /** Of each call, in its time: its error's code, or that it went well. */
  async function codesOf(count: number): Promise<string[]> {
    const codes: string[] = []
    while (codes.length < count) {
      const outcome = await clock.until(outcomeOf(zk.exists('/')))
      codes.push(outcome instanceof ZooKeeperError ? outcome.code : 'OK')
    }
    return codes
  }

  it('delay an answer until it is let go, if that comes before its time', async () => {
    const fault = server.faults.delay('exists', 100_000)
    const before = clock.now()
    const answers = Promise.all([zk.exists('/'), zk.getData('/')])
    await clock.until(fault.triggered)
    const isAnswered = trackSettled(answers)
    await clock.advance(1000)
    expect(isAnswered()).to.equal(false)
    fault.release()
    await clock.until(answers)
    expect(clock.now() - before).to.equal(1000)
  })

  it('delay the answers of each connection by its own time', async () => {
    const other = await connect(server.connectString, { dial: server.dial, clock })
    server.faults.delay('exists', 500, { times: 2 })
    const times: number[] = []
    const begun = clock.now()
    const note = () => times.push(clock.now() - begun)
    const first = zk.exists('/').then(note)
    await clock.advance(300)
    const second = other.exists('/').then(note)
    await clock.until(Promise.all([first, second]))
    expect(times).to.deep.equal([500, 800])
    await clock.until(other.close())
  })

  it('let go what is delayed when they are cleared', async () => {
    const fault = server.faults.delay('exists', 100_000)
    const before = clock.now()
    const answer = zk.exists('/')
    await clock.until(fault.triggered)
    server.faults.clear()
    await clock.until(answer)
    expect(clock.now() - before).to.equal(0)
  })

  it('that were let go happen no more, and leave what comes to those behind them', async () => {
    const held = server.faults.hold('exists', { times: Infinity })
    const answer = zk.exists('/')
    await clock.until(held.triggered)
    held.release()
    await clock.until(answer)
    server.faults.hold('exists').release()
    server.faults.replace('exists', 'THROTTLEDOP')
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'OK'])
  })

  it('that hold one answer behind another let each go by itself, and never out of order', async () => {
    for (const first of [0, 1] as const) {
      const heard: string[] = []
      const told = (name: string, answer: Promise<unknown>) => void answer.then(() => heard.push(name))
      const held = [server.faults.hold('exists'), server.faults.hold('getData')] as const
      told('exists', zk.exists('/'))
      told('between', zk.sync('/'))
      told('getData', zk.getData('/'))
      told('behind', zk.sync('/'))
      await clock.until(Promise.all(held.map(({ triggered }) => triggered)))
      held[first].release()
      await clock.advance(0)
      expect(heard).to.deep.equal(first === 0 ? ['exists', 'between'] : [])
      held[1 - first]?.release()
      await clock.advance(0)
      expect(heard).to.deep.equal(['exists', 'between', 'getData', 'behind'])
    }
  })

  it('cut behind all that is held, and let that go one by one', async () => {
    const [first, second] = [server.faults.hold('exists'), server.faults.hold('getData')]
    const answers = [outcomeOf(zk.exists('/')), outcomeOf(zk.getData('/'))] as const
    await clock.until(Promise.all([first.triggered, second.triggered]))
    const cut = server.faults.cutAfter(0)
    const behind = outcomeOf(zk.sync('/'))
    await clock.until(cut.triggered)
    first.release()
    expect(await clock.until(answers[0])).to.include({ ephemeralOwner: 0n })
    second.release()
    expect(await clock.until(answers[1])).to.have.property('stat')
    expect(await clock.until(behind)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('count each of their kind, also those that happen to another fault', async () => {
    server.faults.replace('exists', 'THROTTLEDOP')
    server.faults.replace('exists', 'NOAUTH', { nth: 2 })
    server.faults.replace('exists', 'INVALIDACL', { nth: 2 })
    server.faults.replace('exists', 'SYSTEMERROR', { nth: 5 })
    // The one that finds its turn taken comes next.
    expect(await codesOf(6)).to.deep.equal(['THROTTLEDOP', 'NOAUTH', 'INVALIDACL', 'OK', 'SYSTEMERROR', 'OK'])
  })

  it('let what is held before a cut go whole', async () => {
    const held = server.faults.hold('exists')
    const answer = zk.exists('/')
    await clock.until(held.triggered)
    const cut = server.faults.cutAfter(0)
    const lost = outcomeOf(zk.getData('/'))
    await clock.until(cut.triggered)
    held.release()
    expect(await clock.until(answer)).to.include({ ephemeralOwner: 0n })
    expect(await clock.until(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('that never happened say so to who waits for it, and to nobody else', async () => {
    const [cleared, released, closed] = [1, 2, 3].map(() => server.faults.drop('setData'))
    server.faults.hold('setData')
    const other = await Server.start({ listen: false })
    const ofAnother = other.faults.hold('exists')
    await other.close()
    released?.release()
    server.faults.clear()
    for (const fault of [cleared, released, closed, ofAnother])
      expect(String(await failureOf(fault?.triggered ?? Promise.resolve()))).to.match(/given up before it happened/)
  })

  it('that happened stay so when they are cleared', async () => {
    const dropped = server.faults.replace('exists', 'THROTTLEDOP', { times: Infinity })
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'THROTTLEDOP'])
    server.faults.clear()
    await dropped.triggered
    expect(await codesOf(1)).to.deep.equal(['OK'])
  })

  it('are refused where they could not happen', () => {
    const { faults } = server
    const mistakes: Record<string, () => unknown> = {
      'a method of the client': () => faults.drop('addAuth' as FaultKind),
      'no operation': () => faults.hold('operation' as FaultKind),
      'an event that is ignored': () => faults.ignore('event' as 'create'),
      'a handshake that is replaced': () => faults.replace('connect' as 'create', 'NONODE'),
      'a code of no server': () => faults.replace('create', 'NOT_A_CODE' as 'NONODE'),
      'a code of the client': () => faults.replace('create', 'CLOSED' as 'NONODE'),
      'no number of bytes': () => faults.cutAfter(NaN),
      'less than no bytes': () => faults.cutAfter(-1),
      'no time': () => faults.delay('create', NaN),
      'more time than a timer has': () => faults.delay('create', 2 ** 31),
      'the 0th': () => faults.hold('create', { nth: 0 }),
      'half a time': () => faults.hold('create', { times: 0.5 }),
    }
    for (const [mistake, plan] of Object.entries(mistakes)) expect(plan, mistake).to.throw(RangeError)
  })
})
