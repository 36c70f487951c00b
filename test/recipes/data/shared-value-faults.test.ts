// A SharedValue with a fault at each step of an update: each update is executed once, and no marker is left.
import { expect } from 'chai'
import type { Client, ObservedFrame } from '../../../src/index.ts'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { SharedValue, type VersionedData } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const textOf = ({ data }: VersionedData) => String(data)

onBothServers('SharedValue under faults', (fixture, { itInVirtualTime, itEverywhere }) => {
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

  for (const exists of [true, false])
    for (const fault of ['dropRequest', 'dropReply'] as const)
      for (const opcode of ['getData', 'multi', 'delete'] as const) {
        const define = fault === 'dropRequest' ? itInVirtualTime : itEverywhere
        const what = fault === 'dropRequest' ? 'a request' : 'the reply to a request'
        define(
          `writes once if ${what} ${opcode} is lost and the node ${exists ? 'exists' : 'does not exist'}`,
          async () => {
            const { client, faultyDial } = await fixture.openWithFaults()
            if (exists) await valueOf(fixture.observer).set('a')
            const lost = faultyDial[fault](opcodes[opcode])
            const written = await valueOf(client, { initial: 'a' }).update(append('b'))
            expect(textOf(written)).to.equal('ab')
            await lost
            expect(await stored()).to.equal('ab')
            expect((await fixture.observer.exists(path))?.version).to.equal(exists ? 1 : 0)
            expect(await markers(client)).to.deep.equal([])
          },
        )
      }

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
      const { faultyDial, client } = await fixture.openWithFaults({
        onFrame({ from, first, bytes }: ObservedFrame) {
          if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
        },
      })
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

  itInVirtualTime('rejects with SESSIONEXPIRED if the session expires while it reads or writes', async () => {
    await valueOf(fixture.observer).set('a')
    for (const opcode of ['getData', 'multi'] as const) {
      const { client, faultyDial } = await fixture.openWithFaults()
      const arrived = faultyDial.holdReply(opcodes[opcode])
      const updating = failureOf(valueOf(client).update(append('b')))
      await arrived
      await fixture.expire(client)
      expect(await updating).to.have.property('code', 'SESSIONEXPIRED')
      await client.settled()
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    }
  })
})
