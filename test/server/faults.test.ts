// Several faults of the embedded server at once, their release, their cancellation, and invalid arguments.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../src/index.ts'
import { Server, type FaultKind, type FaultMatch } from '../../src/server/index.ts'
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

  /** The outcomes of `count` calls, one after another: the code of the error, or 'OK'. */
  async function codesOf(count: number): Promise<string[]> {
    const codes: string[] = []
    while (codes.length < count) {
      const outcome = await clock.until(outcomeOf(zk.exists('/')))
      codes.push(outcome instanceof ZooKeeperError ? outcome.code : 'OK')
    }
    return codes
  }

  it('delay a reply until release(), if that is before the end of the delay', async () => {
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

  it('hold a reply also if the session ends meanwhile, and close the connection after its release', async () => {
    const fault = server.faults.hold('getData')
    const reading = outcomeOf(zk.getData('/'))
    await clock.until(fault.triggered)
    server.expireSession(zk.sessionId)
    await clock.advance(100)
    expect(zk.state).to.equal('connected')
    fault.release()
    expect(await clock.until(reading)).to.have.property('stat')
    await clock.advance(5000)
    expect(zk.state).to.equal('expired')
  })

  it('delay the replies of two connections independently', async () => {
    const other = await connect(server.connectString, { dial: server.dial, clock })
    server.faults.delay('exists', 500, { times: 2 })
    const times: number[] = []
    const start = clock.now()
    const note = () => times.push(clock.now() - start)
    const first = zk.exists('/').then(note)
    await clock.advance(300)
    const second = other.exists('/').then(note)
    await clock.until(Promise.all([first, second]))
    expect(times).to.deep.equal([500, 800])
    await clock.until(other.close())
  })

  it('send the delayed replies when they are cleared', async () => {
    const fault = server.faults.delay('exists', 100_000)
    const before = clock.now()
    const answer = zk.exists('/')
    await clock.until(fault.triggered)
    server.faults.clear()
    await clock.until(answer)
    expect(clock.now() - before).to.equal(0)
  })

  it('do not happen after their release, and later faults apply instead', async () => {
    const held = server.faults.hold('exists', { times: Infinity })
    const answer = zk.exists('/')
    await clock.until(held.triggered)
    held.release()
    await clock.until(answer)
    server.faults.hold('exists').release()
    server.faults.replace('exists', 'THROTTLEDOP')
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'OK'])
  })

  it('that hold two replies of a connection release them independently, and in order', async () => {
    for (const first of [0, 1] as const) {
      const replies: string[] = []
      const record = (name: string, reply: Promise<unknown>) => void reply.then(() => replies.push(name))
      const held = [server.faults.hold('exists'), server.faults.hold('getData')] as const
      record('exists', zk.exists('/'))
      record('between', zk.sync('/'))
      record('getData', zk.getData('/'))
      record('after', zk.sync('/'))
      await clock.until(Promise.all(held.map(({ triggered }) => triggered)))
      held[first].release()
      await clock.advance(0)
      expect(replies).to.deep.equal(first === 0 ? ['exists', 'between'] : [])
      held[1 - first]?.release()
      await clock.advance(0)
      expect(replies).to.deep.equal(['exists', 'between', 'getData', 'after'])
    }
  })

  it('cut only after all held replies, which can be released one by one', async () => {
    const [first, second] = [server.faults.hold('exists'), server.faults.hold('getData')]
    const answers = [outcomeOf(zk.exists('/')), outcomeOf(zk.getData('/'))] as const
    await clock.until(Promise.all([first.triggered, second.triggered]))
    const cut = server.faults.cutAfter(0)
    const later = outcomeOf(zk.sync('/'))
    await clock.until(cut.triggered)
    first.release()
    expect(await clock.until(answers[0])).to.include({ ephemeralOwner: 0n })
    second.release()
    expect(await clock.until(answers[1])).to.have.property('stat')
    expect(await clock.until(later)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('count every occurrence of their kind, also one that another fault affects', async () => {
    server.faults.replace('exists', 'THROTTLEDOP')
    server.faults.replace('exists', 'NOAUTH', { nth: 2 })
    server.faults.replace('exists', 'INVALIDACL', { nth: 2 })
    server.faults.replace('exists', 'SYSTEMERROR', { nth: 5 })
    // The third fault is due at the same call as the second, so it affects the next call.
    expect(await codesOf(6)).to.deep.equal(['THROTTLEDOP', 'NOAUTH', 'INVALIDACL', 'OK', 'SYSTEMERROR', 'OK'])
  })

  it('send the held replies completely before a cut', async () => {
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

  it('reject `triggered` if they never happened, without an unhandled rejection', async () => {
    const [cleared, released, alsoCleared] = [1, 2, 3].map(() => server.faults.drop('setData'))
    server.faults.hold('setData')
    const other = await Server.start({ listen: false })
    const closed = other.faults.hold('exists')
    await other.close()
    released?.release()
    server.faults.clear()
    for (const fault of [cleared, released, alsoCleared, closed])
      expect(String(await failureOf(fault?.triggered ?? Promise.resolve()))).to.match(
        /released or cleared before it happened/,
      )
  })

  it('keep `triggered` resolved when they are cleared', async () => {
    const dropped = server.faults.replace('exists', 'THROTTLEDOP', { times: Infinity })
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'THROTTLEDOP'])
    server.faults.clear()
    await dropped.triggered
    expect(await codesOf(1)).to.deep.equal(['OK'])
  })

  it('throw BADARGUMENTS if they could not happen', () => {
    const { faults } = server
    const mistakes: Record<string, () => unknown> = {
      'a method of the client': () => faults.drop('addAuth' as FaultKind),
      'no kind of operation': () => faults.hold('operation' as FaultKind),
      'an event that is ignored': () => faults.ignore('event' as 'create'),
      'a handshake that is replaced': () => faults.replace('connect' as 'create', 'NONODE'),
      'an unknown code': () => faults.replace('create', 'NOT_A_CODE' as 'NONODE'),
      'a code that only the client uses': () => faults.replace('create', 'CLOSED' as 'NONODE'),
      'no number of bytes': () => faults.cutAfter(NaN),
      'a negative number of bytes': () => faults.cutAfter(-1),
      'no number of milliseconds': () => faults.delay('create', NaN),
      'a delay longer than a timer allows': () => faults.delay('create', 2 ** 31),
      'nth of 0': () => faults.hold('create', { nth: 0 }),
      'nth of Infinity': () => faults.hold('create', { nth: Infinity }),
      'bytes of Infinity': () => faults.cutAfter(Infinity),
      'times of 0.5': () => faults.hold('create', { times: 0.5 }),
    }
    for (const [mistake, plan] of Object.entries(mistakes))
      expect(plan, mistake).to.throw(ZooKeeperError).with.property('code', 'BADARGUMENTS')
  })

  it('throw BADARGUMENTS that names the method, the argument and what it must be', () => {
    const { faults } = server
    const mistakes: readonly (readonly [op: string, plan: () => unknown, problem: string])[] = [
      [
        'faults.hold',
        () => faults.hold('addAuth' as FaultKind),
        "kind must be an operation such as 'create' or 'connect' or 'event', not 'addAuth'",
      ],
      [
        'faults.replace',
        () => faults.replace('connect' as 'create', 'NONODE'),
        "kind must be an operation such as 'create', not 'connect'",
      ],
      [
        'faults.replace',
        () => faults.replace('create', 'CLOSED' as 'NONODE'),
        'code must be an error code that servers send, not CLOSED',
      ],
      ['faults.cutAfter', () => faults.cutAfter(-1), 'bytes must be a whole number of at least 0, not -1'],
      [
        'faults.delay',
        () => faults.delay('create', '5' as unknown as number),
        'ms must be a number from 0 to 2147483647, not a string',
      ],
      ['faults.hold', () => faults.hold('create', { nth: 0 }), 'nth must be a whole number of at least 1, not 0'],
      [
        'faults.drop',
        () => faults.drop('create', { session: 7 as unknown as bigint }),
        'session must be the id of a session, a bigint, not 7',
      ],
      [
        'faults.ignore',
        () => faults.ignore('create', { time: 2 } as FaultMatch),
        "there is no option 'time'; did you mean 'times'? (the options are nth, times, session)",
      ],
      [
        'faults.cutAfter',
        () => faults.cutAfter(1, { sessionId: 7n } as FaultMatch),
        "there is no option 'sessionId'; did you mean 'session'? (the options are nth, times, session)",
      ],
      ['faults.hold', () => faults.hold('create', 2 as FaultMatch), 'options must be an object, not 2'],
    ]
    for (const [op, plan, problem] of mistakes)
      expect(plan).to.throw(ZooKeeperError, `(${problem})`).that.includes({ code: 'BADARGUMENTS', op, fate: 'notSent' })
  })

  it('are not planned if they throw', async () => {
    expect(() => server.faults.drop('exists', { nth: 0 })).to.throw(ZooKeeperError)
    expect(await codesOf(1)).to.deep.equal(['OK'])
  })
})
