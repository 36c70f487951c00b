// The line that a run of the benchmark goes through, as a process of its own.
import { expect } from 'chai'
import { connect } from '../../../src/index.ts'
import { throughLine } from '../../../bench/harness/line.ts'
import { serverFor } from '../../../bench/harness/server.ts'

describe('npm start -- --round-trip', () => {
  it('delays each call by the round trip, and ends with the server', async () => {
    const server = await throughLine(await serverFor('embedded'), { roundTrip: 40, jitter: 0, bandwidth: Infinity })
    const zk = await connect(server.servers)
    const times: number[] = []
    for (let i = 0; i < 3; i++) {
      const begun = performance.now()
      await zk.exists('/')
      times.push(performance.now() - begun)
    }
    expect(Math.min(...times)).to.be.at.least(39)
    await zk.close()
    await server.close()
    await connect(server.servers, { connectTimeout: 200 }).then(
      () => expect.fail('the line is still there'),
      () => undefined,
    )
  })
})
