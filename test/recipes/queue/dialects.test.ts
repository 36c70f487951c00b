// The names of contenders’ nodes: those of other libraries, custom and foreign ones, and names that occur again in a
// recreated directory.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { CreateRequest, opcodes } from '../../../src/protocol/index.ts'
import {
  HerdMutex,
  Mutex,
  TicketMutex,
  type Dialect,
  type Held,
  type MutexOptions,
} from '../../../src/recipes/index.ts'
import { onRequest } from '../../support/sent-opcodes.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const named = (name: string): Dialect => ({ prefix: `${name}_lock_`, pattern: new RegExp(`^${name}_lock_(\\d{10})$`) })

onBothServers('a dialect', (fixture, { itInVirtualTime, itEverywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    ;({ observer, path } = fixture)
  })

  const nameOf = (held: Held) => held.path.slice(path.length + 1)

  /** Names of nodes that are not contenders, though some are similar. */
  const foreign = [
    'hello',
    'x',
    '_c_',
    '_c_x',
    'lock-',
    'lock-1',
    '_c_lock-99',
    'x-',
    'x-1-2',
    't-',
    't-1',
    '__lock__',
    '__proto__',
    'constructor',
    '0000000000',
    'lock-00000000000',
  ]

  const dialects: Record<string, { dialect: MutexOptions['dialect']; name: RegExp; isUnique: boolean }> = {
    curator: { dialect: 'curator', name: /^_c_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}-lock-\d{10}$/, isUnique: true },
    kazoo: { dialect: 'kazoo', name: /^[\da-f]{32}__lock__\d{10}$/, isUnique: true },
    zookeeper: { dialect: 'zookeeper', name: /^x-\d+-\d{10}$/, isUnique: false },
    'with a constant prefix': { dialect: named('orders'), name: /^orders_lock_\d{10}$/, isUnique: false },
    'with a prefix function': {
      dialect: { prefix: uuid => `host-${uuid}-W-`, pattern: /^host-.*-W-(\d{10})$/ },
      name: /^host-[\da-f-]{36}-W-\d{10}$/,
      isUnique: true,
    },
    'with a prefix function that ignores the UUID': {
      dialect: { prefix: (_, session) => `${session.toString(16)}-W-`, pattern: /-W-(\d{10})$/ },
      name: /^[\da-f]+-W-\d{10}$/,
      isUnique: false,
    },
  }

  for (const [title, { dialect, name, isUnique }] of Object.entries(dialects)) {
    describe(title, () => {
      const options: MutexOptions = { dialect: dialect ?? 'curator', id: 'me' }
      const lockOf = (client: Client) => new Mutex(client, path, options)

      itEverywhere(
        'names its nodes by its pattern, and contenders() reports their ids in the order of the queue',
        async () => {
          const [holder, waiter] = [await fixture.open(), await fixture.open()]
          const held = await lockOf(holder).acquire()
          expect(nameOf(held)).to.match(name)
          const acquiring = lockOf(waiter).acquire()
          await fixture.waitForWatches(1)
          const contenders = await lockOf(observer).contenders()
          expect(contenders.map(({ id, session }) => [id, session])).to.deep.equal([
            ['me', holder.sessionId],
            ['me', waiter.sessionId],
          ])
          await held.release()
          await (await acquiring).release()
        },
      )

      itInVirtualTime('reports an id that looks like a UUID unchanged', async () => {
        const id = '123e4567-e89b-42d3-a456-426614174000'
        const held = await new Mutex(await fixture.open(), path, { ...options, id }).acquire()
        const [contender] = await lockOf(observer).contenders()
        expect(contender?.id).to.equal(id)
        await held.release()
      })

      itInVirtualTime('grants one acquire() of a session at a time, in the order of the queue', async () => {
        const client = await fixture.open()
        let inside = 0
        const order: bigint[] = []
        const acquireOnce = () =>
          lockOf(client).use(async held => {
            expect(++inside).to.equal(1)
            order.push(held.token)
            await client.exists('/')
            inside--
          })
        await Promise.all(Array.from({ length: 8 }, acquireOnce))
        expect(order).to.deep.equal([...order].sort((a, b) => (a < b ? -1 : 1)))
      })

      itEverywhere(
        'finds the nodes of two creates whose replies were lost, when the session has another node there',
        async () => {
          const { faultyDial, client } = await fixture.openWithFaults()
          const held = await lockOf(client).acquire()
          const lost = faultyDial.dropReply(opcodes.create2)
          const acquiring = [lockOf(client).acquire(), lockOf(client).acquire()]
          await lost
          await fixture.waitForWatches(2)
          expect(await lockOf(observer).contenders()).to.have.length(3)
          let { token } = held
          await held.release()
          for (const each of acquiring) {
            const next = await each
            expect(next.token > token).to.equal(true)
            token = next.token
            await next.release()
          }
        },
      )

      itInVirtualTime(
        'deletes the node of a cancelled acquire() whose create has no reply, and no other node of the session',
        async () => {
          const { faultyDial, client } = await fixture.openWithFaults()
          const held = await lockOf(client).acquire()
          const abort = new AbortController()
          const arrived = faultyDial.holdReply(opcodes.create2)
          const failing = failureOf(lockOf(client).acquire({ signal: abort.signal }))
          const next = lockOf(client).acquire()
          await arrived
          abort.abort(new Error('cancelled'))
          await failing
          faultyDial.cut()
          await fixture.waitForWatches(1)
          await client.settled()
          expect((await lockOf(observer).contenders()).map(({ sequence }) => sequence)).to.deep.equal([0, 2])
          await held.release()
          await (await next).release()
        },
      )

      itInVirtualTime('is neither blocked by a foreign name nor made to throw', async () => {
        for (const each of foreign) await observer.create(`${path}/${each}`)
        const held = await lockOf(await fixture.open()).acquire()
        expect(await lockOf(observer).contenders()).to.have.length(1)
        expect(await lockOf(observer).tryAcquire()).to.equal(null)
        await held.release()
      })

      itInVirtualTime(isUnique ? 'offers a guard' : 'offers no guard', async () => {
        const held = await lockOf(await fixture.open()).acquire()
        if (isUnique) await held.guard().setData(path, '').commit()
        else
          expect(() => held.guard())
            .to.throw()
            .with.property('code', 'UNSUPPORTED')
        await held.release()
      })
    })
  }

  for (const Lock of [Mutex, HerdMutex])
    itEverywhere(
      `without unique names: in a recreated directory, ${Lock.name} does not adopt a node of the same name`,
      async () => {
        const options = { dialect: named('orders') }
        const [first, { faultyDial, client }] = [await fixture.open(), await fixture.openWithFaults()]
        const old = await new Lock(first, path, options).acquire()
        const acquiring = new Lock(client, path, options).acquire()
        await first.settled()
        await fixture.waitForWatches(1)
        faultyDial.refuse()
        await observer.deleteRecursive(path)
        await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
        const [third, fourth] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(third, path, options).acquire()
        expect(held.path).to.equal(old.path)
        const next = new Lock(fourth, path, options).acquire()
        await third.settled()
        await fixture.waitForWatches(1)
        let isGranted = false
        void acquiring.then(() => (isGranted = true))
        faultyDial.accept()
        await fixture.until(
          async () => isGranted || (await new Lock(observer, path, options).contenders()).length === 3,
        )
        await held.release()
        const second = await next
        await client.sync(path)
        expect(isGranted).to.equal(false)
        await old.release()
        expect((await observer.exists(second.path))?.czxid).to.equal(second.token)
        await second.release()
        await (await acquiring).release()
      },
    )

  itInVirtualTime('with a custom prefix lets several named locks share one directory', async () => {
    const client = await fixture.open()
    const orders = await new Mutex(client, path, { dialect: named('orders') }).acquire()
    const stock = await new Mutex(client, path, { dialect: named('stock') }).acquire()
    expect([nameOf(orders), nameOf(stock)]).to.deep.equal(['orders_lock_0000000000', 'stock_lock_0000000001'])
    expect(await new Mutex(observer, path, { dialect: named('orders') }).tryAcquire()).to.equal(null)
    await Promise.all([orders.release(), stock.release()])
  })

  itInVirtualTime('shares one queue with other libraries’ nodes of the same dialect', async () => {
    const theirs = { mode: 'ephemeralSequential' } as const
    for (const [dialect, prefix] of [
      ['curator', '_c_0123456789abcdef0123456789abcdef-lock-'],
      ['kazoo', '0123456789abcdef0123456789abcdef__lock__'],
      ['zookeeper', 'x-00c0ffee00c0ffee-'],
    ] as const) {
      const before = await observer.create(`${path}/${prefix}`, '', theirs)
      const acquiring = new Mutex(await fixture.open(), path, { dialect }).acquire()
      await fixture.waitForWatches(1)
      await observer.delete(before.path)
      await (await acquiring).release()
    }
  })

  describe('in a directory with foreign contenders', () => {
    const kinds = {
      Mutex: (client: Client, options: object) => new Mutex(client, path, options),
      HerdMutex: (client: Client, options: object) => new HerdMutex(client, path, options),
      TicketMutex: (client: Client, options: object) => new TicketMutex(client, path, options),
    }
    const foreignNames: Record<string, string> = {
      Mutex: '0123456789abcdef0123456789abcdef__lock__0000000000',
      HerdMutex: '_c_01234567-89ab-4cde-8f01-23456789abcd-__WRIT__0000000000',
      TicketMutex: '_c_01234567-89ab-4cde-8f01-23456789abcd-lock-0000000000',
    }

    for (const [title, lockOf] of Object.entries(kinds)) {
      const foreignName = foreignNames[title] ?? ''

      itInVirtualTime(`reports them once to onForeignContenders of ${title}`, async () => {
        // This node consumes a sequence number, as a node of another library does.
        await observer.create(`${path}/${foreignName}`, '', { mode: 'ephemeral' })
        const reports: unknown[] = []
        const lock = lockOf(await fixture.open(), {
          onForeignContenders: (...report: unknown[]) => reports.push(report),
        })
        for (let i = 0; i < 3; i++) await (await lock.acquire()).release()
        expect(reports).to.deep.equal([[[foreignName], path]])
        await observer.delete(`${path}/${foreignName}`)
      })

      itInVirtualTime(`reports them for ${title} in a process warning by default`, async () => {
        const warnings: Error[] = []
        const onWarning = (warning: Error) => void warnings.push(warning)
        process.on('warning', onWarning)
        await observer.create(`${path}/${foreignName}`, '', { mode: 'ephemeral' })
        await (await lockOf(await fixture.open(), {}).acquire()).release()
        await fixture.until(() => warnings.length > 0)
        process.off('warning', onWarning)
        expect(warnings).to.have.length(1)
        expect(warnings[0]).to.have.property('code', 'ZKWIRE_FOREIGN_CONTENDERS')
        expect(warnings[0]?.message).to.include(path).and.include(foreignName)
        expect(warnings[0]?.message).to.match(/; (use a lock with the option dialect: '\w+', or )?use another path$/)
        if (foreignName.includes('__lock__')) expect(warnings[0]?.message).to.include("dialect: 'kazoo'")
        await observer.delete(`${path}/${foreignName}`)
      })
    }

    itInVirtualTime('passes errors and rejections of onForeignContenders to onUncaughtError', async () => {
      const foreignNode = await observer.create(`${path}/${foreignNames['Mutex']}`)
      const [thrown, rejected] = [new Error('thrown'), new Error('rejected')]
      const errors: unknown[] = []
      const client = await fixture.open({ onUncaughtError: (error: unknown) => errors.push(error) })
      const throwing = () => {
        throw thrown
      }
      for (const onForeignContenders of [throwing, () => Promise.reject(rejected) as unknown as undefined])
        await (await new Mutex(client, path, { onForeignContenders }).acquire()).release()
      expect(errors).to.deep.equal([thrown, rejected])
      await observer.delete(foreignNode.path)
    })

    itInVirtualTime('reports no foreign nodes that are not contenders', async () => {
      for (const each of foreign) await observer.create(`${path}/${each}`)
      const reports: unknown[] = []
      const onForeignContenders = (...report: unknown[]) => reports.push(report)
      for (const dialect of ['curator', 'kazoo', named('orders')] as const)
        await (await new Mutex(await fixture.open(), path, { dialect, onForeignContenders }).acquire()).release()
      expect(reports).to.deep.equal([])
    })
  })

  itInVirtualTime('does not adopt another session’s node, even if that node has the same data', async () => {
    let created: Buffer = Buffer.alloc(0)
    const onFrame = onRequest(opcodes.create2, ({ body }) => (created = CreateRequest.decode(body).data ?? created))
    const { faultyDial, client } = await fixture.openWithFaults({ onFrame })
    const options = { dialect: named('orders') }
    const lost = faultyDial.dropRequest(opcodes.create2).then(() => faultyDial.refuse())
    const acquiring = new Mutex(client, path, options).acquire()
    await lost
    const copy = await observer.create(`${path}/orders_lock_`, created, { mode: 'ephemeralSequential' })
    faultyDial.accept()
    await fixture.waitForWatches(1)
    await observer.delete(copy.path)
    const held = await acquiring
    expect(held.path).not.to.equal(copy.path)
    await held.release()
  })
})
