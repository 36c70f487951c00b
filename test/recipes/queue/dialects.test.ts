// The names by which contenders queue: those of other libraries, one's own, foreign ones, and names that come back.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../../src/index.ts'
import { CreateRequest, opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import {
  HerdMutex,
  Mutex,
  TicketMutex,
  type Dialect,
  type Held,
  type MutexOptions,
} from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onGrounds } from '../fixture.ts'

const named = (name: string): Dialect => ({ prefix: `${name}_lock_`, pattern: new RegExp(`^${name}_lock_(\\d{10})$`) })

onGrounds('a dialect', (ground, { it, everywhere }) => {
  let observer: Client
  let path: string

  beforeEach(() => {
    ;({ observer, path } = ground)
  })

  const nameOf = (held: Held) => held.path.slice(path.length + 1)

  /** Names that are no contender's, though some look as if. */
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
    'of a plain prefix': { dialect: named('orders'), name: /^orders_lock_\d{10}$/, isUnique: false },
    'of a function': {
      dialect: { prefix: uuid => `host-${uuid}-W-`, pattern: /^host-.*-W-(\d{10})$/ },
      name: /^host-[\da-f-]{36}-W-\d{10}$/,
      isUnique: true,
    },
    'of a function that drops the uuid': {
      dialect: { prefix: (_, session) => `${session.toString(16)}-W-`, pattern: /-W-(\d{10})$/ },
      name: /^[\da-f]+-W-\d{10}$/,
      isUnique: false,
    },
  }

  for (const [title, { dialect, name, isUnique }] of Object.entries(dialects)) {
    describe(title, () => {
      const options: MutexOptions = { dialect: dialect ?? 'curator', data: 'me' }
      const lockOf = (client: Client) => new Mutex(client, path, options)

      everywhere('names its nodes so, in the order of the queue, and shows the data it was given', async () => {
        const [holder, waiter] = [await ground.open(), await ground.open()]
        const held = await lockOf(holder).acquire()
        expect(nameOf(held)).to.match(name)
        const acquiring = lockOf(waiter).acquire()
        await ground.watches(1)
        const contenders = await lockOf(observer).contenders()
        expect(contenders.map(({ data, session }) => [data?.toString(), session])).to.deep.equal([
          ['me', holder.sessionId],
          ['me', waiter.sessionId],
        ])
        await held.release()
        await (await acquiring).release()
      })

      it('shows data whole that is a uuid', async () => {
        const data = '123e4567-e89b-42d3-a456-426614174000'
        const held = await new Mutex(await ground.open(), path, { ...options, data }).acquire()
        const [contender] = await lockOf(observer).contenders()
        expect(String(contender?.data)).to.equal(data)
        await held.release()
      })

      it('keeps apart the locks of one session in one directory', async () => {
        const client = await ground.open()
        let inside = 0
        const order: bigint[] = []
        const pass = () =>
          lockOf(client).use(async held => {
            expect(++inside).to.equal(1)
            order.push(held.token)
            await client.exists('/')
            inside--
          })
        await Promise.all(Array.from({ length: 8 }, pass))
        expect(order).to.deep.equal([...order].sort((a, b) => (a < b ? -1 : 1)))
      })

      everywhere(
        'finds the nodes of two creates whose answers were lost, beside another of the same session',
        async () => {
          const { saboteur, client } = await ground.sabotaged()
          const held = await lockOf(client).acquire()
          const lost = saboteur.loseReply(opcodes.create2)
          const acquiring = [lockOf(client).acquire(), lockOf(client).acquire()]
          await lost
          await ground.watches(2)
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

      it('gives back a node whose create was given up and not answered, and no other of the same session', async () => {
        const { saboteur, client } = await ground.sabotaged()
        const held = await lockOf(client).acquire()
        const abort = new AbortController()
        const arrived = saboteur.holdReply(opcodes.create2)
        const failing = failureOf(lockOf(client).acquire({ signal: abort.signal }))
        const behind = lockOf(client).acquire()
        await arrived
        abort.abort(new Error('enough'))
        await failing
        saboteur.cut()
        await ground.watches(1)
        await client.settled()
        expect((await lockOf(observer).contenders()).map(({ sequence }) => sequence)).to.deep.equal([0, 2])
        await held.release()
        await (await behind).release()
      })

      it('is blocked by no foreign name, and throws at none', async () => {
        for (const each of foreign) await observer.create(`${path}/${each}`)
        const held = await lockOf(await ground.open()).acquire()
        expect(await lockOf(observer).contenders()).to.have.length(1)
        expect(await lockOf(observer).tryAcquire()).to.equal(null)
        await held.release()
      })

      it(isUnique ? 'offers a guard' : 'offers no guard', async () => {
        const held = await lockOf(await ground.open()).acquire()
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
    everywhere(
      `of names that come back: in a directory made again, ${Lock.name} does not take a namesake for its own`,
      async () => {
        const options = { dialect: named('orders') }
        const [first, { saboteur, client }] = [await ground.open(), await ground.sabotaged()]
        const old = await new Lock(first, path, options).acquire()
        const acquiring = new Lock(client, path, options).acquire()
        await first.settled()
        await ground.watches(1)
        saboteur.refuse()
        await observer.deleteRecursive(path)
        await ground.until(async () => (await ground.watchCount()) === ground.watchesBefore)
        const [third, fourth] = [await ground.open(), await ground.open()]
        const held = await new Lock(third, path, options).acquire()
        expect(held.path).to.equal(old.path)
        const next = new Lock(fourth, path, options).acquire()
        await third.settled()
        await ground.watches(1)
        let isIn = false
        void acquiring.then(() => (isIn = true))
        saboteur.accept()
        await ground.until(async () => isIn || (await new Lock(observer, path, options).contenders()).length === 3)
        await held.release()
        const second = await next
        await client.sync(path)
        expect(isIn).to.equal(false)
        await old.release()
        expect((await observer.exists(second.path))?.czxid).to.equal(second.token)
        await second.release()
        await (await acquiring).release()
      },
    )

  it('of its own lets several named locks stand in one directory', async () => {
    const client = await ground.open()
    const orders = await new Mutex(client, path, { dialect: named('orders') }).acquire()
    const stock = await new Mutex(client, path, { dialect: named('stock') }).acquire()
    expect([nameOf(orders), nameOf(stock)]).to.deep.equal(['orders_lock_0000000000', 'stock_lock_0000000001'])
    expect(await new Mutex(observer, path, { dialect: named('orders') }).tryAcquire()).to.equal(null)
    await Promise.all([orders.release(), stock.release()])
  })

  it('stands in one queue with those who use the same names, whoever made them', async () => {
    const theirs = { mode: 'ephemeralSequential' } as const
    for (const [dialect, prefix] of [
      ['curator', '_c_0123456789abcdef0123456789abcdef-lock-'],
      ['kazoo', '0123456789abcdef0123456789abcdef__lock__'],
      ['zookeeper', 'x-00c0ffee00c0ffee-'],
    ] as const) {
      const before = await observer.create(`${path}/${prefix}`, '', theirs)
      const acquiring = new Mutex(await ground.open(), path, { dialect }).acquire()
      await ground.watches(1)
      await observer.delete(before.path)
      await (await acquiring).release()
    }
  })

  describe('among others in one directory', () => {
    const kinds = {
      Mutex: (client: Client, options: object) => new Mutex(client, path, options),
      HerdMutex: (client: Client, options: object) => new HerdMutex(client, path, options),
      TicketMutex: (client: Client, options: object) => new TicketMutex(client, path, options),
    }
    const strangers: Record<string, string> = {
      Mutex: '0123456789abcdef0123456789abcdef__lock__0000000000',
      HerdMutex: '_c_01234567-89ab-4cde-8f01-23456789abcd-__WRIT__0000000000',
      TicketMutex: '_c_01234567-89ab-4cde-8f01-23456789abcd-lock-0000000000',
    }

    for (const [title, lockOf] of Object.entries(kinds)) {
      const stranger = strangers[title] ?? ''

      it(`is reported by ${title}, once, to whom it is told to`, async () => {
        // It also takes a number, as theirs do.
        await observer.create(`${path}/${stranger}`, '', { mode: 'ephemeral' })
        const reports: unknown[] = []
        const lock = lockOf(await ground.open(), {
          onForeignContenders: (...report: unknown[]) => reports.push(report),
        })
        for (let i = 0; i < 3; i++) await (await lock.acquire()).release()
        expect(reports).to.deep.equal([[[stranger], path]])
        await observer.delete(`${path}/${stranger}`)
      })

      it(`is reported by ${title} in a warning of the process`, async () => {
        const warnings: Error[] = []
        const onWarning = (warning: Error) => void warnings.push(warning)
        process.on('warning', onWarning)
        await observer.create(`${path}/${stranger}`, '', { mode: 'ephemeral' })
        await (await lockOf(await ground.open(), {}).acquire()).release()
        await ground.until(() => warnings.length > 0)
        process.off('warning', onWarning)
        expect(warnings).to.have.length(1)
        expect(warnings[0]).to.have.property('code', 'ZKWIRE_FOREIGN_CONTENDERS')
        expect(warnings[0]?.message).to.include(path).and.include(stranger)
        await observer.delete(`${path}/${stranger}`)
      })
    }

    it('may be thrown at, and rejected, by whom it is told to, which is heard as of any callback', async () => {
      const stranger = await observer.create(`${path}/${strangers['Mutex']}`)
      const [thrown, rejected] = [new Error('thrown'), new Error('rejected')]
      const errors: unknown[] = []
      const client = await ground.open({ onUncaughtError: (error: unknown) => errors.push(error) })
      const throwing = () => {
        throw thrown
      }
      for (const onForeignContenders of [throwing, () => Promise.reject(rejected) as unknown as undefined])
        await (await new Mutex(client, path, { onForeignContenders }).acquire()).release()
      expect(errors).to.deep.equal([thrown, rejected])
      await observer.delete(stranger.path)
    })

    it('is not reported of foreign nodes that queue for nothing', async () => {
      for (const each of foreign) await observer.create(`${path}/${each}`)
      const reports: unknown[] = []
      const onForeignContenders = (...report: unknown[]) => reports.push(report)
      for (const dialect of ['curator', 'kazoo', named('orders')] as const)
        await (await new Mutex(await ground.open(), path, { dialect, onForeignContenders }).acquire()).release()
      expect(reports).to.deep.equal([])
    })
  })

  it('takes the node’s owner for whose it is, not the data alone: what another session has copied is not adopted', async () => {
    let created: Buffer = Buffer.alloc(0)
    const onFrame = ({ from, first, bytes }: ObservedFrame) => {
      if (from === 'client' && !first && RequestHeader.decode(bytes).type === opcodes.create2)
        created = CreateRequest.decode(bytes.subarray(8)).data ?? created
    }
    const { saboteur, client } = await ground.sabotaged({ onFrame })
    const options = { dialect: named('orders') }
    const lost = saboteur.loseRequest(opcodes.create2).then(() => saboteur.refuse())
    const acquiring = new Mutex(client, path, options).acquire()
    await lost
    const copy = await observer.create(`${path}/orders_lock_`, created, { mode: 'ephemeralSequential' })
    saboteur.accept()
    await ground.watches(1)
    await observer.delete(copy.path)
    const held = await acquiring
    expect(held.path).not.to.equal(copy.path)
    await held.release()
  })
})
