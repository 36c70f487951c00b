import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Counter, LeaderElection, SharedValue, type Held, type VersionedData } from '../../../src/recipes/index.ts'
import { trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { PATH, Stage } from '../public-calls.ts'

onBothServers('The listeners of SharedValue and Counter', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string
  let reports: unknown[]

  beforeEach(() => {
    path = `${fixture.path}/value`
    reports = []
  })

  const open = () => fixture.open({ onUncaughtError: error => reports.push(error) })
  const valueOf = (client: Client) => new SharedValue(client, path, { initial: '-' })
  const newListener = () => {
    const called: string[] = []
    return { called, listener: ({ data, version }: VersionedData) => void called.push(`${String(data)} ${version}`) }
  }
  const untilLast = (called: readonly unknown[], last: unknown) => fixture.until(() => called.at(-1) === last)

  for (const [name, write] of Object.entries({
    SharedValue: (value: SharedValue) => value.set('a'),
    Counter: (_: unknown, counter: Counter) => counter.increment(),
  }))
    itInVirtualTime(`end at close(), which resolves when ${name} has removed the markers of its writes`, async () => {
      const client = await open()
      const [value, counter] = [new SharedValue(client, path), new Counter(client, path)]
      const held = fixture.embedded.faults.hold('delete', { session: client.sessionId })
      await write(value, counter)
      const isClosed = trackSettled(name === 'Counter' ? counter.close() : value.close())
      await held.triggered
      await fixture.sleep(100)
      expect(isClosed()).to.equal(false)
      held.release()
      await fixture.until(() => Promise.resolve(isClosed()))
    })

  itInVirtualTime('and the loops: one that comes during a read begins with a later one', async () => {
    const client = await open()
    await using value = valueOf(client)
    const writer = valueOf(fixture.observer)
    await writer.set('old')
    const held = fixture.embedded.faults.hold('getData', { session: client.sessionId })
    const first = value.changes()
    const told = first.next()
    await held.triggered
    await writer.set('new')
    const second = value.changes()
    const begins = second.next()
    held.release()
    expect([await told, await begins].map(each => String(each.value?.data))).to.deep.equal(['old', 'new'])
  })

  itEverywhere('get the last value after a reconnect, and no value twice', async () => {
    const { client, faultyDial } = await fixture.openWithFaults()
    const [value, writer] = [valueOf(client), valueOf(fixture.observer)]
    const { called, listener } = newListener()
    value.on('change', listener)
    await value.get()
    await fixture.waitForWatches(1)
    faultyDial.cut()
    await client.whenConnected()
    faultyDial.refuse()
    await writer.set('a')
    await writer.set('b')
    faultyDial.accept()
    await untilLast(called, 'b 1')
    value.off('change', listener)
    expect(called).to.deep.equal(['b 1'])
  })

  /** What follows a node that does not exist reads twice. The connection is lost between, after a call has read it. */
  for (const [name, follow] of Object.entries({
    SharedValue: async (client: Client, called: unknown[]) => {
      const value = valueOf(client).on('change', ({ data }) => called.push(String(data)))
      return [String((await value.get()).data), value] as const
    },
    Counter: async (client: Client, called: unknown[]) => {
      const counter = new Counter(client, path, { format: 'decimal' }).on('change', number =>
        called.push(String(number)),
      )
      return [String(await counter.get()), counter] as const
    },
    LeaderElection: async (client: Client, called: unknown[]) => {
      const election = new LeaderElection(client, path).on('change', leader => called.push(leader?.id))
      return [(await election.leader())?.id ?? 'null', election] as const
    },
  }))
    itEverywhere(
      `of ${name} get a change that comes after a read, also if their first read is repeated later`,
      async () => {
        const { client, faultyDial } = await fixture.openWithFaults()
        const { exists, getChildren2 } = opcodes
        const lost = faultyDial.dropReply(
          name === 'LeaderElection' ? getChildren2 : exists,
          name === 'LeaderElection' ? 3 : 1,
        )
        void lost.then(() => faultyDial.refuse())
        const called: unknown[] = []
        const [read, followed] = await follow(client, called)
        expect(read).to.be.oneOf(['-', '0', 'null'])
        await lost
        let held: Held | undefined
        if (name === 'LeaderElection') held = await new LeaderElection(fixture.observer, path, { id: '7' }).campaign()
        else await new Counter(fixture.observer, path, { format: 'decimal' }).set(7)
        faultyDial.accept()
        await untilLast(called, '7')
        expect(called).to.deep.equal(['7'])
        await followed.close()
        await held?.release()
      },
    )

  itInVirtualTime('of a Counter get its numbers, and nothing if the counter is created with its value', async () => {
    const [counter, writer] = [new Counter(await open(), path), new Counter(fixture.observer, path)]
    const called: bigint[] = []
    const listener = (number: bigint) => called.push(number)
    counter.on('change', listener)
    await counter.get()
    await fixture.observer.create(path)
    await writer.set(0)
    await writer.set(0)
    await writer.add(5)
    await untilLast(called, 5n)
    counter.off('change', listener)
    await writer.add(1)
    expect(called).to.deep.equal([5n])
  })

  itInVirtualTime('are not called after off(), also if it is called in the listener before', async () => {
    const value = valueOf(await open())
    const { called, listener } = newListener()
    value.on('change', listener)
    value.off('change', listener)
    const first = (each: VersionedData) => {
      listener(each)
      value.off('change', first).off('change', second)
    }
    const second = () => expect.fail('the second listener was called')
    value.on('change', first).on('change', second)
    await value.get()
    await valueOf(fixture.observer).set('a')
    await untilLast(called, 'a 0')
    await valueOf(fixture.observer).set('b')
    await fixture.sleep(5000)
    expect(called).to.deep.equal(['a 0'])
    expect(reports).to.deep.equal([])
  })

  itInVirtualTime('leave no watch and no timer after off() during a read', async () => {
    const client = await open()
    const value = valueOf(client)
    const { called, listener } = newListener()
    const timers = fixture.timerCount()
    value.on('change', listener)
    await Promise.resolve()
    value.off('change', listener)
    await client.settled()
    await client.sync('/')
    expect(called).to.deep.equal([])
    expect(fixture.timerCount()).to.equal(timers)
    expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
  })

  itInVirtualTime(
    'are removed if the data has another format, and the error is passed to onUncaughtError',
    async () => {
      const counter = new Counter(await open(), path)
      await fixture.observer.create(path, 'abc')
      const called: bigint[] = []
      const listener = (number: bigint) => called.push(number)
      counter.on('change', listener)
      await fixture.until(() => reports.length > 0)
      expect(reports[0]).to.include({ code: 'UNSUPPORTED', path })
      await new Counter(fixture.observer, path).set(1)
      counter.on('change', listener)
      await counter.get()
      await new Counter(fixture.observer, path).set(2)
      await untilLast(called, 2n)
      counter.off('change', listener)
      expect(called).to.deep.equal([2n])
      expect(reports).to.have.length(1)
    },
  )
})

describe('A loop over the changes of a SharedValue', () => {
  it('is told the value although another loop begins during each read', async () => {
    const stage = await Stage.open()
    const { clock, server, scene } = stage
    await scene.other.create(PATH, 'a')
    server.faults.delay('getData', 10, { times: Infinity })
    const value = scene.closeLater(new SharedValue(scene.client, PATH))
    const told: string[] = []
    for (let i = 0; i < 20; i++) {
      void value
        .changes()
        .next()
        .then(each => told.push(String(each.value?.data)))
      await clock.advance(5)
    }
    expect(told.length).to.be.above(10)
    expect(new Set(told)).to.deep.equal(new Set(['a']))
    await stage.close()
  })
})
