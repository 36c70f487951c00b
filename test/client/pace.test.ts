// The pauses of loops on their own, in virtual time.
import { expect } from 'chai'
import { Pace, pauseInSession } from '../../src/client/pace.ts'
import type { State, StateListener } from '../../src/session/life/states.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { trackSettled } from '../support/settled.ts'

/** A client that the test connects and suspends. */
class PacedClient {
  state: State = 'connected'
  stats = { connects: 1 }
  readonly listeners = new Set<StateListener>()

  on(_event: 'state', listener: StateListener): void {
    this.listeners.add(listener)
  }

  off(_event: 'state', listener: StateListener): void {
    this.listeners.delete(listener)
  }
}

function paced() {
  const client = new PacedClient()
  const clock = new VirtualClock()
  const pace = new Pace(client, { clock, random: () => 0 })
  /** Returns how long the pause after a round takes, in milliseconds. */
  const pauseOf = async (): Promise<number> => {
    const before = clock.now()
    await clock.until(pace.wait(undefined))
    return clock.now() - before
  }
  return { client, clock, pauseOf }
}

const many = async (times: number, next: () => Promise<number>): Promise<number[]> => {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await next())
  return all
}

describe('the pauses of a loop', () => {
  it('begin after six rounds that end at once, and double up to a limit', async () => {
    const { pauseOf } = paced()
    const pauses = await many(14, pauseOf)
    expect(pauses.slice(0, 6)).to.deep.equal([0, 0, 0, 0, 0, 0])
    expect(pauses.slice(6, 11)).to.deep.equal([25, 50, 100, 200, 400])
    expect(pauses[12]).to.equal(pauses[13])
    expect(pauses[13]).to.be.within(400, 1000)
  })

  it('begin again after a long round, and on a new connection', async () => {
    const { client, clock, pauseOf } = paced()
    for (const recover of [() => clock.stall(10_000), () => client.stats.connects++]) {
      await many(8, pauseOf)
      recover()
      expect(await many(3, pauseOf)).to.deep.equal([0, 0, 0])
    }
  })
})

describe('a pause', () => {
  it('ends when the time has passed, the signal aborts or the state changes, and leaves no timer and no listener', async () => {
    for (const end of ['time', 'signal', 'state']) {
      const client = new PacedClient()
      const clock = new VirtualClock()
      const controller = new AbortController()
      const pausing = pauseInSession(client, clock, 1000, controller.signal)
      const hasEnded = trackSettled(pausing)
      await clock.advance(999)
      expect(hasEnded(), end).to.equal(false)
      if (end === 'signal') controller.abort()
      if (end === 'state') for (const listener of client.listeners) listener('suspended', 'connected')
      await clock.advance(end === 'time' ? 1 : 0)
      expect(hasEnded(), end).to.equal(true)
      expect([clock.pendingTimers, client.listeners.size], end).to.deep.equal([0, 0])
    }
  })

  it('does not begin if the session has ended or the signal has aborted', async () => {
    const client = new PacedClient()
    const clock = new VirtualClock()
    await pauseInSession(client, clock, 1000, AbortSignal.abort())
    client.state = 'closed'
    await pauseInSession(client, clock, 1000, undefined)
    expect(clock.pendingTimers).to.equal(0)
  })
})
