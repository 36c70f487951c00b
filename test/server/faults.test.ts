// Several faults of the embedded server at once, their release, their cancellation, and invalid arguments.
import { expect } from 'chai'
import { ZooKeeperError, type Client } from '../../src/index.ts'
import { Server, type FaultKind, type FaultMatch } from '../../src/server/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'

describe('faults of an embedded server', () => {
  const virtual = VirtualServer.each()
  let zk: Client
  beforeEach(async () => (zk = await virtual.connect()))

  /** The outcomes of `count` calls, one after another: the code of the error, or 'OK'. */
  async function codesOf(count: number): Promise<string[]> {
    const codes: string[] = []
    while (codes.length < count) {
      const outcome = await virtual.until(outcomeOf(zk.exists('/')))
      codes.push(outcome instanceof ZooKeeperError ? outcome.code : 'OK')
    }
    return codes
  }

  it('delay a reply until release(), if that is before the end of the delay', async () => {
    const fault = virtual.server.faults.delay('exists', 100_000)
    const before = virtual.clock.now()
    const answers = Promise.all([zk.exists('/'), zk.getData('/')])
    await virtual.until(fault.triggered)
    const isAnswered = trackSettled(answers)
    await virtual.clock.advance(1000)
    expect(isAnswered()).to.equal(false)
    fault.release()
    await virtual.until(answers)
    expect(virtual.clock.now() - before).to.equal(1000)
  })

  for (const plan of ['hold', 'delay'] as const)
    it(`${plan} no reply if onTransaction releases the fault before it is written`, async () => {
      let release: () => void = () => undefined
      await using own = await VirtualServer.start({ onTransaction: () => release() })
      const client = await own.open()
      const { faults } = own.server
      const fault = plan === 'hold' ? faults.hold('create') : faults.delay('create', 100_000)
      release = () => fault.release()
      const before = own.clock.now()
      await own.until(client.create('/a'))
      expect(own.clock.now() - before).to.be.below(1000)
    })

  it('hold a reply also if the session ends meanwhile, and close the connection after its release', async () => {
    const fault = virtual.server.faults.hold('getData')
    const reading = outcomeOf(zk.getData('/'))
    await virtual.until(fault.triggered)
    virtual.server.expireSession(zk.sessionId)
    await virtual.clock.advance(100)
    expect(zk.state).to.equal('connected')
    fault.release()
    expect(await virtual.until(reading)).to.have.property('stat')
    await virtual.clock.advance(5000)
    expect(zk.state).to.equal('expired')
  })

  it('delay the replies of two connections independently', async () => {
    const other = await virtual.connect()
    virtual.server.faults.delay('exists', 500, { times: 2 })
    const times: number[] = []
    const start = virtual.clock.now()
    const note = () => times.push(virtual.clock.now() - start)
    const first = zk.exists('/').then(note)
    await virtual.clock.advance(300)
    const second = other.exists('/').then(note)
    await virtual.until(Promise.all([first, second]))
    expect(times).to.deep.equal([500, 800])
  })

  it('send the delayed replies when they are cleared', async () => {
    const fault = virtual.server.faults.delay('exists', 100_000)
    const before = virtual.clock.now()
    const answer = zk.exists('/')
    await virtual.until(fault.triggered)
    virtual.server.faults.clear()
    await virtual.until(answer)
    expect(virtual.clock.now() - before).to.equal(0)
  })

  it('do not happen after their release, and later faults apply instead', async () => {
    const held = virtual.server.faults.hold('exists', { times: Infinity })
    const answer = zk.exists('/')
    await virtual.until(held.triggered)
    held.release()
    await virtual.until(answer)
    virtual.server.faults.hold('exists').release()
    virtual.server.faults.replace('exists', 'THROTTLEDOP')
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'OK'])
  })

  it('that hold two replies of a connection release them independently, and in order', async () => {
    for (const first of [0, 1] as const) {
      const replies: string[] = []
      const record = (name: string, reply: Promise<unknown>) => void reply.then(() => replies.push(name))
      const held = [virtual.server.faults.hold('exists'), virtual.server.faults.hold('getData')] as const
      record('exists', zk.exists('/'))
      record('between', zk.sync('/'))
      record('getData', zk.getData('/'))
      record('after', zk.sync('/'))
      await virtual.until(Promise.all(held.map(({ triggered }) => triggered)))
      held[first].release()
      await virtual.clock.advance(0)
      expect(replies).to.deep.equal(first === 0 ? ['exists', 'between'] : [])
      held[1 - first]?.release()
      await virtual.clock.advance(0)
      expect(replies).to.deep.equal(['exists', 'between', 'getData', 'after'])
    }
  })

  it('cut only after all held replies, which can be released one by one', async () => {
    const [first, second] = [virtual.server.faults.hold('exists'), virtual.server.faults.hold('getData')]
    const answers = [outcomeOf(zk.exists('/')), outcomeOf(zk.getData('/'))] as const
    await virtual.until(Promise.all([first.triggered, second.triggered]))
    const cut = virtual.server.faults.cutAfter(0)
    const later = outcomeOf(zk.sync('/'))
    await virtual.until(cut.triggered)
    first.release()
    expect(await virtual.until(answers[0])).to.include({ ephemeralOwner: 0n })
    second.release()
    expect(await virtual.until(answers[1])).to.have.property('stat')
    expect(await virtual.until(later)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('count every occurrence of their kind, also one that another fault affects', async () => {
    virtual.server.faults.replace('exists', 'THROTTLEDOP')
    virtual.server.faults.replace('exists', 'NOAUTH', { nth: 2 })
    virtual.server.faults.replace('exists', 'INVALIDACL', { nth: 2 })
    virtual.server.faults.replace('exists', 'SYSTEMERROR', { nth: 5 })
    // The third fault is due at the same call as the second, so it affects the next call.
    expect(await codesOf(6)).to.deep.equal(['THROTTLEDOP', 'NOAUTH', 'INVALIDACL', 'OK', 'SYSTEMERROR', 'OK'])
  })

  it('send the held replies completely before a cut', async () => {
    const held = virtual.server.faults.hold('exists')
    const answer = zk.exists('/')
    await virtual.until(held.triggered)
    const cut = virtual.server.faults.cutAfter(0)
    const lost = outcomeOf(zk.getData('/'))
    await virtual.until(cut.triggered)
    held.release()
    expect(await virtual.until(answer)).to.include({ ephemeralOwner: 0n })
    expect(await virtual.until(lost)).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown' })
  })

  it('reject `triggered` if they never happened, without an unhandled rejection', async () => {
    const [cleared, released, alsoCleared] = [1, 2, 3].map(() => virtual.server.faults.drop('setData'))
    virtual.server.faults.hold('setData')
    const other = await Server.start({ listen: false })
    const closed = other.faults.hold('exists')
    await other.close()
    released?.release()
    virtual.server.faults.clear()
    for (const fault of [cleared, released, alsoCleared, closed])
      expect(String(await failureOf(fault?.triggered ?? Promise.resolve()))).to.match(
        /released or cleared before it happened/,
      )
  })

  it('keep `triggered` resolved when they are cleared', async () => {
    const dropped = virtual.server.faults.replace('exists', 'THROTTLEDOP', { times: Infinity })
    expect(await codesOf(2)).to.deep.equal(['THROTTLEDOP', 'THROTTLEDOP'])
    virtual.server.faults.clear()
    await dropped.triggered
    expect(await codesOf(1)).to.deep.equal(['OK'])
  })

  it('throw BADARGUMENTS if they could not happen', () => {
    const { faults } = virtual.server
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
    const { faults } = virtual.server
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
    expect(() => virtual.server.faults.drop('exists', { nth: 0 })).to.throw(ZooKeeperError)
    expect(await codesOf(1)).to.deep.equal(['OK'])
  })
})
