import { expect } from 'chai'
import { supervise, ZooKeeperError, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { RecipeError, Partitioner, type Held } from '../../../src/recipes/index.ts'
import { abortOf, failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const items = Array.from({ length: 12 }, (_, i) => `shard ${i}`)

/** A member, and the items that it owns. */
class Member {
  readonly owned = new Map<string, Held>()
  readonly #stop = new AbortController()
  readonly running: Promise<void>

  constructor(
    client: Client,
    path: string,
    id: string,
    { list = items, linger = () => Promise.resolve() }: { list?: string[]; linger?: () => Promise<void> } = {},
  ) {
    const partitioner = new Partitioner(client, path, list, { id })
    const own = async (item: string, held: Held) => {
      this.owned.set(item, held)
      await abortOf(held.signal)
      await linger()
      this.owned.delete(item)
    }
    this.running = partitioner.run(own, { signal: this.#stop.signal })
    this.running.catch(() => undefined)
  }

  stop(): Promise<void> {
    this.#stop.abort()
    return this.running
  }
}

onBothServers('Partitioner', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/shared`
  })

  const untilShared = (...members: Member[]) =>
    fixture.until(() => {
      const owned = members.flatMap(({ owned }) => [...owned.keys()])
      return owned.length === items.length && new Set(owned).size === items.length && members.every(m => m.owned.size)
    })

  itEverywhere('gives every item one owner, and shares again when a member joins, leaves or dies', async () => {
    const [one, two, three] = await fixture.openMany(3)
    const a = new Member(one as Client, path, 'a')
    await untilShared(a)
    const before = new Map(a.owned)
    const b = new Member(two as Client, path, 'b')
    await untilShared(a, b)
    // What stays is not released and taken again.
    for (const [item, held] of a.owned) expect(held).to.equal(before.get(item))
    for (const [item, held] of b.owned) expect(held.token > (before.get(item)?.token ?? 0n)).to.equal(true)
    const c = new Member(three as Client, path, 'c')
    await untilShared(a, b, c)
    const owners = await new Partitioner(fixture.observer, path, items).owners()
    for (const [item, owner] of owners) expect({ a, b, c }[owner ?? '']?.owned.has(item), item).to.equal(true)
    await fixture.expire(three as Client)
    expect(await failureOf(c.running)).to.have.property('code', 'SESSIONEXPIRED')
    expect(c.owned.size).to.equal(0)
    await untilShared(a, b)
    await b.stop()
    await untilShared(a)
    await a.stop()
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    expect([...(await new Partitioner(fixture.observer, path, items).owners()).values()]).to.deep.equal(
      items.map(() => null),
    )
  })

  itInVirtualTime('passes an item on only when its task has ended', async () => {
    const [one, two] = await fixture.openMany(2)
    let finish!: () => void
    const finished = new Promise<void>(resolve => (finish = resolve))
    const a = new Member(one as Client, path, 'a', { linger: () => finished })
    await untilShared(a)
    const b = new Member(two as Client, path, 'b')
    await fixture.until(() => [...a.owned.values()].some(({ signal }) => signal.aborted))
    await fixture.sleep(60_000)
    expect(b.owned.size).to.equal(0)
    for (const held of a.owned.values()) expect(held.validFor()).to.be.above(0)
    const [moving] = [...a.owned.values()].filter(({ signal }) => signal.aborted)
    expect(String(moving?.signal.reason)).to.match(/^Error: shard \d+ passes to another member/)
    finish()
    await untilShared(a, b)
    await Promise.all([a.stop(), b.stop()])
  })

  itInVirtualTime('keeps an item whose task has returned, and does not run the task again', async () => {
    const client = await fixture.open()
    const stop = new AbortController()
    let runs = 0
    const running = new Partitioner(client, path, ['one']).run(() => void runs++, { signal: stop.signal })
    await fixture.until(() => runs === 1)
    await fixture.sleep(10_000)
    expect(runs).to.equal(1)
    expect(await fixture.ephemeralNodes(`${path}/owners`)).to.deep.equal([`${path}/owners/one`])
    stop.abort()
    await running
  })

  itInVirtualTime(
    'ends the tasks with LOST when the session must be presumed lost, and takes the items again',
    async () => {
      const { faultyDial, client } = await fixture.openWithFaults({ sessionTimeout: 4000 })
      const a = new Member(client, path, 'a')
      await untilShared(a)
      const [held] = [...a.owned.values()]
      faultyDial.refuse()
      await abortOf(held?.signal as AbortSignal)
      expect(held?.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
      expect(held?.validFor()).to.equal(0)
      faultyDial.accept()
      await fixture.until(
        () => a.owned.size === items.length && [...a.owned.values()].every(each => !each.signal.aborted),
      )
      for (const each of a.owned.values()) expect(each.token > (held?.token ?? 0n)).to.equal(true)
      await a.stop()
    },
  )

  itEverywhere('takes an item again if another client deletes its node, with a larger token', async () => {
    const client = await fixture.open()
    const a = new Member(client, path, 'a', { list: ['one'] })
    await fixture.until(() => a.owned.size === 1)
    const held = a.owned.get('one')
    await fixture.observer.delete(`${path}/owners/one`)
    await fixture.until(() => a.owned.size === 1 && a.owned.get('one') !== held)
    expect(held?.signal.reason).to.have.property('code', 'LOST')
    expect((a.owned.get('one')?.token ?? 0n) > (held?.token ?? 0n)).to.equal(true)
    await a.stop()
  })

  itInVirtualTime('keeps its items while its member node is deleted and created again', async () => {
    const [one, two] = await fixture.openMany(2)
    const a = new Member(one as Client, path, 'a')
    const b = new Member(two as Client, path, 'b')
    await untilShared(a, b)
    const before = new Map(a.owned)
    await fixture.observer.delete(`${path}/members/a`)
    await fixture.sleep(1000)
    await untilShared(a, b)
    expect([...a.owned.values()]).to.have.members([...before.values()])
    await Promise.all([a.stop(), b.stop()])
  })

  itInVirtualTime('rejects with the error of a task, after it has ended the others and left', async () => {
    const client = await fixture.open()
    const failure = new Error('the disk is full')
    const ended: string[] = []
    const running = new Partitioner(client, path, ['a', 'b', 'c']).run(async (item, held) => {
      if (item === 'b') throw failure
      await abortOf(held.signal)
      ended.push(item)
    })
    expect(await failureOf(running)).to.equal(failure)
    expect(await fixture.ephemeralNodes()).to.deep.equal([])
    // A task that had not started yet does not start any more.
    expect(['a', 'c']).to.include.members(ended)
  })

  itInVirtualTime('goes on in the next session of supervise()', async () => {
    const stop = new AbortController()
    const sessions = new Set<bigint>()
    const options = { ...fixture.server.options, signal: stop.signal }
    const running = supervise(fixture.server.connectString, options, (zk, signal) =>
      new Partitioner(zk, path, ['one'], { id: 'a' }).run(
        async (_, held) => {
          sessions.add(zk.sessionId)
          if (sessions.size === 3) stop.abort()
          else await fixture.expire(zk)
          await abortOf(held.signal)
        },
        { signal },
      ),
    )
    await failureOf(running)
    expect(sessions.size).to.equal(3)
  })

  itInVirtualTime('rejects when its session ends, also if it owns no item', async () => {
    const [one, two] = await fixture.openMany(2)
    const members = [
      new Member(one as Client, path, 'a', { list: ['one'] }),
      new Member(two as Client, path, 'b', { list: ['one'] }),
    ]
    await fixture.until(() => members.some(({ owned }) => owned.size === 1))
    const isOwner = members[0]?.owned.size === 1
    const [idle, idleClient, owner] = isOwner ? [members[1], two, members[0]] : [members[0], one, members[1]]
    await fixture.sleep(100)
    await fixture.expire(idleClient as Client)
    expect(await failureOf(idle?.running ?? Promise.resolve())).to.have.property('code', 'SESSIONEXPIRED')
    await owner?.stop()
  })

  itInVirtualTime('resolves at once if its signal has aborted, without any request', async () => {
    let frames = 0
    const client = await fixture.open({ onFrame: () => frames++ })
    frames = 0

    await new Partitioner(client, path, ['one']).run(() => expect.fail('ran'), { signal: AbortSignal.abort() })
    expect(frames).to.equal(0)
  })

  for (const opcode of ['create2', 'getData', 'addWatch', 'getChildren2', 'delete', 'exists'] as const)
    for (const fault of ['dropRequest', 'dropReply'] as const)
      for (const nth of [1, 2, 3]) {
        const define = fault === 'dropRequest' || nth > 1 ? itInVirtualTime : itEverywhere
        define(`owns, passes on and releases if the connection is lost at ${opcode} ${nth} (${fault})`, async () => {
          const { faultyDial, client } = await fixture.openWithFaults()
          const other = await fixture.open()
          void faultyDial[fault](opcodes[opcode], nth)
          const a = new Member(client, path, 'a')
          await untilShared(a)
          const b = new Member(other, path, 'b')
          await untilShared(a, b)
          await a.stop()
          await untilShared(b)
          await b.stop()
        })
      }

  itInVirtualTime('refuses wrong arguments', async () => {
    const client = await fixture.open()
    const refused = (make: () => unknown, detail: RegExp) =>
      expect(make).to.throw(ZooKeeperError, detail).with.property('code', 'BADARGUMENTS')
    refused(() => new Partitioner(client, '/p', ['a'], { id: 'a/b' }), /without '\/'/)
    const partitioner = new Partitioner(client, '/p', ['a'])
    expect(await failureOf(partitioner.run(5 as never))).to.have.property('code', 'BADARGUMENTS')
  })

  itInVirtualTime('warns once if another member has its id, and goes on', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    try {
      const [a, b] = [await fixture.open(), await fixture.open()]
      const first = new Member(a, fixture.path, 'same')
      await fixture.until(() => Promise.resolve(first.owned.size === items.length))
      const second = new Member(b, fixture.path, 'same')
      await fixture.until(() => Promise.resolve(warnings.length > 0))
      const third = new Member(await fixture.open(), fixture.path, 'other')
      await fixture.until(() => Promise.resolve(third.owned.size > 0))
      await third.stop()
      expect(warnings.length, 'of each of the two').to.be.within(1, 2)
      expect(warnings[0]).to.include({ code: 'ZKWIRE_SAME_ID' })
      expect(warnings[0]?.message).to.contain("'same'").and.contain(b.sessionId.toString(16))
      expect([first.owned.size, second.owned.size]).to.deep.equal([items.length, 0])
      await second.stop()
      await first.stop()
      expect(warnings).to.have.length(1)
    } finally {
      process.off('warning', onWarning)
    }
  })

  itInVirtualTime('has a node for items with any characters', async () => {
    const client = await fixture.open()
    const list = ['.', '..', 'a/b', 'ü', '%2E', 'zookeeper']
    const a = new Member(client, path, 'a', { list })
    await fixture.until(() => a.owned.size === list.length)
    await a.stop()
  })
})
