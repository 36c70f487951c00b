import { expect } from 'chai'
import { connect, ZooKeeperError } from '../../../src/index.ts'
import { retryUntilDone } from '../../../src/recipes/node/retry-until-done.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

describe('retryUntilDone()', () => {
  it('pauses 20 ms after the first refusal, and then twice as long each time, up to 1.28 s', async () => {
    const clock = new VirtualClock()
    await using server = await Server.start({ clock, listen: false })
    const client = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
    const attempts: number[] = []
    const task = () => {
      attempts.push(clock.now())
      const refusal = new ZooKeeperError('THROTTLEDOP', { fate: 'refused' })
      return attempts.length > 9 ? Promise.resolve() : Promise.reject(refusal)
    }
    await clock.until(retryUntilDone(client, task))
    const pauses = attempts.slice(1).map((at, i) => at - (attempts[i] ?? NaN))
    expect(pauses).to.deep.equal([20, 40, 80, 160, 320, 640, 1280, 1280, 1280])
    await clock.until(client.close())
  })
})
