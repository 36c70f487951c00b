import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import type { CounterFormat } from '../../../src/recipes/data/counter-format.ts'
import { Counter, RecipeError, type CounterOptions } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

/** For each format, two numbers and their bytes. */
const samples: Record<CounterFormat, [value: bigint, bytes: string][]> = {
  int64: [
    [258n, '0000000000000102'],
    [-1n, 'ffffffffffffffff'],
    [2n ** 63n - 1n, '7fffffffffffffff'],
    [-(2n ** 63n), '8000000000000000'],
  ],
  int32: [
    [258n, '00000102'],
    [-1n, 'ffffffff'],
    [2n ** 31n - 1n, '7fffffff'],
    [-(2n ** 31n), '80000000'],
  ],
  decimal: [
    [258n, Buffer.from('258').toString('hex')],
    [-1n, Buffer.from('-1').toString('hex')],
    [10n ** 30n, Buffer.from(`1${'0'.repeat(30)}`).toString('hex')],
  ],
}
const formats = Object.keys(samples) as CounterFormat[]

onBothServers('Counter', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/counter`
  })

  const counterOf = (client: Client, options: CounterOptions = {}) => new Counter(client, path, options)
  const stored = async () => (await fixture.observer.getData(path)).data?.toString('hex')

  for (const format of formats) {
    itEverywhere(`stores ${format} in the bytes of its format, and reads them`, async () => {
      const counter = counterOf(await fixture.open(), { format })
      for (const [value, bytes] of samples[format]) {
        await counter.set(value)
        expect(await stored()).to.equal(bytes)
        expect(await counter.get()).to.equal(value)
      }
    })

    itInVirtualTime(`starts ${format} with its initial value if the node does not exist or is empty`, async () => {
      const client = await fixture.open()
      const counter = counterOf(client, { format, initial: 5 })
      expect(await counter.get()).to.equal(5n)
      expect(await client.exists(path)).to.equal(null)
      for (const data of ['', null]) {
        await client.create(path, data)
        expect(await counter.get()).to.equal(5n)
        expect(await counter.increment()).to.equal(6n)
        await client.settled()
        await client.delete(path)
      }
    })
  }

  itEverywhere('counts each of many concurrent changes of several clients once', async () => {
    const clients = await fixture.openMany(4)
    const counters = clients.map(client => counterOf(client))
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const counter = counters[i % 4] as Counter
        return i % 2 === 0 ? counter.increment() : counter.add(100n)
      }),
    )
    expect(await counters[0]?.get()).to.equal(2020n)
    expect(new Set(results).size).to.equal(40)
  })

  for (const format of ['int32', 'int64'] as const)
    itInVirtualTime(
      `rejects with a RangeError if the result would be outside ${format}, and writes nothing`,
      async () => {
        const client = await fixture.open()
        const [, , [most] = [0n], [least] = [0n]] = samples[format]
        for (const [value, delta] of [
          [most, 1n],
          [least, -1n],
          [0n, 2n ** 64n],
        ] as const) {
          const counter = counterOf(client, { format })
          await counter.set(value)
          const failed = await failureOf(counter.add(delta))
          expect(failed).to.be.instanceOf(RangeError)
          expect((failed as Error).message)
            .to.include(`${value + delta} is outside the range of ${format}`)
            .and.include(path)
          expect(await failureOf(counter.compareAndSet(value, value + delta))).to.be.instanceOf(RangeError)
          expect(await counter.get()).to.equal(value)
        }
      },
    )

  itInVirtualTime('rejects with UNSUPPORTED if the node has another format, and set() replaces it', async () => {
    const client = await fixture.open()
    for (const format of formats)
      for (const other of formats.filter(each => each !== format)) {
        const counter = counterOf(client, { format })
        await counterOf(client, { format: other }).set(7)
        for (const call of [() => counter.get(), () => counter.increment(), () => counter.changes().next()]) {
          const failed = await failureOf(call())
          expect(failed).to.be.instanceOf(RecipeError).and.to.include({ code: 'UNSUPPORTED', path })
          expect((failed as Error).message).to.match(/bytes, which are no/)
        }
        await counter.set(8)
        expect(await counter.get()).to.equal(8n)
      }
  })

  itEverywhere('compareAndSet() replaces only the expected value', async () => {
    const counter = counterOf(await fixture.open())
    expect(await counter.compareAndSet(0, 5)).to.equal(5n)
    expect(await counter.compareAndSet(0n, 6n)).to.equal(null)
    expect(await counter.compareAndSet(5n, 6)).to.equal(6n)
    expect(await counter.get()).to.equal(6n)
  })

  itInVirtualTime(
    'compareAndSet() resolves with the value if its reply is lost and another client has changed the value since',
    async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      const lost = faultyDial.dropReply(opcodes.multi).then(() => faultyDial.refuse())
      const replacing = counterOf(client).compareAndSet(0, 5)
      await lost
      expect(await counterOf(fixture.observer).compareAndSet(5, 6)).to.equal(6n)
      faultyDial.accept()
      expect(await replacing).to.equal(5n)
      expect(await counterOf(client).get()).to.equal(6n)
    },
  )

  itInVirtualTime(
    'compareAndSet() resolves with null if another client is faster, although the first look was right',
    async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      await counterOf(fixture.observer).set(0)
      const sending = faultyDial.holdRequest(opcodes.multi)
      const replacing = counterOf(client).compareAndSet(0, 5)
      await sending
      await counterOf(fixture.observer).set(7)
      faultyDial.deliver()
      expect(await replacing).to.equal(null)
      expect(await counterOf(client).get()).to.equal(7n)
    },
  )

  itInVirtualTime('refuses numbers that are no integers, and an initial value outside its range', async () => {
    const client = await fixture.open()
    const counter = counterOf(client)
    for (const wrong of [1.5, NaN, 2 ** 53, '1', undefined] as never[])
      for (const call of [() => counter.add(wrong), () => counter.set(wrong), () => counter.compareAndSet(0, wrong)])
        expect(await failureOf(call())).to.include({ code: 'BADARGUMENTS', path })
    for (const options of [{ initial: 1.5 }, { format: 'int16' }, { format: 'int32', initial: 2n ** 31n }] as never[])
      expect(() => counterOf(client, options))
        .to.throw()
        .with.property('code', 'BADARGUMENTS')
  })
})
