import { expect } from 'chai'
import { getEventListeners, once } from 'node:events'
import type { Client } from '../../../src/index.ts'
import { LeaderElection, RecipeError, type Held } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('LeaderElection', (fixture, { itInVirtualTime, itEverywhere }) => {
  itEverywhere(
    'makes the first candidate the leader, and the next one when the first resigns, with a larger token',
    async () => {
      const [a, b] = [await fixture.open(), await fixture.open()]
      const first = await new LeaderElection(a, fixture.path, { id: 'a' }).campaign()
      const next = new LeaderElection(b, fixture.path, { id: 'b' }).campaign()
      const watcher = new LeaderElection(fixture.observer, fixture.path)
      await fixture.until(async () => (await watcher.participants()).length === 2)
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
    },
  )

  itInVirtualTime('reports an id that looks like a UUID unchanged', async () => {
    const id = '123e4567-e89b-42d3-a456-426614174000'
    const held = await new LeaderElection(await fixture.open(), fixture.path, { id }).campaign()
    expect(await new LeaderElection(fixture.observer, fixture.path).leader()).to.include({ id })
    await held.release()
  })

  itEverywhere('names its nodes as Curator’s LeaderLatch does', async () => {
    const held = await new LeaderElection(await fixture.open(), fixture.path, { id: 'a' }).campaign()
    expect(held.path.slice(fixture.path.length)).to.match(/^\/_c_[0-9a-f-]{36}-latch-\d{10}$/)
    await held.release()
  })

  itEverywhere('campaigns again when it loses leadership, and never runs the callback twice at a time', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    const terms: Held[] = []
    let inside = 0
    const leading = new LeaderElection(client, fixture.path).lead(
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
      await fixture.until(() => terms.length === term)
      await fixture.observer.delete(terms[term - 1]?.path ?? '')
    }
    await fixture.until(() => terms.length === 4)
    stop.abort()
    await leading
    expect(terms).to.have.length(4)
  })

  itInVirtualTime('campaigns again after the callback returns, and queues after the waiting candidates', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const stop = new AbortController()
    const order: string[] = []
    const lead = (client: Client, id: string) =>
      new LeaderElection(client, fixture.path, { id }).lead(
        async () => {
          order.push(id)
          if (order.length === 6) stop.abort()
          // Wait until the other candidate has queued again.
          else await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
        },
        { signal: stop.signal },
      )
    await Promise.all([lead(a, 'a'), lead(b, 'b')])
    const first = order[0]
    expect(order).to.deep.equal(order.map((_, i) => (i % 2 === 0 ? first : first === 'a' ? 'b' : 'a')))
  })

  itEverywhere('aborts the signal of the callback with the reason of lead()’s signal, and resigns', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    const reason = new Error('SIGTERM')
    let term: Held | undefined
    const leading = new LeaderElection(client, fixture.path).lead(
      async held => {
        term = held
        await once(held.signal, 'abort')
        expect(held.validFor(), 'validFor() while the callback ends').to.be.above(0)
        await held.guard().create(`${fixture.path}/last-words`, '', { mode: 'ephemeral' }).commit()
        throw held.signal.reason
      },
      { signal: stop.signal },
    )
    await fixture.until(() => term !== undefined)
    expect(term?.signal.aborted).to.equal(false)
    stop.abort(reason)
    await leading
    expect(term?.signal.reason).to.equal(reason)
    expect(term?.validFor()).to.equal(0)
    expect(await fixture.ephemeralNodes()).to.deep.equal([`${fixture.path}/last-words`])
    expect(getEventListeners(stop.signal, 'abort')).to.deep.equal([])
    await client.delete(`${fixture.path}/last-words`)
  })

  itInVirtualTime('ends when the leadership is lost in an outage, and does not wait for a server', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    await new LeaderElection(client, fixture.path).lead(
      async held => {
        const lost = once(held.signal, 'abort')
        await fixture.embedded.stop()
        await lost
        stop.abort()
      },
      { signal: stop.signal },
    )
    expect(client.state).to.equal('suspended')
    await fixture.embedded.start()
    await client.whenConnected()
    await client.settled()
    await fixture.observer.whenConnected()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
  })

  itEverywhere('aborts the signal of the callback with LOST if the leadership is lost', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    const reasons: unknown[] = []
    const leading = new LeaderElection(client, fixture.path).lead(
      async held => {
        const lost = once(held.signal, 'abort')
        await fixture.observer.delete(held.path)
        await lost
        reasons.push(held.signal.reason)
        stop.abort(new Error('SIGTERM'))
        // The first reason stays.
        reasons.push(held.signal.reason)
      },
      { signal: stop.signal },
    )
    await leading
    expect(reasons[0]).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
    expect(reasons[1]).to.equal(reasons[0])
  })

  itEverywhere(
    'aborts the signal of the callback with LOST if the end of the session aborts both signals',
    async () => {
      const client = await fixture.open()
      const stop = new AbortController()
      // As in supervise(), whose signal aborts before the lock hears of the end.
      client.leaseSignal.addEventListener('abort', () => stop.abort(client.leaseSignal.reason))
      let leads = false
      let reason: unknown
      const leading = new LeaderElection(client, fixture.path).lead(
        async held => {
          leads = true
          await once(held.signal, 'abort')
          reason = held.signal.reason
        },
        { signal: stop.signal },
      )
      await fixture.until(() => leads)
      await client.close()
      await leading
      expect(reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      expect(reason).to.have.nested.property('cause.code', 'CLOSED')
    },
  )

  itInVirtualTime('rejects with the error of the callback although it has a signal, and resigns', async () => {
    const stop = new AbortController()
    const election = new LeaderElection(await fixture.open(), fixture.path)
    let terms = 0
    const leading = election.lead(
      () => {
        if (++terms === 1) throw new Error('mine')
        stop.abort()
      },
      { signal: stop.signal },
    )
    expect(await failureOf(leading)).to.have.property('message', 'mine')
    expect([terms, await election.leader()]).to.deep.equal([1, null])
  })

  itInVirtualTime('leaves no listener on lead()’s signal, however many terms there were', async () => {
    const { signal } = new AbortController()
    const client = await fixture.open()
    let terms = 0
    const leading = new LeaderElection(client, fixture.path).lead(
      held => {
        if (++terms >= 50) throw new Error('enough')
        expect(getEventListeners(signal, 'abort')).to.have.lengthOf(1)
        expect(held.signal.aborted).to.equal(false)
      },
      { signal },
    )
    expect(await failureOf(leading)).to.have.property('message', 'enough')
    expect(getEventListeners(signal, 'abort')).to.deep.equal([])
  })

  itInVirtualTime('rejects with the error of the callback, and resigns', async () => {
    const election = new LeaderElection(await fixture.open(), fixture.path)
    expect(await failureOf(election.lead(() => Promise.reject(new Error('mine'))))).to.have.property('message', 'mine')
    expect(await election.leader()).to.equal(null)
  })

  describe('changes()', () => {
    itEverywhere('yields each leader, and null before the directory exists and after the last leader', async () => {
      const path = `${fixture.path}/later`
      const [a, b] = [await fixture.open(), await fixture.open()]
      const stop = new AbortController()
      const yielded: (string | null)[] = []
      const iterating = (async () => {
        const election = new LeaderElection(await fixture.open(), path)
        for await (const leader of election.changes({ signal: stop.signal })) yielded.push(leader && leader.id)
      })()
      const untilYielded = (...expected: (string | null)[]) =>
        fixture.until(() => JSON.stringify(yielded) === JSON.stringify(expected))
      await untilYielded(null)
      const first = await new LeaderElection(a, path, { id: 'a' }).campaign()
      await untilYielded(null, 'a')
      const next = new LeaderElection(b, path, { id: 'b' }).campaign()
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
      await first.release()
      await untilYielded(null, 'a', 'b')
      await (await next).release()
      await untilYielded(null, 'a', 'b', null)
      const ended = failureOf(iterating)
      stop.abort(new Error('enough'))
      expect(await ended).to.equal(stop.signal.reason)
    })

    itInVirtualTime('yields the participant with the lowest number, whatever the names are', async () => {
      const elections = []
      // The uuid of the first participant is the greatest.
      for (const random of [0.9, 0.5, 0.1]) {
        const client = await fixture.open({ random: () => random })
        const campaign = new LeaderElection(client, fixture.path, { id: String(random) }).campaign()
        elections.push(campaign)
        await fixture.until(async () => (await fixture.ephemeralNodes()).length === elections.length)
      }
      const changes = new LeaderElection(fixture.observer, fixture.path).changes()
      for (const [i, id] of ['0.9', '0.5', '0.1'].entries()) {
        expect((await changes.next()).value).to.include({ id })
        await (await elections[i])?.release()
      }
      await changes.return()
    })

    itInVirtualTime('yields the next leader also if it has the same id as the one before', async () => {
      const [a, b] = [await fixture.open(), await fixture.open()]
      const first = await new LeaderElection(a, fixture.path, { id: 'same' }).campaign()
      const next = new LeaderElection(b, fixture.path, { id: 'same' }).campaign()
      await fixture.until(async () => (await fixture.ephemeralNodes()).length === 2)
      const sessions: bigint[] = []
      for await (const leader of new LeaderElection(fixture.observer, fixture.path).changes()) {
        sessions.push(leader?.session ?? 0n)
        if (sessions.length === 2) break
        await first.release()
      }
      expect(sessions).to.deep.equal([a.sessionId, b.sessionId])
      await (await next).release()
    })

    for (const [title, kind, times] of [
      ['the leader’s node is deleted between getChildren and getData', 'getData', 3],
      ['the first candidate arrives just after getChildren', 'getChildren', 1],
      ['the directory is created just after getChildren', 'getChildren', 2],
    ] as const)
      itInVirtualTime(`sets one watch even if ${title}`, async () => {
        const client = await fixture.open()
        const { observer, embedded, path } = fixture
        const held = await new LeaderElection(client, path, { id: 'a' }).campaign({ watchOwnNode: false })
        embedded.faults.replace(kind, 'NONODE', { times, session: observer.sessionId })
        for await (const leader of new LeaderElection(observer, path).changes()) {
          // As of the first list.
          if (leader === null) continue
          expect(leader).to.include({ id: 'a' })
          await observer.settled()
          expect(embedded.snapshot().watches.map(watch => watch.path)).to.deep.equal([held.path])
          await held.release()
          break
        }
      })
  })
})
