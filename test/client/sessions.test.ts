// One Sessions object for all callers: it opens lazily, goes on after a loss, and never lets a call hang.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { Sessions, ZooKeeperError, type Client, type SessionsOptions } from '../../src/index.ts'
import { Membership, Mutex, RecipeError, type Held } from '../../src/recipes/index.ts'
import { onBothServers } from '../recipes/fixture.ts'
import { abortOf, failureOf } from '../support/settled.ts'
import { FaultyDial } from '../support/faulty-dial.ts'

const T = 6_000

onBothServers('Sessions', (fixture, sentences) => {
  const opened: Sessions[] = []
  const closing = (test: () => unknown) => async () => {
    try {
      await test()
    } finally {
      await Promise.all(opened.splice(0).map(each => each.close({ timeout: 0 })))
    }
  }
  const itInVirtualTime = (title: string, test: () => unknown) => sentences.itInVirtualTime(title, closing(test))
  const itEverywhere = (title: string, test: () => unknown) => sentences.itEverywhere(title, closing(test))

  const open = (options?: SessionsOptions) => {
    const { connectString, options: ofServer } = fixture.server
    const sessions = new Sessions(connectString, { ...ofServer, sessionTimeout: T, ...options })
    opened.push(sessions)
    return sessions
  }
  const idOf = (client: Client) => client.sessionId
  const mutex = (client: Client) => new Mutex(client, `${fixture.path}/lock`)
  const timeOf = async (work: Promise<unknown>): Promise<number> => {
    const { clock } = fixture.server
    const from = clock.now()
    await work.catch(() => undefined)
    return clock.now() - from
  }

  itEverywhere('opens nothing before its first use, and then one session for all callers', async () => {
    const sessions = open()
    expect(sessions.status).to.include({ isReady: false, state: 'idle', reason: undefined })
    const ids = await Promise.all(Array.from({ length: 20 }, () => sessions.use({}, idOf)))
    expect(new Set(ids).size).to.equal(1)
    expect(sessions.status).to.include({ isReady: true, state: 'connected', reason: undefined })
    expect(await sessions.use({}, idOf)).to.equal(ids[0])
  })

  itEverywhere('opens the next session after an expiry, and a lock of the lost one stays lost', async () => {
    const sessions = open()
    let first!: Held
    const error = await failureOf(
      sessions.withLock(mutex, {}, async held => {
        first = held
        const lost = abortOf(held.signal)
        await sessions.use({}, client => fixture.expire(client))
        await lost
        return 'late'
      }),
    )
    expect(error).to.be.instanceOf(RecipeError).and.to.include({ code: 'LOST', value: 'late' })
    const second = await sessions.withLock(mutex, {}, held => held.token)
    expect(second > first.token).to.equal(true)
    expect(first.signal.aborted).to.equal(true)
  })

  itEverywhere('gives a lock in a session of its own if idleTimeout is 0, and leaves nothing', async () => {
    const sessions = open({ idleTimeout: 0 })
    let holders = 0
    const calls = Array.from({ length: 20 }, () =>
      sessions.withLock(mutex, { timeout: 30_000 }, async held => {
        expect([++holders, held.validFor() > 0]).to.deep.equal([1, true])
        await Promise.resolve()
        holders--
        return held.token
      }),
    )
    expect(new Set(await Promise.all(calls)).size).to.equal(20)
    expect(await fixture.childPaths('/lock')).to.deep.equal([])
    expect(await sessions.use({}, client => client.state)).to.equal('connected')
    expect(sessions.status.state).to.equal('idle')
  })

  itInVirtualTime('rejects withLock() with TIMEOUT if the lock is taken, and does not limit its function', async () => {
    const sessions = open()
    const waiting = await sessions.withLock(mutex, { timeout: 10_000 }, async () => {
      const taken = failureOf(sessions.withLock(mutex, { timeout: 2000 }, () => 'never'))
      return taken
    })
    expect(waiting).to.be.instanceOf(RecipeError).and.to.include({ code: 'TIMEOUT' })
  })

  itInVirtualTime('lets the function of withLock() take longer than the timeout', async () => {
    const sessions = open()
    const value = await sessions.withLock(mutex, { timeout: 500 }, async held => {
      await fixture.sleep(60_000)
      return held.signal.aborted
    })
    expect(value).to.equal(false)
  })

  itInVirtualTime('rejects each call within its own timeout while there is no session, with the reason', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    faultyDial.refuse()
    const sessions = open({ dial: faultyDial.dial })
    for (const timeout of [0, 39.6, 7_000, 100_000]) {
      const call = sessions.use({ timeout }, idOf)
      expect(await timeOf(call)).to.be.closeTo(timeout, 1) // a timer takes a millisecond at least
      const error = await failureOf(call)
      expect(error).to.be.instanceOf(ZooKeeperError).and.to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
      const why = timeout < 1_000 ? '' : '.*: NOSERVER: '
      expect((error as Error).message).to.match(
        new RegExp(`there was no session within ${Math.round(timeout)} ms${why}`),
      )
    }
    expect(sessions.status).to.include({ isReady: false, state: 'connecting' })
    expect((sessions.status.reason as Error).message).to.match(/^NOSERVER/)
    faultyDial.accept()
    await sessions.whenReady({ timeout: 60_000 })
  })

  itInVirtualTime('rejects a read and a lock within the timeout in an outage, before and after the lease', async () => {
    const sessions = open()
    const { sessionTimeout } = await sessions.use({}, client => client)
    await fixture.embedded.stop()
    const from = fixture.server.clock.now()
    while (fixture.server.clock.now() - from < 4 * sessionTimeout) {
      const read = sessions.use({ timeout: 1_000 }, (client, { signal }) => client.exists('/', { signal }))
      const lock = sessions.withLock(mutex, { timeout: 1_000 }, () => 'never')
      const times = await Promise.all([timeOf(read), timeOf(lock)])
      for (const time of times) expect(time).to.be.at.most(1_000)
      for (const error of [await failureOf(read), await failureOf(lock)])
        expect((error as ZooKeeperError).code).to.be.oneOf(['CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'TIMEOUT'])
    }
    expect(sessions.status.isReady).to.equal(false)
    await fixture.embedded.start()
    expect(await sessions.withLock(mutex, { timeout: 30_000 }, () => 'again')).to.equal('again')
    await fixture.observer.whenConnected()
  })

  itInVirtualTime('rejects a read that gets no reply with OPERATIONTIMEOUT', async () => {
    const sessions = open()
    await sessions.whenReady()
    fixture.embedded.faults.hold('exists', { times: Infinity })
    const read = sessions.use({ timeout: 300 }, (client, { signal }) => client.exists('/', { signal }))
    expect(await timeOf(read)).to.equal(300)
    expect(await failureOf(read)).to.include({ code: 'OPERATIONTIMEOUT' })
    fixture.embedded.faults.clear()
  })

  itInVirtualTime('waits for the lock in the next session if the present one is lost meanwhile', async () => {
    const sessions = open()
    const other = await mutex(fixture.observer).acquire()
    const waiting = sessions.withLock(mutex, { timeout: 60_000 }, held => held.path)
    await fixture.until(async () => (await fixture.childPaths('/lock')).length === 2)
    await sessions.use({}, client => fixture.expire(client))
    await fixture.until(async () => (await fixture.childPaths('/lock')).length === 1)
    await fixture.until(async () => (await fixture.childPaths('/lock')).length === 2)
    await other.release()
    expect(await waiting).to.match(/-lock-0000000002$/)
  })

  for (const [what, code, message] of [
    ['the lock', 'TIMEOUT', /./],
    ['a session', 'CONNECTIONLOSS', /there was no session within 10000 ms/],
  ] as const)
    itInVirtualTime(`limits the wait of withLock() for ${what} in the next session by the same timeout`, async () => {
      const faultyDial = new FaultyDial(fixture.server.dial)
      const sessions = open({ dial: faultyDial.dial })
      const other = await mutex(fixture.observer).acquire()
      await sessions.whenReady()
      const failing = failureOf(sessions.withLock(mutex, { timeout: 10_000 }, () => 'never'))
      const time = timeOf(failing)
      await fixture.sleep(2_000)
      if (what === 'a session') faultyDial.refuse()
      else await sessions.use({}, client => fixture.expire(client))
      const error = await failing
      expect(await time).to.equal(10_000)
      expect(error).to.have.property('code', code)
      expect((error as Error).message).to.match(message)
      faultyDial.accept()
      await other.release()
    })

  for (const [stall, isSame] of [
    [5_000, true],
    [13_000, true],
    [14_000, false],
    [30_000, false],
    [60_000, false],
    [600_000, false],
  ] as const)
    itInVirtualTime(`serves the first call after the process was frozen for ${stall} ms`, async () => {
      const sessions = open({ sessionTimeout: 40_000 })
      const before = await sessions.use({}, idOf)
      fixture.stall(stall)
      const reading = sessions.use({ timeout: 2_000 }, async (client, { signal }) => {
        await client.exists('/', { signal })
        return client.sessionId
      })
      const locking = sessions.withLock(mutex, { timeout: 2_000 }, held => held.validFor() > 0)
      expect((await reading) === before).to.equal(isSame)
      expect(await locking).to.equal(true)
      expect(sessions.status.isReady).to.equal(true)
    })

  itInVirtualTime('gives the lock soon after a freeze, whenever it begins', async () => {
    const sessions = open({ sessionTimeout: 40_000 })
    const lock = () => timeOf(sessions.withLock(mutex, { timeout: 30_000 }, () => undefined))
    await lock()
    for (let idle = 0; idle < 40_000; idle += 3_400)
      for (const stall of [3_000, 9_000, 12_900, 13_400, 20_000]) {
        await fixture.sleep(idle + 10)
        fixture.stall(stall)
        // Not 10.8 s, as a session without a packet of before the freeze would take.
        expect(await lock(), `a freeze of ${stall} ms after ${idle} ms`).to.be.below(1_000)
      }
  })

  itInVirtualTime('keeps the session after a freeze if it has nodes of the set-up', async () => {
    const sessions = open({ sessionTimeout: 40_000, setUp: () => undefined })
    const id = await sessions.use({}, idOf)
    fixture.stall(30_000)
    expect(await sessions.use({}, idOf)).to.equal(id)
  })

  itInVirtualTime('serves the first call after a freeze also if pings were answered before it', async () => {
    const sessions = open({ sessionTimeout: 40_000 })
    await sessions.whenReady()
    fixture.stall(30_000)
    await fixture.sleep(20)
    expect(await timeOf(sessions.withLock(mutex, { timeout: 2_000 }, () => undefined))).to.be.below(100)
  })

  itInVirtualTime('keeps the session of the calls in hand after a freeze', async () => {
    const sessions = open({ sessionTimeout: 40_000 })
    await sessions.withLock(mutex, {}, async held => {
      const id = await sessions.use({}, idOf)
      fixture.stall(14_000)
      await fixture.sleep(20_000)
      expect(await sessions.use({}, idOf)).to.equal(id)
      expect(held.signal.aborted).to.equal(false)
    })
  })

  itInVirtualTime('serves the first call after a freeze that a call in hand has lost its session by', async () => {
    const sessions = open({ sessionTimeout: 40_000 })
    await sessions.use({}, async (client, { signal }) => {
      fixture.stall(60_000)
      expect(await sessions.use({ timeout: 2_000 }, idOf)).not.to.equal(client.sessionId)
      expect(signal.aborted).to.equal(true)
    })
  })

  itInVirtualTime('aborts the signal of a call when its session is lost, with the reason', async () => {
    const sessions = open()
    const reason = await sessions.use({}, async (client, { signal }) => {
      const aborted = abortOf(signal)
      await fixture.expire(client)
      return aborted
    })
    expect(reason).to.include({ code: 'SESSIONEXPIRED' })
  })

  itInVirtualTime('closes the session when it is idle, and opens another for the next call', async () => {
    const sessions = open({ idleTimeout: 10_000 })
    const first = await sessions.use({}, async client => {
      await client.create(`${fixture.path}/here`, '', { mode: 'ephemeral' })
      await fixture.sleep(30_000)
      return client.sessionId
    })
    await fixture.sleep(9_000)
    expect(await sessions.use({}, idOf), 'before the idle timeout').to.equal(first)
    await fixture.sleep(9_999)
    expect(await fixture.ephemeralNodes()).to.have.length(1)
    await fixture.sleep(10)
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    expect(sessions.status).to.include({ isReady: false, state: 'idle' })
    expect(await sessions.use({}, idOf)).not.to.equal(first)
  })

  itInVirtualTime('gives up the search for a server when it is idle', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    faultyDial.refuse()
    const sessions = open({ dial: faultyDial.dial, idleTimeout: 10_000 })
    await failureOf(sessions.use({ timeout: 100 }, idOf))
    await fixture.sleep(12_000)
    expect(sessions.status.state).to.equal('idle')
    faultyDial.accept()
    expect(await sessions.use({}, client => client.state)).to.equal('connected')
  })

  itInVirtualTime('sets up each new session before a caller gets it, and goes on with a group', async () => {
    const group = new Membership(`${fixture.path}/group`, { id: 'host-1' })
    const set: bigint[] = []
    const setUp = async (client: Client, signal: AbortSignal) => {
      await group.start(client, { signal })
      set.push(client.sessionId)
    }
    const sessions = open({ setUp })
    for (let i = 1; i <= 3; i++) {
      const id = await sessions.use({}, idOf)
      expect(set).to.have.length(i)
      expect(set.at(-1)).to.equal(id)
      expect(group.members.map(({ session }) => session)).to.deep.equal([id])
      await sessions.use({}, client => fixture.expire(client))
      // Also without a call: others see the member again.
      await fixture.until(() => set.length === i + 1)
    }
    await group.close()
  })

  itInVirtualTime(
    'rejects the calls that wait with the error of the set-up, and tries again at the next one',
    async () => {
      let fails = 2
      const setUp = () => {
        if (fails-- > 0) throw new Error('no permission')
      }
      const sessions = open({ setUp })
      for (let i = 0; i < 2; i++) {
        const errors = await Promise.all([failureOf(sessions.use({}, idOf)), failureOf(sessions.whenReady())])
        for (const error of errors) expect((error as Error).message).to.equal('no permission')
        expect(sessions.status).to.include({ isReady: false, state: 'failed', reason: errors[0] })
      }
      await sessions.whenReady()
      expect(sessions.status).to.include({ isReady: true, reason: undefined })
    },
  )

  itInVirtualTime('sets up again after a lost connection', async () => {
    let runs = 0
    const setUp = async (client: Client) => {
      if (++runs === 1) fixture.embedded.dropConnections()
      await client.ensurePath(`${fixture.path}/set`)
      await client.setData(`${fixture.path}/set`, 'up')
    }
    await open({ setUp }).whenReady()
    expect(runs).to.be.within(1, 3)
    await fixture.observer.whenConnected()
  })

  itInVirtualTime('reports credentials that a server rejects, and tries again at the next call', async () => {
    fixture.embedded.faults.replace('auth', 'AUTHFAILED')
    const sessions = open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    expect(await failureOf(sessions.whenReady())).to.include({ code: 'AUTHFAILED' })
    expect(sessions.status).to.include({ isReady: false, state: 'failed' })
    await sessions.whenReady()
  })

  itInVirtualTime('opens another session if a task has closed the client', async () => {
    const sessions = open()
    const first = await sessions.use({}, async client => {
      await client.close()
      return client.sessionId
    })
    expect(await sessions.use({}, idOf)).not.to.equal(first)
    let closing: Promise<void> | undefined
    await sessions.use({}, client => void (closing = client.close()))
    await sessions.whenReady({ timeout: 100 })
    await closing
    await sessions.use({}, client => void (closing = client.close()))
    await fixture.sleep(10_000)
    expect(sessions.status.state, 'while no call needs a session').to.equal('idle')
  })

  itInVirtualTime('refuses new calls at close(), waits for those in hand, and then closes the session', async () => {
    const sessions = open()
    const steps: string[] = []
    const working = sessions
      .withLock(mutex, {}, async held => {
        await fixture.sleep(5_000)
        expect(held.signal.aborted).to.equal(false)
        steps.push('worked')
      })
      .then(() => steps.push('released'))
    const queued = sessions.withLock(mutex, { timeout: 20_000 }, () => steps.push('worked in turn'))
    await fixture.until(async () => (await fixture.childPaths('/lock')).length === 2)
    const closing = sessions.close({ timeout: 30_000 }).then(() => steps.push('closed'))
    expect(sessions.status).to.include({ isReady: false, state: 'closed' })
    expect(await failureOf(sessions.use({}, idOf))).to.include({ code: 'CLOSED' })
    await Promise.all([working, queued, closing])
    expect(steps).to.have.members(['worked', 'released', 'worked in turn', 'closed'])
    expect(steps.at(-1)).to.equal('closed')
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itInVirtualTime('says since when it has its state, also if close() is called again', async () => {
    const sessions = open()
    for (const act of [() => sessions.whenReady(), () => sessions.close()]) {
      await act()
      const { since } = sessions.status
      await fixture.sleep(1000)
      await act().catch(() => undefined)
      expect(sessions.status.since).to.equal(since)
    }
  })

  itInVirtualTime('aborts the calls in hand at close() after its timeout, and frees their locks', async () => {
    const sessions = open()
    let held: Held | undefined
    const hanging = sessions.withLock(mutex, {}, async taken => {
      held = taken
      await abortOf(taken.signal)
    })
    const waiting = sessions.withLock(mutex, { timeout: 60_000 }, () => 'never')
    await fixture.until(() => held !== undefined)
    const closing = sessions.close()
    const time = await timeOf(sessions.close({ timeout: 1_000 }))
    await closing
    expect(time).to.be.within(1_000, 1_100)
    expect(await failureOf(hanging)).to.include({ code: 'LOST' })
    expect(await failureOf(waiting)).to.include({ code: 'CLOSED' })
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itInVirtualTime(
    'ends each call of close() after the shortest timeout, though a task or a set-up never ends',
    async () => {
      const hanging = open()
      void hanging.use({}, () => new Promise(() => undefined))
      await hanging.whenReady()
      const first = hanging.close()
      const second = hanging.close({ timeout: 1_000 })
      expect(await timeOf(Promise.all([first, second]))).to.be.within(1_000, 1_100)
      let setUps = 0
      const setUp = () => {
        setUps++
        return new Promise(() => undefined)
      }
      const beginning = open({ setUp })
      expect(await failureOf(beginning.use({ timeout: 500 }, idOf))).to.include({ code: 'CONNECTIONLOSS' })
      expect(await timeOf(beginning.close())).to.be.at.most(100)
      expect(setUps).to.equal(1)
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    },
  )

  itInVirtualTime('ends in an outage too: within two seconds after the calls in hand', async () => {
    const sessions = open()
    await sessions.whenReady()
    await fixture.embedded.stop()
    expect(await timeOf(sessions.close())).to.be.at.most(2_000)
    await fixture.embedded.start()
    await fixture.observer.whenConnected()
  })

  itInVirtualTime('opens no session at close() for a call that waits for a connection', async () => {
    const faultyDial = new FaultyDial(fixture.server.dial)
    const before = fixture.timerCount()
    const sessions = open({ dial: faultyDial.dial })
    await sessions.whenReady()
    faultyDial.refuse()
    await fixture.until(() => sessions.status.state === 'suspended')
    const waiting = failureOf(sessions.use({ timeout: 60_000 }, idOf))
    await sessions.close({ timeout: 0 })
    expect(await waiting).to.include({ code: 'CLOSED' })
    await fixture.sleep(10_000)
    expect(fixture.timerCount()).to.equal(before)
  })

  for (const idleTimeout of [0, 60_000])
    itInVirtualTime(
      `keeps no timer, and nothing at the signal of a caller, with an idleTimeout of ${idleTimeout}`,
      async () => {
        const { signal } = new AbortController()
        const before = fixture.timerCount()
        const sessions = open({ idleTimeout })
        for (let i = 0; i < 10; i++) {
          await sessions.use({ signal }, client => client.exists('/'))
          await sessions.withLock(mutex, { signal }, () => undefined)
        }
        const { client, wait } = await sessions.use({ signal }, (used, given) => ({ client: used, wait: given }))
        expect(getEventListeners(signal, 'abort')).to.deep.equal([])
        expect(getEventListeners(client.leaseSignal, 'abort')).to.have.length.below(3)
        await sessions.close()
        expect(wait.signal.aborted, 'the signal of a call that has ended').to.equal(false)
        expect(fixture.timerCount()).to.equal(before)
      },
    )

  itInVirtualTime('rejects with the reason of the caller’s signal, and refuses wrong arguments', async () => {
    const sessions = open()
    const reason = new Error('the request was cancelled')
    const stop = new AbortController()
    const other = await mutex(fixture.observer).acquire()
    const waiting = sessions.withLock(mutex, { signal: stop.signal }, () => 'never')
    await fixture.until(async () => (await fixture.childPaths('/lock')).length === 2)
    stop.abort(reason)
    expect(await failureOf(waiting)).to.equal(reason)
    expect(await failureOf(sessions.use({ signal: stop.signal }, idOf))).to.equal(reason)
    await other.release()
    const wrong = [
      () => sessions.use({ timeout: -1 }, idOf),
      () => sessions.use({ time: 1 } as never, idOf),
      () => sessions.use({}, undefined as never),
      () => sessions.withLock('/lock' as never, {}, () => 1),
      () => sessions.withLock(mutex, {}, undefined as never),
      () => sessions.withLock((() => undefined) as never, {}, () => 1),
      () => sessions.withLock((() => Promise.reject(reason)) as never, {}, () => 1),
      () => open({ idleTimeout: 0 }).withLock((() => Promise.reject(reason)) as never, {}, () => 1),
      () => sessions.close({ timeout: 'soon' as never }),
    ]
    for (const call of wrong) expect(await failureOf(call())).to.include({ code: 'BADARGUMENTS' })
    const create = (options: object, servers = 'localhost:2181') => new Sessions(servers, options)
    for (const make of [
      () => create({ idleTimeout: -1 }),
      () => create({ setUp: 1 }),
      () => create({ signal: stop.signal }),
      () => create({ session: { id: 1n, password: Buffer.alloc(16) } }),
      () => create(null as never),
      () => create([]),
      () => create('localhost' as never),
      () => create({ sessionTimeOut: 1 }),
      () => create({}, 'zk1:port'),
    ])
      expect(make).to.throw(ZooKeeperError).with.property('code', 'BADARGUMENTS')
    // What is undefined or null counts as left out.
    create({ signal: undefined, session: undefined, idleTimeout: undefined, setUp: undefined })
    create({ signal: null, session: null, idleTimeout: null, setUp: null })
  })
})
