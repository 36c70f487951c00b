// The option `codec`, by the recipes that have it. test/package/types.test.ts tries it with validators from npm.
import { expect } from 'chai'
import { ZooKeeperError, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import {
  Membership,
  Queue,
  RecipeError,
  Services,
  SharedValue,
  type DataCodec,
  type QueueItem,
  type StandardSchema,
  type VersionedData,
} from '../../../src/recipes/index.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

interface Mail {
  to: string
  tries: number
}

/** As a validator of objects with a default would be: accepts `{ to }`, and returns `{ to, tries }`. */
const mailSchema: StandardSchema<{ to: string; tries?: number }, Mail> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { to, tries = 0 } = (value ?? {}) as Partial<Mail>
      if (typeof to === 'string') return { value: { to, tries } }
      return { issues: [{ message: 'it must be text', path: ['to', { key: 0 }] }, { message: 'it is no mail' }] }
    },
  },
}
const numbers: DataCodec<number> = {
  encode: value => {
    if (typeof value !== 'number') throw new TypeError('it is no number')
    return String(value)
  },
  decode: bytes => {
    if (!/^-?\d+$/.test(bytes.toString())) throw new TypeError('these are no digits')
    return Number(bytes.toString())
  },
}
/** What a type checker would refuse. */
const wrong = (value: unknown) => value as never
const later: StandardSchema<number> = {
  '~standard': { version: 1, vendor: 'test', validate: value => Promise.resolve({ value: value as number }) },
}

const refusal = (error: unknown, op: string, message: RegExp) => {
  expect(error).to.be.instanceOf(ZooKeeperError).and.to.include({ code: 'BADARGUMENTS', op, fate: 'notSent' })
  expect((error as Error).message).to.match(message)
}
const thrownBy = (fn: () => unknown) => {
  try {
    return fn()
  } catch (error) {
    return error
  }
}

