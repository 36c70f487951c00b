// The lives of a TicketMutex: directories whose names never return.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../../src/index.ts'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { TicketMutex, type Held } from '../../../src/recipes/index.ts'
import { onRequest, opcodesInto } from '../../support/sent-opcodes.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LAST = 0x7fff_ffff

onBothServers('a life of a TicketMutex', (fixture, { itInVirtualTime, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    observer = fixture.observer
    path = `${fixture.path}/lock`
  })

  const nameInData = async () => (await observer.getData(path)).data?.toString() ?? ''
  const children = async () => (await observer.getChildren(path)).children
  const useOnce = (client: Client) => new TicketMutex(client, path).use(held => held.path)
  /** Begins a life, and returns its name. */
  const begin = async () => {
    await useOnce(await fixture.open())
    return nameInData()
  }

  itEverywhere('has a directory with a random name, which is the data of the lock’s node', async () => {
    const name = await begin()
    expect(name).to.match(UUID)
    expect(await children()).to.deep.equal([name])
    expect(await useOnce(await fixture.open())).to.equal(`${path}/${name}/t-0000000001`)
  })

  for (const data of ['other data', '0000000001', '', null])
    itEverywhere(
      `begins in a lock’s node with ${JSON.stringify(data)} as data, and leaves its other children`,
      async () => {
        await observer.create(path, data)
        await observer.create(`${path}/other`)
        const name = await begin()
        expect(name).to.match(UUID)
        expect(await children()).to.have.members([name, 'other'])
      },
    )

  itEverywhere('is followed by one with another name if its directory is deleted', async () => {
    const client = await fixture.open()
    const first = await useOnce(client)
    const name = await nameInData()
    await observer.delete(`${path}/${name}`)
    const second = await useOnce(client)
    expect(second).not.to.equal(first)
    expect(await nameInData()).not.to.equal(name)
    expect(await children()).to.deep.equal([await nameInData()])
  })

  itInVirtualTime('has its tickets counted by a tryAcquire() that knows only the life before', async () => {
    const sent: number[] = []
    const client = await fixture.open({ onFrame: opcodesInto(sent) })
    await useOnce(client)
    await observer.delete(`${path}/${await nameInData()}`)
    const held = await new TicketMutex(await fixture.open(), path).acquire()
    sent.length = 0
    expect(await new TicketMutex(client, path).tryAcquire()).to.equal(null)
    expect(sent).not.to.include.oneOf([opcodes.create, opcodes.create2, opcodes.multi])
    await held.release()
    expect(await useOnce(client)).to.match(/t-0000000001$/)
  })

  itEverywhere('is begun once by sessions that need it at the same time', async () => {
    await observer.create(path, 'other data')
    const clients = await fixture.openMany(8)
    const paths = await Promise.all(clients.map(useOnce))
    const name = await nameInData()
    expect(await children()).to.deep.equal([name])
    expect(paths).to.have.members(clients.map((_, i) => `${path}/${name}/t-000000000${i}`))
  })

  itEverywhere('is found again, and named again, after another client has overwritten the data', async () => {
    const held = await new TicketMutex(await fixture.open(), path).acquire()
    const name = await nameInData()
    await observer.setData(path, 'other data')
    const next = new TicketMutex(await fixture.open(), path).acquire()
    const isGranted = trackSettled(next)
    await fixture.waitForWatches(2)
    expect([isGranted(), await nameInData(), await children()]).to.deep.equal([false, name, [name]])
    await held.release()
    await (await next).release()
  })

  for (const data of ['other data', 'the name of a life without a directory'])
    itEverywhere(
      `does not begin a second time in a lock’s node that was deleted and created again meanwhile (${data})`,
      async () => {
        await observer.create(path, data === 'other data' ? data : '01234567-89ab-4cde-8f01-23456789abcd')
        const { faultyDial, client } = await fixture.openWithFaults()
        const sent = faultyDial.holdRequest(opcodes.multi)
        const late = new TicketMutex(client, path).acquire()
        await sent
        const isGranted = trackSettled(late)
        await observer.deleteRecursive(path)
        const held = await new TicketMutex(await fixture.open(), path).acquire()
        // The late transaction finds the same version of the data.
        expect((await observer.exists(path))?.version).to.equal(0)
        faultyDial.deliver()
        await fixture.waitForWatches(2)
        expect(isGranted()).to.equal(false)
        expect(await children()).to.deep.equal([await nameInData()])
        await held.release()
        await (await late).release()
      },
    )

  for (const op of ['acquire', 'tryAcquire'] as const)
    for (const fault of ['dropRequest', 'dropReply'] as const)
      itInVirtualTime(
        `is the only child of a lock’s node that had none, whichever request of ${op}() another client is faster than, and with each ${fault} after that`,
        async () => {
          for (let [nth, isHeld] = [1, true]; isHeld; nth++)
            for (let [lost, hasHappened] = [1, true]; hasHappened; lost++) {
              path = `${fixture.path}/lock-${nth}-${lost}`
              await observer.create(path, 'other data')
              const { faultyDial, client } = await fixture.openWithFaults()
              const holds = trackSettled(faultyDial.holdRequest('any', nth))
              const acquiring: Promise<Held | null> = new TicketMutex(client, path)[op]()
              const isSettled = trackSettled(acquiring)
              await fixture.until(() => holds() || isSettled())
              isHeld = holds()
              // It must not wait: the request that is held may be sent with the create of a ticket, which is then ahead.
              if (isHeld) await (await new TicketMutex(observer, path).tryAcquire())?.release()
              const happened = trackSettled(faultyDial[fault]('any', lost))
              faultyDial.deliver()
              const held = await acquiring
              await client.settled()
              hasHappened = happened()
              faultyDial.heal()
              expect(await children(), `before request ${nth}, lost ${lost}`).to.deep.equal([await nameInData()])
              await held?.release()
              await client.close()
            }
        },
      )

  itEverywhere('is known to all locks of a session, so that only the first one reads its name', async () => {
    await begin()
    const roundTrips: number[] = []
    let wasAnswered = true
    const client = await fixture.open({
      onFrame({ from, first, bytes }: ObservedFrame) {
        if (first || (from === 'client' && RequestHeader.decode(bytes).type === opcodes.ping)) return
        if (from === 'client' && wasAnswered) roundTrips.push(RequestHeader.decode(bytes).type)
        wasAnswered = from === 'server'
      },
    })
    const acquire = async (at = path) => {
      roundTrips.length = 0
      const held = await new TicketMutex(client, at).acquire()
      const count = roundTrips.length
      await held.release()
      expect(roundTrips, 'release').to.have.length(count + 1)
      return count
    }
    expect([await acquire(), await acquire()]).to.deep.equal([2, 1])
    // The lock’s node is missing, its life begins, and a ticket is created.
    expect([await acquire(`${fixture.path}/new`), await acquire(`${fixture.path}/new`)]).to.deep.equal([3, 1])
    await observer.deleteRecursive(path)
    // The same, after the create of a ticket was refused.
    expect([await acquire(), await acquire()]).to.deep.equal([4, 1])
    await observer.deleteRecursive(`${path}/${await nameInData()}`)
    // In between the client also creates a node of its own, and reads the lock’s node again.
    expect([await acquire(), await acquire()]).to.deep.equal([6, 1])
  })

  itInVirtualTime('is remembered for at most a thousand locks of a session', async () => {
    let lists = 0
    const client = await fixture.open({
      onFrame: onRequest(opcodes.getChildren2, () => lists++),
    })
    const listsToUse = async (i: number) => {
      lists = 0
      await new TicketMutex(client, `${path}/${i}`).use(() => undefined)
      return lists
    }
    for (let i = 0; i <= 1000; i++) await listsToUse(i)
    // A lock whose life was replaced takes the place of no other.
    await observer.deleteRecursive(`${path}/500`)
    await listsToUse(500)
    expect([await listsToUse(1), await listsToUse(0)]).to.deep.equal([0, 1])
  })

  describe('whose numbers are used up', () => {
    /** Begins a life whose next ticket has this number, and returns its name. */
    async function beginAt(next: number): Promise<string> {
      const name = await begin()
      fixture.embedded.setSequenceCounter(`${path}/${name}`, next)
      return name
    }

    for (const [numbers, next] of [
      ['the largest number', LAST],
      ['negative numbers', -LAST + 7],
    ] as const)
      itInVirtualTime(`is followed by another one, and its directory is deleted (${numbers})`, async () => {
        const name = await beginAt(next)
        const paths = [await useOnce(await fixture.open()), await useOnce(await fixture.open())]
        const second = await nameInData()
        expect(second).not.to.equal(name)
        expect(paths).to.deep.equal([0, 1].map(i => `${path}/${second}/t-000000000${i}`))
        expect(await children()).to.deep.equal([second])
      })

    itInVirtualTime('ends only when its last holder has released the lock', async () => {
      const name = await beginAt(LAST - 1)
      const held = await new TicketMutex(await fixture.open(), path).acquire()
      expect(held.path).to.equal(`${path}/${name}/t-2147483646`)
      const clients = await fixture.openMany(3)
      let inside = 1
      const acquired = clients.map(client =>
        new TicketMutex(client, path).use(async next => {
          expect(++inside).to.equal(1)
          await client.sync('/')
          inside--
          return next.path
        }),
      )
      const isOver = trackSettled(Promise.race(acquired))
      await fixture.waitForWatches(4)
      expect(await new TicketMutex(clients[0] ?? observer, path).tryAcquire()).to.equal(null)
      expect([isOver(), await nameInData()]).to.deep.equal([false, name])
      inside--
      await held.release()
      await Promise.all(acquired)
      expect(await children()).to.deep.equal([await nameInData()])
      expect(await nameInData()).not.to.equal(name)
    })

    itInVirtualTime('ends also if its last holder releases the lock just before a contender looks at it', async () => {
      await beginAt(LAST - 1)
      const held = await new TicketMutex(await fixture.open(), path).acquire()
      const client = await fixture.open()
      const refusal = fixture.embedded.faults.hold('multi', { session: client.sessionId })
      const acquiring = new TicketMutex(client, path).acquire()
      await refusal.triggered
      await held.release()
      refusal.release()
      await (await acquiring).release()
    })

    for (const [call, op, isTaken] of [
      ['acquire()', 'acquire', false],
      ['acquire() that waits for the last holder', 'acquire', true],
      ['tryAcquire()', 'tryAcquire', false],
    ] as const)
      for (const fault of ['dropRequest', 'dropReply'] as const)
        itInVirtualTime(`is followed by another one with each ${fault} of ${call}`, async () => {
          for (let [nth, hasHappened] = [1, true]; hasHappened; nth++) {
            path = `${fixture.path}/lock-${nth}`
            await beginAt(isTaken ? LAST - 1 : LAST)
            const last = isTaken ? await new TicketMutex(await fixture.open(), path).acquire() : undefined
            const { faultyDial, client } = await fixture.openWithFaults()
            const happened = trackSettled(faultyDial[fault]('any', nth))
            const calling = new TicketMutex(client, path)[op]()
            await fixture.sleep(100)
            await last?.release()
            const held = await calling
            expect(held?.path, `lost ${nth}`).to.match(/t-0000000000$/)
            expect(await children()).to.deep.equal([await nameInData()])
            hasHappened = happened()
            faultyDial.heal()
            await held?.release()
            await client.settled()
            expect(await fixture.ephemeralNodes()).to.deep.equal([])
          }
        })

    itInVirtualTime('leaves no node and no watch of a contender that gives up', async () => {
      await beginAt(LAST - 1)
      const held = await new TicketMutex(await fixture.open(), path).acquire()
      const watches = await fixture.watchCount()
      const client = await fixture.open()
      const abort = new AbortController()
      const failing = failureOf(new TicketMutex(client, path).acquire({ signal: abort.signal }))
      await fixture.until(async () => (await fixture.watchCount()) > watches)
      abort.abort(new Error('cancelled'))
      await failing
      await client.settled()
      expect(await fixture.watchCount()).to.equal(watches)
      expect(await fixture.ephemeralNodes()).to.deep.equal([held.path])
      await held.release()
    })

    itInVirtualTime('is followed by another one for tryAcquire(), unless it has tickets', async () => {
      await beginAt(LAST)
      const client = await fixture.open()
      const got = (await new TicketMutex(client, path).tryAcquire()) as Held
      expect(got.path).to.match(/t-0000000000$/)
      await got.release()
    })
  })
})
