// The guard of `zkwire lock`: when the program is told to end, and when it is killed, in virtual time.
import { expect } from 'chai'
import { Guard, verdictOf } from '../../../src/cli/guarded/guard.ts'
import type { Client } from '../../../src/index.ts'
import { Mutex, type Held } from '../../../src/recipes/index.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

/** The session timeout and the grace, ms. */
const T = 9000
const GRACE = 3000

describe('the verdict on the program of a lock', () => {
  const view = { validFor: 5000, lostFor: undefined }

  it('is to wait, to terminate, and to kill, while the lease becomes shorter', () => {
    expect(verdictOf(view, GRACE)).to.deep.equal({ do: 'nothing', lookIn: 2000, killIn: 5000 })
    expect(verdictOf({ ...view, validFor: 3000 }, GRACE)).to.deep.equal({ do: 'terminate', lookIn: 3000, killIn: 3000 })
    expect(verdictOf({ ...view, validFor: 0 }, GRACE)).to.deep.equal({ do: 'kill', lookIn: undefined, killIn: 0 })
  })

  it('is to terminate at once if the node is missing, and to kill after the grace or at the end of the session', () => {
    const lost = { ...view, lostFor: 0 }
    expect(verdictOf(lost, GRACE)).to.deep.equal({ do: 'terminate', lookIn: 3000, killIn: 3000 })
    expect(verdictOf({ ...lost, validFor: 1000 }, GRACE)).to.deep.equal({ do: 'terminate', lookIn: 1000, killIn: 1000 })
    expect(verdictOf({ ...lost, lostFor: 3000 }, GRACE)).to.deep.equal({ do: 'kill', lookIn: undefined, killIn: 0 })
  })

  it('is to kill at once with a grace of 0', () => {
    expect(verdictOf({ ...view, lostFor: 0 }, 0).do).to.equal('kill')
  })
})

