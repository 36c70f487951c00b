import { expect } from 'chai'
import { once } from 'node:events'
import type { Client } from '../../../src/index.ts'
import { LeaderElection, type Held, type Participant } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onGrounds } from '../fixture.ts'

onGrounds('LeaderElection', (ground, { it, everywhere }) => {
  everywhere('has the first to campaign lead, and the next one when it resigns, with a larger token', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    const first = await new LeaderElection(a, ground.path, { id: 'a' }).campaign()
    const next = new LeaderElection(b, ground.path, { id: 'b' }).campaign()
    const watcher = new LeaderElection(ground.observer, ground.path)
    await ground.until(async () => (await watcher.participants()).length === 2)
    expect((await watcher.participants()).map(({ id, isLeader }) => ({ id, isLeader }))).to.deep.equal([
      { id: 'a', isLeader: true },
      { id: 'b', isLeader: false },
    ])
    expect(await watcher.leader()).to.include({ id: 'a', path: first.path, session: a.sessionId })
    await first.release()
    const second = await next
    expect(second.token > first.token).to.equal(true)
    expect(await watcher.leader()).to.include({ id: 'b' })
    await second.release()
    expect(await watcher.leader()).to.equal(null)
  })

  it('refuses what stands in the place of options', async () => {
    const election = new LeaderElection(await ground.open(), ground.path)
    for (const refused of [
      election.campaign(50 as never),
      election.lead(() => expect.fail('it led'), 50 as never),
      election.leaders(50 as never).next(),
    ])
      expect(await failureOf(refused)).to.include({ code: 'BADARGUMENTS', path: ground.path })
  })

  it('knows a participant by an id that is a uuid', async () => {
    const id = '123e4567-e89b-42d3-a456-426614174000'
    const held = await new LeaderElection(await ground.open(), ground.path, { id }).campaign()
    expect(await new LeaderElection(ground.observer, ground.path).leader()).to.include({ id })
    await held.release()
  })

  everywhere('names its nodes as Curator’s LeaderLatch does', async () => {
    const held = await new LeaderElection(await ground.open(), ground.path, { id: 'a' }).campaign()
    expect(held.path.slice(ground.path.length)).to.match(/^\/_c_[0-9a-f-]{36}-latch-\d{10}$/)
    await held.release()
  })

  everywhere('campaigns again when its leadership is lost, and never leads twice at a time', async () => {
    const client = await ground.open()
    const stop = new AbortController()
    const terms: Held[] = []
    let inside = 0
    const leading = new LeaderElection(client, ground.path).lead(
      async held => {
        expect(++inside).to.equal(1)
        terms.push(held)
        await once(held.signal, 'abort')
        inside--
        throw held.signal.reason
      },
      { signal: stop.signal },
    )
    for (let term = 1; term <= 3; term++) {
      await ground.until(() => terms.length === term)
      await ground.observer.delete(terms[term - 1]?.path ?? '')
    }
    await ground.until(() => terms.length === 4)
    stop.abort()
    await ground.observer.delete(terms[3]?.path ?? '')
    await leading
    expect(terms).to.have.length(4)
  })

  it('campaigns again when the function has ended, after those who wait', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    const stop = new AbortController()
    const order: string[] = []
    const lead = (client: Client, id: string) =>
      new LeaderElection(client, ground.path, { id }).lead(
        async () => {
          order.push(id)
          if (order.length === 6) stop.abort()
          // Until the other has come back to the queue.
          else await ground.until(async () => (await ground.nodes()).length === 2)
        },
        { signal: stop.signal },
      )
    await Promise.all([lead(a, 'a'), lead(b, 'b')])
    const first = order[0]
    expect(order).to.deep.equal(order.map((_, i) => (i % 2 === 0 ? first : first === 'a' ? 'b' : 'a')))
  })

  it('rejects with what the function throws while it leads, and resigns', async () => {
    const election = new LeaderElection(await ground.open(), ground.path)
    expect(await failureOf(election.lead(() => Promise.reject(new Error('mine'))))).to.have.property('message', 'mine')
    expect(await election.leader()).to.equal(null)
  })

  everywhere('rejects at the end of the session', async () => {
    const client = await ground.open()
    const leading = failureOf(
      new LeaderElection(client, ground.path).lead(async held => {
        await once(held.signal, 'abort')
      }),
    )
    await ground.until(async () => (await ground.nodes()).length === 1)
    await ground.expire(client)
    expect(await leading).to.have.property('code', 'SESSIONEXPIRED')
  })

  it('stops campaigning at once when the signal aborts', async () => {
    const [a, b] = [await ground.open(), await ground.open()]
    const held = await new LeaderElection(a, ground.path).campaign()
    const stop = new AbortController()
    const leading = new LeaderElection(b, ground.path).lead(() => expect.fail('it leads'), { signal: stop.signal })
    await ground.until(async () => (await ground.nodes()).length === 2)
    stop.abort(new Error('enough'))
    await leading
    await held.release()
  })

  describe('observed', () => {
    everywhere('tells who leads, from before the directory exists to after the last one', async () => {
      const path = `${ground.path}/later`
      const [a, b] = [await ground.open(), await ground.open()]
      const stop = new AbortController()
      const seen: (string | null)[] = []
      const observing = (async () => {
        const election = new LeaderElection(await ground.open(), path)
        for await (const leader of election.leaders({ signal: stop.signal })) seen.push(leader && leader.id)
      })()
      const told = (...expected: (string | null)[]) =>
        ground.until(() => JSON.stringify(seen) === JSON.stringify(expected))
      await told(null)
      const first = await new LeaderElection(a, path, { id: 'a' }).campaign()
      await told(null, 'a')
      const next = new LeaderElection(b, path, { id: 'b' }).campaign()
      await ground.until(async () => (await ground.nodes()).length === 2)
      await first.release()
      await told(null, 'a', 'b')
      await (await next).release()
      await told(null, 'a', 'b', null)
      stop.abort()
      await observing
    })

    it('takes its watch back when the loop is left', async () => {
      const client = await ground.open()
      const held = await new LeaderElection(client, ground.path, { id: 'a' }).campaign({ watchOwnNode: false })
      const watchesBefore = await ground.watchCount()
      let leader: Participant | null = null
      for await (leader of new LeaderElection(client, ground.path).leaders()) break
      expect(leader).to.include({ id: 'a' })
      await ground.until(async () => (await ground.watchCount()) === watchesBefore)
      await held.release()
    })

    for (const [title, kind, times] of [
      ['the leader goes between the list and the look at its node', 'getData', 3],
      ['the first comes just behind the list', 'getChildren', 1],
      ['the directory is made just behind the list', 'getChildren', 2],
    ] as const)
      it(`has one watch, also when ${title}`, async () => {
        const client = await ground.open()
        const { observer, embedded, path } = ground
        const held = await new LeaderElection(client, path, { id: 'a' }).campaign({ watchOwnNode: false })
        embedded.faults.replace(kind, 'NONODE', { times, session: observer.sessionId })
        for await (const leader of new LeaderElection(observer, path).leaders()) {
          expect(leader).to.include({ id: 'a' })
          await observer.settled()
          expect(embedded.snapshot().watches.map(watch => watch.path)).to.deep.equal([held.path])
          await held.release()
          break
        }
      })

    it('ends with the session', async () => {
      const client = await ground.open()
      const seen: unknown[] = []
      const observing = (async () => {
        for await (const leader of new LeaderElection(client, ground.path).leaders()) seen.push(leader)
      })()
      const failing = failureOf(observing)
      await ground.until(() => seen.length === 1)
      await ground.expire(client)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    })
  })
})
