// How often lead() leads if its function ends at once.
import { expect } from 'chai'
import { LeaderElection } from '../../../src/recipes/index.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('lead()', (fixture, { itInVirtualTime }) => {
  itInVirtualTime('runs a callback that ends at once at most 30 times in 10 s', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    let terms = 0
    const callback = () => {
      if (++terms === 100) stop.abort()
    }
    const leading = new LeaderElection(client, fixture.path).lead(callback, { signal: stop.signal })
    await Promise.race([leading, fixture.sleep(10_000)])
    stop.abort()
    await leading
    expect(terms).to.be.within(10, 30)
  })
})
