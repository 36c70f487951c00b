import { expect } from 'chai'
import { aclOf, perms, type Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { SharedValue, type VersionedData } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
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
    await Promise.all(clients.map(client => client.settled()))
    expect(await markers(fixture.observer)).to.deep.equal([])
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
      expect(await failureOf(value.update((() => Promise.reject(new Error('b'))) as never))).to.include({
        code: 'BADARGUMENTS',
      })
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
    // For the server, -1 means any version.
    expect(await a.compareAndSet({ version: -1 }, 'x')).to.equal(null)
    expect(await stored()).to.equal('b')
    for (const wrong of [{ version: undefined }, { version: 1.5 }, { version: 2 ** 31 }, undefined, null])
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
    const late: string[] = []
    const microtasks = async (count: number) => {
      for (let i = 0; i < count; i++) await Promise.resolve()
    }
    // Cancels at each moment around the one in which the reply to the read has arrived.
    for (let before = 0; before < 12; before++)
      for (let after = 0; after < 12; after++) {
        const abort = new AbortController()
        const { signal } = abort
        const fn = () => void (signal.aborted && late.push(`${before} ${after}`))
        const updating = outcomeOf(valueOf(client).update(fn, { signal }))
        await microtasks(before)
        await client.exists('/')
        await microtasks(after)
        abort.abort()
        await updating
      }
    expect(late).to.deep.equal([])
    const other = new AbortController()
    const hold = fixture.embedded.faults.hold('getData', { session: client.sessionId })
    const waiting = failureOf(valueOf(client).update(() => expect.fail('it was called'), { signal: other.signal }))
    await hold.triggered
    other.abort()
    hold.release()
    expect(await waiting).to.equal(other.signal.reason)
  })

  itEverywhere('can be the root of a view, and creates the missing nodes above it', async () => {
    const client = await fixture.open()
    const value = new SharedValue(client.chroot(path), '/', { initial: 'a' })
    expect(textOf(await value.update(append('b')))).to.equal('ab')
    expect(textOf(await value.update(append('c')))).to.equal('abc')
    expect(await stored()).to.equal('abc')
  })

  itInVirtualTime('gives each call bytes of its own, also those of the initial value', async () => {
    const value = valueOf(await fixture.open(), { initial: 'a' })
    for (const isWritten of [false, true]) {
      if (isWritten) await value.set('a')
      for (let nth = 0; nth < 3; nth++) {
        const { data } = await value.get()
        expect(String(data)).to.equal('a')
        data?.fill(0)
      }
    }
    await value.close()
  })

  itInVirtualTime('close() resolves after the markers of a write that goes on are removed', async () => {
    const client = await fixture.openSlow()
    const value = valueOf(client)
    const writing = value.set('a')
    await value.close()
    expect((await fixture.observer.getChildren(path)).children).to.deep.equal([])
    expect((await writing).data).to.deep.equal(Buffer.from('a'))
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

  describe('with a fault at each step of an update: each update is executed once, and no marker is left:', () => {
    itEverywhere('does not take the equal write of another client for its own if its request was lost', async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      const other = valueOf(fixture.observer)
      await other.set('1')
      const lost = faultyDial.dropRequest(opcodes.multi).then(() => faultyDial.refuse())
      const updating = valueOf(client).update(data => String(Number(data) + 1))
      await lost
      expect(await other.update(data => String(Number(data) + 1))).to.deep.equal({ data: Buffer.from('2'), version: 1 })
      faultyDial.accept()
      expect(await updating).to.deep.equal({ data: Buffer.from('3'), version: 2 })
    })

    itEverywhere('does not write again if its reply was lost and another client has written since', async () => {
      const { client, faultyDial } = await fixture.openWithFaults()
      const other = valueOf(fixture.observer)
      await other.set('1')
      const lost = faultyDial.dropReply(opcodes.multi).then(() => faultyDial.refuse())
      const updating = valueOf(client).update(data => String(Number(data) + 1))
      await lost
      expect(textOf(await other.update(data => String(Number(data) + 1)))).to.equal('3')
      faultyDial.accept()
      expect(await updating).to.deep.equal({ data: Buffer.from('2'), version: 1 })
      expect(await stored()).to.equal('3')
    })

    itInVirtualTime(
      'makes its server catch up before it looks for the marker of a write whose reply was lost',
      async () => {
        const sent: number[] = []
        const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
        await valueOf(fixture.observer).set('a')
        const lost = faultyDial.dropReply(opcodes.multi).then(() => (sent.length = 0))
        await valueOf(client).update(append('b'))
        await lost
        expect(sent.slice(0, 2)).to.deep.equal([opcodes.sync, opcodes.exists])
      },
    )

    itInVirtualTime('recognises its write by the refusal of its second attempt', async () => {
      const client = await fixture.open()
      const value = valueOf(client)
      await value.set('a')
      await client.settled()
      const { faults } = fixture.embedded
      const session = client.sessionId
      faults.drop('multi', { session })
      // The first look finds nothing, as if the transaction was still on its way.
      faults.replace('exists', 'NONODE', { session })
      expect(await value.update(append('b'))).to.deep.equal({ data: Buffer.from('ab'), version: 1 })
      expect(await stored()).to.equal('ab')
    })

    itEverywhere(
      'rejects with the fate unknown if the session expires after its reply was lost, and leaves no marker',
      async () => {
        const client = await fixture.open()
        const view = fixture.observer
        await valueOf(view).set('a')
        await view.settled()
        const { client: lossy, faultyDial } = await fixture.openWithFaults({ clock: fixture.server.clock })
        const lost = faultyDial.dropReply(opcodes.multi).then(() => faultyDial.refuse())
        const updating = failureOf(valueOf(lossy).update(append('b')))
        await lost
        expect(await fixture.ephemeralNodes()).to.have.length(1)
        await fixture.server.expire(lossy)
        faultyDial.accept()
        expect(await updating).to.include({ code: 'SESSIONEXPIRED', fate: 'unknown' })
        expect(await stored()).to.equal('ab')
        expect(await markers(client)).to.deep.equal([])
      },
    )

    for (const opcode of ['getData', 'multi', 'delete'] as const)
      for (const end of ['deliver', 'cut'] as const)
        itInVirtualTime(
          `rejects at once if its signal aborts while ${opcode} is in flight, and leaves no marker when the connection is ${end === 'cut' ? 'lost' : 'answered'}`,
          async () => {
            const { client, faultyDial } = await fixture.openWithFaults()
            await valueOf(fixture.observer).set('a')
            const abort = new AbortController()
            const value = valueOf(client)
            const arrived = faultyDial.holdReply(opcodes[opcode])
            const updating = outcomeOf(value.update(append('b'), { signal: abort.signal }))
            await arrived
            const reason = new Error('cancelled')
            abort.abort(reason)
            // The marker is deleted after the call has resolved.
            if (opcode === 'delete') expect(textOf((await updating) as VersionedData)).to.equal('ab')
            else expect(await updating).to.equal(reason)
            const next = value.update(append('c'))
            faultyDial[end]()
            expect(textOf(await next)).to.equal(opcode === 'getData' ? 'ac' : 'abc')
            expect(await markers(client)).to.deep.equal([])
          },
        )

    itInVirtualTime(
      'writes nothing if its signal aborts while it waits for an earlier update or for the connection',
      async () => {
        const { client, faultyDial } = await fixture.openWithFaults()
        const value = valueOf(client)
        await value.set('a')
        const reason = new Error('cancelled')
        const arrived = faultyDial.holdReply(opcodes.multi)
        const first = value.update(append('b'))
        await arrived
        const abort = new AbortController()
        const waiting = failureOf(value.update(append('x'), { signal: abort.signal }))
        abort.abort(reason)
        expect(await waiting).to.equal(reason)
        faultyDial.deliver()
        await first
        faultyDial.refuse()
        const timedOut = failureOf(value.update(append('x'), { timeout: 100 }))
        expect(await timedOut).to.include({ code: 'TIMEOUT', path })
        faultyDial.accept()
        expect(textOf(await value.update(append('c')))).to.equal('abc')
      },
    )
  })
})
