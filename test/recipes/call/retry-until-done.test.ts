import { expect } from 'chai'
import { ZooKeeperError } from '../../../src/index.ts'
import { retryUntilDone } from '../../../src/recipes/call/retry-until-done.ts'
import { failureOf } from '../../support/settled.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

describe('retryUntilDone()', () => {
  it('pauses as long as the session between its attempts to connect: 50 ms, then twice as long each time, up to 1 s', async () => {
    await using virtual = await VirtualServer.start()
    const client = await virtual.open({ random: () => 1 - Number.EPSILON })
    const attempts: number[] = []
    const task = () => {
      attempts.push(virtual.clock.now())
      const refusal = new ZooKeeperError('THROTTLEDOP', { fate: 'refused' })
      return attempts.length > 9 ? Promise.resolve() : Promise.reject(refusal)
    }
    await virtual.until(retryUntilDone(client, task))
    const pauses = attempts.slice(1).map((at, i) => Math.round(at - (attempts[i] ?? NaN)))
    expect(pauses).to.deep.equal([50, 100, 200, 400, 800, 1000, 1000, 1000, 1000])
  })

  it('rejects at once if its signal aborts in a pause, and neither tries again nor leaves a timer', async () => {
    await using virtual = await VirtualServer.start()
    const client = await virtual.open()
    const { clock } = virtual
    const timers = clock.pendingTimers
    const [stop, reason] = [new AbortController(), new Error('enough')]
    let attempts = 0
    const task = () => {
      attempts++
      return Promise.reject(new ZooKeeperError('THROTTLEDOP', { fate: 'refused' }))
    }
    const failing = failureOf(retryUntilDone(client, task, { signal: stop.signal }))
    await clock.advance(500)
    const before = { attempts, at: clock.now(), timers }
    stop.abort(reason)
    expect(await virtual.until(failing)).to.equal(reason)
    expect({ attempts, at: clock.now(), timers: clock.pendingTimers }).to.deep.equal(before)
  })
})