onBothServers('The option codec', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string
  beforeEach(() => {
    path = `${fixture.path}/node`
  })
  const stored = async (node = path) => String((await fixture.observer.getData(node)).data)

  describe('of a SharedValue', () => {
    const mailOf = (client: Client) => new SharedValue(client, path, { codec: mailSchema, initial: { to: 'ann' } })

    itEverywhere('with a validator stores JSON, and reads what the validator makes of it', async () => {
      const value = mailOf(await fixture.open())
      expect(await value.get()).to.deep.equal({ data: { to: 'ann', tries: 0 }, version: null })
      expect(await value.set({ to: 'bob' })).to.deep.equal({ data: { to: 'bob', tries: 0 }, version: 0 })
      expect(await stored()).to.equal('{"to":"bob"}')
      const written = await value.update(({ to, tries }) => ({ to, tries: tries + 1 }))
      expect(written).to.deep.equal({ data: { to: 'bob', tries: 1 }, version: 1 })
      expect(await value.compareAndSet(written, { to: 'eve' })).to.have.nested.property('data.to', 'eve')
      expect(await value.compareAndSet(written, { to: 'ian' })).to.equal(null)
      expect(await value.update(() => undefined)).to.have.nested.property('data.to', 'eve')
    })

    itEverywhere('with two functions tells its loops and listeners values', async () => {
      const client = await fixture.open()
      await using value = new SharedValue(client, path, { codec: numbers, initial: 1 })
      const heard: number[] = []
      value.on('change', ({ data }) => heard.push(data))
      const changes = value.changes()
      expect((await changes.next()).value).to.deep.equal({ data: 1, version: null })
      await value.set(2)
      expect((await changes.next()).value).to.deep.equal({ data: 2, version: 0 })
      await fixture.until(() => heard.length === 1)
      expect(heard).to.deep.equal([2])
    })

    itInVirtualTime('refuses a value before anything is sent, in each call that writes', async () => {
      const sent: number[] = []
      const client = await fixture.open({ onFrame: opcodesInto(sent) })
      const mail = mailOf(client)
      const number = new SharedValue(client, path, { codec: numbers, initial: 1 })
      sent.length = 0
      refusal(await failureOf(mail.set(wrong({ to: 5 }))), 'set', /refuses it: to\.0: it must be text; it is no mail/)
      refusal(await failureOf(mail.set(wrong(undefined))), 'set', /must return a Uint8Array or a string, not undefined/)
      const cyclic: { to: string; self?: unknown } = { to: 'ann' }
      cyclic.self = cyclic
      refusal(await failureOf(mail.set(cyclic)), 'set', /circular/)
      const error = await failureOf(number.compareAndSet({ version: null }, wrong('5')))
      refusal(error, 'compareAndSet', /refuses it: it is no number/)
      expect((error as Error).cause).to.be.instanceOf(TypeError)
      expect(sent).to.deep.equal([])
      refusal(await failureOf(number.update(() => wrong('5'))), 'update', /refuses it: it is no number/)
      expect(sent).to.deep.equal([opcodes.getData])
      await client.settled()
    })

    itInVirtualTime('refuses each value if its validator returns neither a value nor issues', () => {
      const returning = (validation: unknown): StandardSchema<number> => ({
        '~standard': { version: 1, vendor: 'test', validate: () => validation as never },
      })
      const make = (validation: unknown) => () =>
        new SharedValue(fixture.observer, path, { codec: returning(validation), initial: 1 })
      for (const validation of [undefined, null, 5, {}])
        refusal(thrownBy(make(validation)), 'SharedValue', /initial: .*: the validator must return a value or issues/)
      refusal(thrownBy(make({ issues: [] })), 'SharedValue', /initial: .*: the validator does not say why/)
      refusal(thrownBy(make({ issues: [{ message: 'no', path: null }] })), 'SharedValue', /refuses it: no/)
      expect(make({ value: 1, issues: null })).not.to.throw()
    })

    itInVirtualTime('refuses what could be written and not be read', () => {
      const codec: DataCodec<number> = { encode: value => `${value}!`, decode: bytes => numbers.decode(bytes) }
      refusal(
        thrownBy(() => new SharedValue(fixture.observer, path, { codec, initial: 1 })),
        'SharedValue',
        /initial: the codec refuses it: these are no digits/,
      )
    })

    itInVirtualTime('needs an initial value, unless it can decode a node without data', async () => {
      refusal(
        thrownBy(() => new SharedValue(fixture.observer, path, { codec: mailSchema })),
        'SharedValue',
        /initial is missing, and the codec cannot decode a node without data/,
      )
      const text: DataCodec<string> = { encode: value => value, decode: String }
      const value = new SharedValue(fixture.observer, path, { codec: text })
      expect(await value.get()).to.deep.equal({ data: '', version: null })
      await fixture.observer.create(path, null)
      expect(await value.get()).to.deep.equal({ data: '', version: 0 })
    })

    for (const [data, message] of [
      ['{"to":5}', /refuses the data of the node: to\.0: it must be text; it is no mail/],
      ['{"secret', /refuses the data of the node: it is no JSON/],
      [null, /it is no JSON/],
    ] as const)
      itInVirtualTime(`rejects with UNSUPPORTED if the node has ${data}, and set() replaces it`, async () => {
        const reports: unknown[] = []
        const client = await fixture.open({ onUncaughtError: error => reports.push(error) })
        await using value = mailOf(client)
        await fixture.observer.create(path, data)
        const failures = [
          await failureOf(value.get()),
          await failureOf(value.update(({ to }) => ({ to }))),
          await failureOf(value.changes().next()),
        ]
        for (const error of failures) {
          expect(error).to.be.instanceOf(RecipeError).and.to.include({ code: 'UNSUPPORTED', path })
          expect((error as Error).message)
            .to.match(message)
            .and.not.to.include('secret')
        }
        value.on('change', () => undefined)
        await fixture.until(() => reports.length === 1)
        expect(reports[0]).to.include({ code: 'UNSUPPORTED' })
        expect(await value.set({ to: 'ann' })).to.deep.equal({ data: { to: 'ann', tries: 0 }, version: 1 })
      })

    itInVirtualTime('reads with a validator that has other functions named encode and decode', async () => {
      const refuse = () => expect.fail('it was called')
      const codec = { ...mailSchema, encode: refuse, decode: refuse }
      const value = new SharedValue(fixture.observer, path, {
        codec: codec as typeof mailSchema,
        initial: { to: 'ann' },
      })
      expect((await value.get()).data).to.deep.equal({ to: 'ann', tries: 0 })
    })
  })

  itInVirtualTime('of any recipe is refused if it returns a promise', async () => {
    const client = await fixture.open()
    const asynchronous = /the function codec.decode must return its result, and not a promise/
    refusal(
      thrownBy(() => new SharedValue(client, path, { codec: later, initial: 1 })),
      'SharedValue',
      asynchronous,
    )
    refusal(
      thrownBy(() => new Membership(path, { codec: later, data: 1 })),
      'Membership',
      asynchronous,
    )
    const failing: DataCodec<number> = { encode: wrong(() => Promise.reject(new Error('late'))), decode: () => 1 }
    const own = new Queue(client, path, { codec: failing })
    refusal(await failureOf(own.put(1)), 'Queue', /the function codec.encode must return its result/)
    await using queue = new Queue(client, path, { codec: later })
    refusal(await failureOf(queue.put(1)), 'Queue', asynchronous)
    await new Queue(fixture.observer, path).put('1')
    refusal(await failureOf(queue.take()), 'Queue', asynchronous)
    expect(await queue.size()).to.equal(1)
    await using services = new Services(path, { payload: later })
    await services.start(client)
    const registering = services.register({ name: 'api', payload: 1 })
    refusal(await failureOf(registering), 'Services', /payload.validate must return its result/)
    await client.settled()
  })

  itInVirtualTime('is refused in the same way if its promise is of another library', async () => {
    /** Not an instance of Promise, as those of other libraries, and of other realms. */
    const foreign = { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('late')) }
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => foreign } }
    const codec = { encode: String, decode: () => foreign }
    for (const wrongCodec of [schema, codec]) {
      const error = thrownBy(
        () => new SharedValue(fixture.observer, path, { codec: wrong(wrongCodec), initial: wrong(1) }),
      )
      refusal(error, 'SharedValue', /the function codec.decode must return its result, and not a promise/)
    }
    const value = new SharedValue(fixture.observer, path)
    refusal(await failureOf(value.update(() => wrong(foreign))), 'update', /must not return a promise/)
  })

  describe('of a Queue', () => {
    const queueOf = (client: Client, invalid: string[] = []) =>
      new Queue(client, path, { codec: mailSchema, onInvalidItem: node => invalid.push(node) })

    itEverywhere('converts what is put, and what is taken', async () => {
      await using queue = queueOf(await fixture.open())
      await queue.putMany([{ to: 'ann' }, { to: 'bob', tries: 3 }])
      expect(await stored(`${path}/entries/entry-100-0000000000`)).to.equal('{"to":"ann"}')
      const mails: Mail[] = []
      const stop = new AbortController()
      const take = ({ data }: QueueItem<Mail>) => {
        if (mails.push(data) === 2) stop.abort()
      }
      await queue.consume(take, { signal: stop.signal })
      expect(mails).to.deep.equal([
        { to: 'ann', tries: 0 },
        { to: 'bob', tries: 3 },
      ])
    })

    itInVirtualTime('refuses items that it refuses before anything is sent, and puts none of them', async () => {
      const sent: number[] = []
      await using queue = queueOf(await fixture.open({ onFrame: opcodesInto(sent) }))
      sent.length = 0
      const error = await failureOf(queue.putMany([{ to: 'ann' }, wrong({})]))
      refusal(error, 'putMany', /item 1: the codec refuses it: to\.0: it must be text/)
      expect(sent).to.deep.equal([])
    })

    itEverywhere('leaves an item that it refuses at its place, passes it over, and reports it once', async () => {
      const invalid: string[] = []
      const plain = new Queue(fixture.observer, path)
      await plain.put('no mail', { priority: 0 })
      await plain.put('{}', { priority: 1 })
      const client = await fixture.open()
      await using queue = queueOf(client, invalid)
      await queue.put({ to: 'ann' })
      const item = await queue.take()
      expect(item.data.to).to.equal('ann')
      await item.complete()
      expect(await queue.tryTake()).to.equal(null)
      expect(await failureOf(queue.take({ timeout: 50 }))).to.include({ code: 'TIMEOUT' })
      expect(invalid).to.deep.equal(
        ['000', '001'].map((priority, i) => `${path}/entries/entry-${priority}-000000000${i}`),
      )
      expect(await queue.size()).to.equal(2)
      // Another consumer can process the first of them, whose data this one does not know.
      const other = await plain.take()
      expect(String(other.data)).to.equal('no mail')
      await other.complete()
      await plain.close()
      expect(await queue.size()).to.equal(1)
    })

    itInVirtualTime('warns of an item that it refuses', async () => {
      await new Queue(fixture.observer, path).put('no mail')
      const warnings: Error[] = []
      const listen = (warning: Error) => {
        if (warning.message.includes(path)) warnings.push(warning)
      }
      process.on('warning', listen)
      try {
        await using queue = new Queue(await fixture.open(), path, { codec: mailSchema })
        expect(await queue.tryTake()).to.equal(null)
        await fixture.until(() => warnings.length === 1)
      } finally {
        process.off('warning', listen)
      }
      expect(warnings[0]).to.have.property('code', 'ZKWIRE_INVALID_ITEM')
      expect(warnings[0]?.message).to.match(
        /entry-100-0000000000 is left in the queue, because its data is no item: UNSUPPORTED: .*it is no JSON/,
      )
    })

    itInVirtualTime(
      'takes an item under the name of one that it has passed over, after the queue was deleted',
      async () => {
        const invalid: string[] = []
        const plain = new Queue(fixture.observer, path)
        await plain.put('no mail')
        await using queue = queueOf(await fixture.open(), invalid)
        expect(await queue.tryTake()).to.equal(null)
        await fixture.observer.deleteRecursive(`${path}/entries`)
        const taking = queue.take()
        await queue.put({ to: 'ann' })
        const item = await taking
        expect(item).to.deep.include({ name: 'entry-100-0000000000', data: { to: 'ann', tries: 0 } })
        await item.complete()
        expect(invalid).to.have.length(1)
      },
    )
  })

  describe('of a Membership', () => {
    itEverywhere('converts the data of its members', async () => {
      const [one, two] = await fixture.openMany(2)
      await using a = new Membership(path, { id: 'a', codec: mailSchema, data: { to: 'ann' } })
      await using b = new Membership(path, { codec: mailSchema, observer: true })
      await b.start(two as Client)
      await a.start(one as Client)
      await fixture.until(() => b.members.length === 1)
      expect(b.members[0]).to.deep.include({ id: 'a', data: { to: 'ann', tries: 0 } })
      await a.setData({ to: 'bob' })
      expect(await stored(`${path}/a`)).to.equal('{"to":"bob"}')
      await fixture.until(() => b.members[0]?.data?.to === 'bob')
    })

    itInVirtualTime('shows a member whose data it refuses, with the reason', async () => {
      const client = await fixture.open()
      await using group = new Membership(path, { id: 'a', codec: mailSchema, data: { to: 'ann' } })
      await group.start(client)
      await using other = new Membership(path, { id: 'b', data: '{}' })
      await other.start(client)
      await fixture.until(() => group.members.length === 2)
      const [, b] = group.members
      expect(b).to.include({ id: 'b', data: null })
      expect(b?.error)
        .to.be.instanceOf(RecipeError)
        .and.to.include({ code: 'UNSUPPORTED', path: `${path}/b` })
      expect(group.members[1]?.error).to.equal(b?.error)
      expect(group.members[0]).not.to.have.property('error')
      refusal(await failureOf(group.setData(wrong({}))), 'setData', /refuses it: to\.0/)
      expect(group.members[0]?.data?.to).to.equal('ann')
    })

    itInVirtualTime('needs data for a member, and a dialect that has data', () => {
      const make = (options: object) => thrownBy(() => new Membership(path, { codec: mailSchema, ...options }))
      refusal(make({}), 'Membership', /data is missing, and the codec cannot decode a node without data/)
      refusal(make({ data: {} }), 'Membership', /data: the codec refuses it: to\.0/)
      refusal(make({ dialect: 'party', observer: true }), 'Membership', /has no data but its id/)
    })
  })

  describe('payload of Services', () => {
    itEverywhere('gives payloads a type, and leaves out instances whose payload it refuses', async () => {
      const [one, two] = await fixture.openMany(2)
      await using plain = new Services(path)
      await plain.start(one as Client)
      await plain.register({ name: 'api', id: 'wrong', payload: { to: 5 } })
      await plain.register({ name: 'api', id: 'none' })
      await using services = new Services(path, { payload: mailSchema })
      await services.start(two as Client)
      const registration = await services.register({ name: 'api', id: 'right', payload: { to: 'ann' } })
      const invalid: string[] = []
      const provider = await services.provider('api', { onInvalidInstance: (_, error) => invalid.push(error.message) })
      const payloads = new Map(provider.instances.map(({ id, payload }) => [id, payload]))
      expect(Object.fromEntries(payloads)).to.deep.equal({ none: null, right: { to: 'ann', tries: 0 } })
      expect(invalid).to.deep.equal(['payload: to.0: it must be text; it is no mail'])
      const instances = await services.instances('api')
      expect(instances.map(({ id }) => id).sort()).to.deep.equal(['none', 'right'])
      expect(instances.find(({ id }) => id === 'right')?.payload?.tries).to.equal(0)
      refusal(await failureOf(registration.update({ payload: wrong({}) })), 'update', /payload: to\.0/)
      const registering = services.register({ name: 'api', payload: wrong('text') })
      refusal(await failureOf(registering), 'register', /payload: to\.0/)
      expect(registration.instance.payload).to.deep.equal({ to: 'ann' })
    })
  })

  itInVirtualTime('has the type of its values', async () => {
    const value = new SharedValue(fixture.observer, path, { codec: mailSchema, initial: { to: 'ann' } })
    const typed: SharedValue<Mail, { to: string; tries?: number }> = value
    const read: VersionedData<Mail> = await typed.get()
    expect(read.data.tries).to.equal(0)
    const numeric: SharedValue<number> = new SharedValue(fixture.observer, path, { codec: numbers, initial: 1 })
    expect((await numeric.get()).data).to.equal(1)
  })
})