describe('the guard of the program of a lock', () => {
  // Before the server is closed.
  afterEach(() => guard.stop())
  // Without questions to the leader, the lease starts at the last ping, so the times are round.
  const virtual = VirtualServer.each({ client: { sessionTimeout: T, asksLeader: false } })
  let zk: Client
  let held: Held
  let guard: Guard
  let log: string[]
  /** When the watchdog must kill the program, as the guard said last, in milliseconds of the clock. */
  let deadline: number

  beforeEach(async () => {
    zk = await virtual.open()
    held = await virtual.until(new Mutex(zk, '/lock').acquire({ watchOwnNode: true }))
    log = []
    const startedAt = virtual.clock.now()
    const note = (text: string) => log.push(`${Math.round(virtual.clock.now() - startedAt)} ${text}`)
    guard = new Guard({
      ...{ client: zk, held, grace: GRACE, clock: virtual.clock },
      kill: note,
      feed: killIn => void (deadline = virtual.clock.now() + killIn),
      onEnding: note,
    })
  })

  it('does nothing while servers confirm the session, and through an outage that ends early enough', async () => {
    await virtual.clock.advance(10 * T)
    await virtual.server.stop()
    await virtual.clock.advance(T - GRACE - T / 3 - 100)
    await virtual.server.start()
    await virtual.clock.advance(10 * T)
    expect(log).to.deep.equal([])
    expect(guard.hasEnded).to.equal(false)
  })

  it('sends SIGTERM when the session is valid for the grace, and SIGKILL before the next client can have the lock', async () => {
    await virtual.server.stop()
    await virtual.clock.advance(T)
    const whole = ['6000 SIGTERM', '6000 the servers do not confirm the session', '9000 SIGKILL']
    expect(log).to.deep.equal(whole)
    expect(guard.hasEnded).to.equal(true)
    // The servers confirm the session again, because its node is still there.
    await virtual.server.start()
    await virtual.clock.advance(T)
    expect(zk.validFor()).to.be.above(GRACE)
    guard.look()
    expect(log, 'after SIGKILL').to.deep.equal(whole)
    expect(deadline, 'after SIGKILL').to.be.below(virtual.clock.now())
  })

  it('does nothing after stop(), whatever becomes of the session, and leaves no timer', async () => {
    const timers = virtual.clock.pendingTimers
    guard.stop()
    expect(virtual.clock.pendingTimers).to.equal(timers - 1)
    virtual.server.expireSession(zk.sessionId)
    await virtual.clock.advance(T)
    expect([zk.state, ...log]).to.deep.equal(['expired'])
  })

  it('sends SIGTERM before SIGKILL, also if the client is connected and only the leader does not answer', async () => {
    guard.stop()
    const client = await virtual.open({ asksLeader: true })
    const lock = await virtual.until(new Mutex(client, '/other').acquire())
    const ended: string[] = []
    guard = new Guard({
      ...{ client, held: lock, grace: T / 6, clock: virtual.clock },
      kill: signal => ended.push(`${signal} ${client.state}`),
      feed: () => undefined,
      onEnding: () => undefined,
    })
    await virtual.clock.advance(10 * T)
    expect(ended).to.deep.equal([])
    virtual.server.faults.hold('multi', { session: client.sessionId, times: Infinity })
    await virtual.clock.advance(T)
    expect(ended).to.deep.equal(['SIGTERM connected', 'SIGKILL connected'])
    virtual.server.faults.clear()
    await virtual.until(client.close())
  })

  it('does not send SIGKILL if a server confirms the session after SIGTERM', async () => {
    await virtual.server.stop()
    await virtual.clock.advance(T - GRACE + 100)
    await virtual.server.start()
    await virtual.clock.advance(T)
    expect(log).to.deep.equal(['6000 SIGTERM', '6000 the servers do not confirm the session'])
  })

  it('sends SIGTERM at once if the node is deleted, and SIGKILL after the grace', async () => {
    await virtual.clock.advance(1000)
    await virtual.until(zk.delete(held.path))
    await virtual.clock.advance(T)
    expect(log).to.deep.equal(['1000 SIGTERM', "1000 the lock's node was deleted", '4000 SIGKILL'])
  })

  it('sends SIGTERM if the server expires the session, and SIGKILL as soon as the client learns of it', async () => {
    await virtual.clock.advance(1000)
    virtual.server.expireSession(zk.sessionId)
    await virtual.clock.advance(T)
    // The server deletes the node with the session. The client learns of the session's end when it reconnects.
    const [first, reason, second, ...others] = log
    expect([first, reason]).to.deep.equal(['1000 SIGTERM', "1000 the lock's node was deleted"])
    expect(second).to.match(/^1\d\d\d SIGKILL$/)
    expect(others).to.deep.equal([])
  })

  it('puts the deadline of the watchdog off while servers confirm the session, and never beyond its end', async () => {
    for (let passed = 0; passed < 3 * T; passed += T / 20) {
      await virtual.clock.advance(T / 20)
      expect(deadline - virtual.clock.now()).to.be.within(T / 2, zk.validFor())
    }
    await virtual.server.stop()
    await virtual.clock.advance(T / 2)
    expect(deadline).to.equal(virtual.clock.now() + zk.validFor())
  })

  it('gives the watchdog the grace if the node is deleted', async () => {
    await virtual.until(zk.delete(held.path))
    const deletedAt = virtual.clock.now()
    await virtual.clock.advance(T / 20)
    expect(deadline).to.equal(deletedAt + GRACE)
  })

  it('sends SIGKILL as soon as it is noticed that the session has ended, before its timer', () => {
    virtual.clock.stall(T)
    expect(zk.validFor()).to.equal(0)
    expect(log[0]).to.equal(`${T} SIGKILL`)
  })

  it('sends SIGKILL at once when the process continues after a stall', () => {
    virtual.clock.stall(T)
    guard.look()
    expect(log).to.deep.equal([
      `${T} SIGKILL`,
      `${T} the session has ended, or the servers have not confirmed it in time`,
    ])
  })
})
