import { expect } from 'chai'
import { aclOf, perms, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { SharedValue, type VersionedData } from '../../../src/recipes/index.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const textOf = ({ data }: VersionedData) => String(data)

onBothServers('SharedValue', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/above/value`
  })

  const valueOf = (client: Client, options = {}) => new SharedValue(client, path, options)
  const append = (letter: string) => (data: Buffer | null) => `${String(data)}${letter}`
  const stored = async () => String((await fixture.observer.getData(path)).data)
  /** The names of the markers, whose deletion `settled()` has waited for. */
  const markers = async (client: Client) => {
    await client.settled()
    return (await fixture.observer.exists(path)) === null ? [] : (await fixture.observer.getChildren(path)).children
  }

  itEverywhere('creates the node and its parents with the first update, and resolves with what it wrote', async () => {
    const client = await fixture.open()
    const value = valueOf(client, { initial: 'a' })
    expect(await value.get()).to.deep.equal({ data: Buffer.from('a'), version: null })
    expect(await value.update(append('b'))).to.deep.equal({ data: Buffer.from('ab'), version: 0 })
    expect(await value.update(append('c'))).to.deep.equal({ data: Buffer.from('abc'), version: 1 })
    expect(await value.get()).to.deep.equal({ data: Buffer.from('abc'), version: 1 })
    expect(await markers(client)).to.deep.equal([])
  })

  itEverywhere('executes each of many concurrent updates of several clients once', async () => {
    const clients = await fixture.openMany(4)
    const values = clients.flatMap(client => [valueOf(client), valueOf(client)])
    const letters = 'abcdefghijklmnopqrstuvwx'.split('')
    await Promise.all(letters.map((letter, i) => (values[i % values.length] as SharedValue).update(append(letter))))
    expect((await stored()).split('').sort()).to.deep.equal(letters)
    for (const client of clients) expect(await markers(client)).to.deep.equal([])
  })

  itInVirtualTime(
    'sends three requests for each update, also if many updates of one object are called at once',
    async () => {
      const client = await fixture.open()
      const value = valueOf(client)
      await value.set('')
      await client.settled()
      const before = client.stats.replies
      await Promise.all('abcdefghij'.split('').map(letter => value.update(append(letter))))
      await client.settled()
      expect(client.stats.replies - before).to.equal(30)
      expect(await stored()).to.equal('abcdefghij')
    },
  )

  itInVirtualTime(
    'leaves the value if the function returns undefined, and writes nothing if it throws or returns a promise',
    async () => {
      const client = await fixture.open()
      const value = valueOf(client)
      const first = await value.set('a')
      expect(await value.update(() => undefined)).to.deep.equal(first)
      const error = new Error('mine')
      expect(
        await failureOf(
          value.update(() => {
            throw error
          }),
        ),
      ).to.equal(error)
      expect(await failureOf(value.update((() => Promise.resolve('b')) as never))).to.include({ code: 'BADARGUMENTS' })
      expect(await failureOf(value.update(5 as never))).to.include({ code: 'BADARGUMENTS' })
      expect(await failureOf(value.set(undefined as never))).to.include({ code: 'BADARGUMENTS' })
      expect(await value.get()).to.deep.equal(first)
      expect(await value.update(append('b'))).to.have.property('version', 1)
    },
  )

  itInVirtualTime('writes null as null', async () => {
    const client = await fixture.open()
    const value = valueOf(client)
    expect(await value.set(null)).to.deep.equal({ data: null, version: 0 })
    expect(await value.get()).to.deep.equal({ data: null, version: 0 })
  })

  itEverywhere('compareAndSet() writes only if the version is the expected one', async () => {
    const [a, b] = [valueOf(await fixture.open()), valueOf(await fixture.open())]
    const none = await a.get()
    const first = await a.compareAndSet(none, 'a')
    expect(first).to.have.property('version', 0)
    expect(await b.compareAndSet(none, 'b')).to.equal(null)
    const read = await b.get()
    await a.set('c')
    expect(await b.compareAndSet(read, 'b')).to.equal(null)
    expect(await b.compareAndSet(await b.get(), 'b')).to.have.property('version', 2)
    expect(await stored()).to.equal('b')
    for (const wrong of [{ version: undefined }, { version: 1.5 }, { version: -1 }, undefined, null])
      expect(await failureOf(a.compareAndSet(wrong as never, 'x'))).to.include({ code: 'BADARGUMENTS' })
  })

  itInVirtualTime('begins again if the node is deleted between its read and its write', async () => {
    const { client, faultyDial } = await fixture.openWithFaults()
    const value = valueOf(client)
    await value.set('a')
    await client.settled()
    const sending = faultyDial.holdRequest(opcodes.multi)
    const updating = value.update(append('b'))
    await sending
    await fixture.observer.delete(path)
    faultyDial.deliver()
    expect(await updating).to.deep.equal({ data: Buffer.from('b'), version: 0 })
  })

  itEverywhere(
    'rejects with NOAUTH for the marker if the session may not create children, and writes nothing',
    async () => {
      const acl = [aclOf('world', 'anyone', perms.read | perms.write)]
      await fixture.observer.create(path, 'a', { acl, parents: true })
      const failed = await failureOf(valueOf(await fixture.open()).set('b'))
      expect(failed).to.include({ code: 'NOAUTH', op: 'create' })
      expect(failed)
        .to.have.property('path')
        .that.matches(/\/value\/marker-/)
      expect(await stored()).to.equal('a')
    },
  )

  itInVirtualTime('does not call the function of update() after the call was cancelled', async () => {
    const client = await fixture.open()
    const abort = new AbortController()
    const updating = failureOf(valueOf(client).update(() => expect.fail('it was called'), { signal: abort.signal }))
    // In the turn in which the reply to the read arrives.
    await client.exists('/')
    abort.abort()
    expect(await updating).to.equal(abort.signal.reason)
    const other = new AbortController()
    const hold = fixture.embedded.faults.hold('getData', { session: client.sessionId })
    const waiting = failureOf(valueOf(client).update(() => expect.fail('it was called'), { signal: other.signal }))
    await hold.triggered
    other.abort()
    hold.release()
    expect(await waiting).to.equal(other.signal.reason)
  })

  itEverywhere('can be the root of a view if the parent exists, and otherwise rejects with NONODE', async () => {
    const client = await fixture.open()
    const value = new SharedValue(client.chroot(path), '/', { initial: 'a' })
    expect(await failureOf(value.update(append('b')))).to.include({ code: 'NONODE', path: '/' })
    await fixture.observer.create(`${fixture.path}/above`)
    expect(textOf(await value.update(append('b')))).to.equal('ab')
    expect(textOf(await value.update(append('c')))).to.equal('abc')
    expect(await stored()).to.equal('abc')
  })

  itInVirtualTime('removes its markers after the view that it was created with is closed', async () => {
    const client = await fixture.open()
    const view = client.chroot('/')
    const { faults } = fixture.embedded
    const held = faults.hold('multi', { session: client.sessionId })
    const updating = new SharedValue(view, path).set('a')
    await held.triggered
    await view.close()
    held.release()
    await updating
    expect(await markers(client)).to.deep.equal([])
  })

  describe('changes()', () => {
    itEverywhere(
      'yields the initial value, each update, the deletion and the next creation, and no marker',
      async () => {
        const client = await fixture.open()
        const writer = valueOf(fixture.observer)
        const stop = new AbortController()
        const yielded: (string | null)[] = []
        const iterating = (async () => {
          for await (const { data, version } of valueOf(client, { initial: '-' }).changes({ signal: stop.signal }))
            yielded.push(`${String(data)} ${version}`)
        })()
        const untilYielded = (...expected: string[]) =>
          fixture.until(() => JSON.stringify(yielded.slice(-expected.length)) === JSON.stringify(expected))
        await untilYielded('- null')
        await writer.set('a')
        await untilYielded('- null', 'a 0')
        await writer.set('b')
        await untilYielded('a 0', 'b 1')
        await fixture.observer.settled()
        await fixture.observer.delete(path)
        await untilYielded('b 1', '- null')
        await writer.set('a')
        await untilYielded('- null', 'a 0')
        const ended = failureOf(iterating)
        stop.abort()
        expect(await ended).to.equal(stop.signal.reason)
        expect(yielded).to.deep.equal(['- null', 'a 0', 'b 1', '- null', 'a 0'])
      },
    )

    itEverywhere('yields the last value after a reconnect, and no value twice', async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      const writer = valueOf(fixture.observer)
      await writer.set('a')
      const changes = valueOf(client).changes()
      expect(textOf((await changes.next()).value as VersionedData)).to.equal('a')
      const next = changes.next()
      const isSettled = trackSettled(next)
      await fixture.waitForWatches(1)
      faultyDial.cut()
      await client.whenConnected()
      await client.sync(path)
      expect(isSettled()).to.equal(false)
      faultyDial.refuse()
      await writer.set('b')
      await writer.set('c')
      faultyDial.accept()
      expect(textOf((await next).value as VersionedData)).to.equal('c')
      await changes.return()
      await client.settled()
      expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
    })

    itInVirtualTime(
      'yields a node that was deleted and created again at once, and not a node that was created and deleted at once',
      async () => {
        const { observer } = fixture
        await observer.create(path, 'a', { parents: true })
        const changes = valueOf(await fixture.open(), { initial: '-' }).changes()
        const nextText = async () => textOf((await changes.next()).value as VersionedData)
        expect(await nextText()).to.equal('a')
        await observer.multi([{ delete: path }, { create: path, data: 'b' }])
        expect(await nextText()).to.equal('b')
        await observer.delete(path)
        expect(await nextText()).to.equal('-')
        const next = nextText()
        await fixture.waitForWatches(1)
        await observer.multi([{ create: path, data: 'c' }, { delete: path }])
        await fixture.waitForWatches(1)
        await observer.create(path, 'd')
        expect(await next).to.equal('d')
        await changes.return()
      },
    )
  })
})
