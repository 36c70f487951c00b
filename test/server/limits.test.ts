// The exact limits of the embedded server, in virtual time.
import { expect } from 'chai'
import { VirtualEnsemble } from '../support/virtual-ensemble.ts'

describe('an embedded server', () => {
  let ensemble: VirtualEnsemble

  beforeEach(async () => (ensemble = await VirtualEnsemble.start()))
  afterEach(() => ensemble.close())

  for (const sent of [999, 1000, 1001, 2500])
    it(`lets 1000 requests of a client wait for the leader, and reads the others when there is room (${sent})`, async () => {
      const [follower] = ensemble.others
      const client = await ensemble.openAt([follower])
      // Shows that the server knows create2: until then, the client sends one at a time.
      await ensemble.until(client.create('/n'))
      const before = follower.stats.received
      follower.cutOff()
      const calls = Array.from({ length: sent }, () => client.create('/n-', '', { mode: 'persistentSequential' }))
      await ensemble.quiet()
      expect(follower.stats.received - before).to.equal(Math.min(sent, 1000))
      follower.heal()
      const created = await ensemble.until(Promise.all(calls))
      expect(created.map(({ path }) => Number(path.slice(-10)))).to.deep.equal(calls.map((_, i) => i + 1))
    })
})
