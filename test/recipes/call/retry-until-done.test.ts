import { expect } from 'chai'
import { ZooKeeperError } from '../../../src/index.ts'
import { retryUntilDone } from '../../../src/recipes/call/retry-until-done.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

describe('retryUntilDone()', () => {
  it('pauses 20 ms after the first refusal, and then twice as long each time, up to 1.28 s', async () => {
    await using virtual = await VirtualServer.start()
    const client = await virtual.open()
    const attempts: number[] = []
    const task = () => {
      attempts.push(virtual.clock.now())
      const refusal = new ZooKeeperError('THROTTLEDOP', { fate: 'refused' })
      return attempts.length > 9 ? Promise.resolve() : Promise.reject(refusal)
    }
    await virtual.until(retryUntilDone(client, task))
    const pauses = attempts.slice(1).map((at, i) => at - (attempts[i] ?? NaN))
    expect(pauses).to.deep.equal([20, 40, 80, 160, 320, 640, 1280, 1280, 1280])
  })
})
