// What a LeaderElection costs while leaders change: what changes() keeps in memory and reads, and how often lead() leads.
import { expect } from 'chai'
import { LeaderElection } from '../../../src/recipes/index.ts'
import { dependentSignalCount } from '../../support/dependent-signals.ts'
import { trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('LeaderElection while leaders change', (fixture, { itInVirtualTime }) => {
  itInVirtualTime('changes() keeps nothing of earlier leaders: neither signals nor listeners', async () => {
    const [client, observer] = [await fixture.open(), await fixture.open()]
    const stop = new AbortController()
    const election = new LeaderElection(client, fixture.path)
    const leaders = new LeaderElection(observer, fixture.path).changes({ signal: stop.signal })
    const made: AbortSignal[] = []
    const any = AbortSignal.any.bind(AbortSignal)
    AbortSignal.any = signals => {
      made.push(...signals)
      return any(signals)
    }
    try {
      for (let change = 0; change < 20; change++) {
        expect((await leaders.next()).value, `change ${change}`).to.equal(null)
        const held = await election.campaign()
        expect((await leaders.next()).value).to.include({ isLeader: true })
        await held.release()
      }
    } finally {
      AbortSignal.any = any
    }
    for (const signal of [...made, stop.signal]) expect(dependentSignalCount(signal)).to.be.below(5)
    stop.abort()
    await leaders.next().catch(() => undefined)
  })

  itInVirtualTime(
    'changes() reads at most 60 times in 10 s while each leader that it lists is gone when it reads it',
    async () => {
      const observer = await fixture.open()
      const held = await new LeaderElection(await fixture.open(), fixture.path).campaign()
      const { faults } = fixture.embedded
      const gone = faults.replace('getData', 'NONODE', { session: observer.sessionId, times: 1000 })
      const before = fixture.embedded.stats.received
      const leaders = new LeaderElection(observer, fixture.path).changes()
      const first = leaders.next()
      await fixture.sleep(10_000)
      expect(fixture.embedded.stats.received - before).to.be.within(10, 130)
      gone.release()
      expect((await first).value).to.include({ path: held.path })
      await leaders.return()
      await held.release()
    },
  )

  itInVirtualTime('lead() runs a callback that ends at once at most 30 times in 10 s', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    let terms = 0
    const callback = () => {
      if (++terms === 100) stop.abort()
    }
    const leading = new LeaderElection(client, fixture.path).lead(callback, { signal: stop.signal })
    const isOver = trackSettled(leading)
    await fixture.sleep(10_000)
    stop.abort()
    await fixture.sleep(1)
    expect(isOver(), 'is over during a pause').to.equal(true)
    expect(terms).to.be.within(10, 30)
  })
})
