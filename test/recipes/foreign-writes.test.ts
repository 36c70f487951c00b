// What recipes do if another client writes between two of their steps, and at servers without persistent watches.
import { expect } from 'chai'
import { PersistentEphemeral, Queue, TicketMutex, type Held } from '../../src/recipes/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { CacheUnderTest } from './cache/cache-under-test.ts'
import { onBothServers } from './fixture.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'

type Kind = (typeof kindsUnderFaults)[number]

onBothServers('With other clients that write between two steps,', (fixture, { itInVirtualTime }) => {
  const tree = new CacheUnderTest(fixture)

  describe('a PersistentEphemeral that takes over the node of an older session', () => {
    for (const [what, foreign, outcome] of [
      ['writes the data', path => fixture.observer.setData(path, 'newer'), 'taken over'],
      [
        'puts a persistent node there',
        async path => {
          await fixture.observer.delete(path)
          await fixture.observer.create(path)
          await fixture.observer.setData(path, 'persistent')
        },
        'left',
      ],
      ['deletes it', path => fixture.observer.delete(path), 'created'],
    ] as const satisfies readonly (readonly [string, (path: string) => Promise<unknown>, string])[])
      itInVirtualTime(`reads it again if another client ${what} after the read`, async () => {
        const path = `${fixture.path}/node`
        await fixture.observer.create(path, 'old', { mode: 'ephemeral' })
        const { faultyDial, client } = await fixture.openWithFaults()
        const node = new PersistentEphemeral(path, { data: 'new' })
        const replacing = faultyDial.holdRequest(opcodes.multi)
        const starting = outcomeOf(node.start(client))
        await replacing
        await foreign(path)
        const before = (await fixture.observer.exists(path))?.mzxid
        const reads = client.stats.replies
        faultyDial.deliver()
        if (outcome === 'left') {
          expect(await starting).to.have.property('code', 'NODEEXISTS')
          expect((await fixture.observer.exists(path))?.mzxid).to.equal(before)
        } else {
          await fixture.until(async () => (await fixture.observer.exists(path))?.ephemeralOwner === client.sessionId)
          expect(client.stats.replies - reads, 'it has read the node again').to.be.at.least(3)
        }
        await node.close()
        await client.settled()
      })
  })

  itInVirtualTime('a lock’s node never names a life that has ended after it was found', async () => {
    const path = `${fixture.path}/lock`
    await new TicketMutex(await fixture.open(), path).use(() => undefined)
    const life = String((await fixture.observer.getData(path)).data)
    await fixture.observer.setData(path, 'other data')
    const client = await fixture.open()
    const read = fixture.embedded.faults.hold('getChildren', { session: client.sessionId })
    const acquiring = new TicketMutex(client, path).acquire()
    await read.triggered
    await fixture.observer.delete(`${path}/${life}`)
    const before = (await fixture.observer.exists(path))?.version ?? 0
    read.release()
    const held = await acquiring
    expect(held.path).not.to.contain(life)
    expect((await fixture.observer.exists(path))?.version, 'only the next life is named').to.equal(before + 1)
    await held.release()
  })

  /** The states of a lock's node before its first contender, and whether other nodes may be missing. */
  const beginnings: Readonly<Record<string, (path: string, Lock: Kind) => Promise<unknown>>> = {
    'that has no node': () => Promise.resolve(),
    'whose node exists': path => fixture.observer.ensurePath(path),
    'that was used before': (path, { Lock }) => new Lock(fixture.observer, path).use(() => undefined),
  }
  /** The calls, and which reply is lost after the other client's write. */
  const contending = [
    { op: 'acquire', loses: 0 },
    { op: 'tryAcquire', loses: 0 },
    ...[1, 2, 3].map(loses => ({ op: 'tryAcquire', loses }) as const),
  ] as const
  for (const [which, begin] of Object.entries(beginnings))
    for (const { op, loses } of contending.filter(each => each.loses === 0 || which === 'that was used before'))
      for (const kind of kindsUnderFaults.filter(({ isQueue }) => isQueue || which !== 'whose node exists'))
        itInVirtualTime(
          `a ${kind.Lock.name} ${which} has one holder if another client acquires it just before any request of ${op}()${loses > 0 ? `, which then loses reply ${loses}` : ''}`,
          async () => {
            const { Lock, Rival = Lock } = kind
            for (let [nth, isHeld] = [1, true]; isHeld; nth++) {
              const path = `${fixture.path}/above/lock-${nth}`
              await begin(path, kind)
              const { faultyDial, client } = await fixture.openWithFaults()
              const holds = trackSettled(faultyDial.holdRequest('any', nth))
              const acquiring: Promise<Held | null> = new Lock(client, path)[op]()
              const isGranted = trackSettled(acquiring)
              await fixture.until(() => holds() || isGranted())
              isHeld = !isGranted()
              const rival = isHeld ? await new Rival(fixture.observer, path).tryAcquire() : null
              if (loses > 0) void faultyDial.dropReply('any', loses)
              faultyDial.deliver()
              await fixture.sleep(1000)
              faultyDial.heal()
              const waits = op === 'acquire' && rival !== null
              expect(isGranted(), `before request ${nth}`).to.equal(!waits)
              await rival?.release()
              const held = await acquiring
              if (op === 'acquire' || rival === null) {
                expect(held?.signal.aborted).to.equal(false)
                expect(await new Rival(fixture.observer, path).tryAcquire()).to.equal(null)
              } else expect(held).to.equal(null)
              await held?.release()

              await client.settled()
              const nodes = [...fixture.embedded.snapshot().nodes.keys()].filter(node => node.startsWith(`${path}/`))
              const depth = path.split('/').length + 1
              expect(await fixture.ephemeralNodes(), 'what the contenders leave').to.deep.equal([])
              if (Lock.name === 'TicketMutex')
                expect(
                  nodes.filter(node => node.split('/').length === depth),
                  'lives',
                ).to.have.length(1)
              await client.close()
            }
          },
        )

  for (const hasWatches of [true, false]) {
    const where = hasWatches ? '' : ', at a server before 3.6'
    const begin = () => {
      if (!hasWatches) fixture.embedded.faults.replace('addWatch', 'UNIMPLEMENTED', { times: Infinity })
    }

    itInVirtualTime(`a cache tells each of many lives of its root${where}`, async () => {
      begin()
      const path = `${fixture.path}/root`
      await using cache = tree.open(await fixture.open(), {}, path)
      await cache.ready
      for (let i = 1; i <= 5; i++) {
        await tree.create('/root')
        await fixture.until(() => tree.changes.length === 2 * i - 1)
        await fixture.observer.delete(path)
        await fixture.until(() => tree.changes.length === 2 * i)
      }
      expect(new Set(tree.changes)).to.deep.equal(
        new Set(['created /root: undefined > t', 'deleted /root: t > undefined']),
      )
    })

    for (const others of [0, 3])
      itInVirtualTime(
        `a queue offers its process at once an item that it gave back, with ${others} others${where}`,
        async () => {
          begin()
          await using queue = new Queue(await fixture.open(), `${fixture.path}/queue`)
          await queue.putMany(['first', ...Array.from({ length: others }, (_, i) => `other ${i}`)])
          for (let i = 0; i < 3; i++) {
            const item = await queue.take()
            expect(String(item.data)).to.equal('first')
            await fixture.sleep(5000)
            const startedAt = fixture.server.clock.now()
            await item.release()
            const again = await queue.take()
            expect(String(again.data)).to.equal('first')
            expect(fixture.server.clock.now() - startedAt).to.be.below(100)
            await again.release()
          }
          // A call that waits hears of it too.
          const all = []
          for (let i = 0; i <= others; i++) all.push(await queue.take())
          const waiting = queue.take()
          const isTaken = trackSettled(waiting)
          await fixture.sleep(500)
          expect(isTaken()).to.equal(false)
          await all[0]?.release()
          await fixture.sleep(100)
          expect(isTaken()).to.equal(true)
          await (await waiting).complete()
          for (const each of all.slice(1)) await each.complete()
        },
      )
  }
})
