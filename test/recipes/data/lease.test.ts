import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { Lease, Mutex, type LeaseOptions } from '../../../src/recipes/index.ts'
import { decodeLease, encodeLease, endAfter, isFree, type LeaseRecord } from '../../../src/recipes/data/lease-record.ts'
import { failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const HOUR = 3_600_000

describe('the data of a lease', () => {
  it('is that of kazoo, byte for byte', () => {
    const record = { holder: 'host "1"', end: Date.UTC(2026, 0, 2, 3, 4, 5) }
    const bytes = '{"version": 1, "holder": "host \\"1\\"", "end": "2026-01-02T03:04:05"}'
    expect(encodeLease(record)).to.equal(bytes)
    expect(decodeLease(bytes)).to.deep.equal(record)
    expect(endAfter(999, 1500)).to.equal(2000)
  })

  it('of a newer version is told from data that is no lease', () => {
    expect(decodeLease('{"version": 2, "until": 5}')).to.equal('newer')
    for (const data of ['', 'null', '5', '{}', '{"version": 1}', '{"version": 1, "holder": "a", "end": "soon"}'])
      expect(decodeLease(data), data).to.equal(undefined)
    const withFields = (holder: unknown, end: unknown) => decodeLease(JSON.stringify({ version: 1, holder, end }))
    for (const end of ['2026-13-01T00:00:00', '2026-01-01T00:00', '2026-01-01T00:00:00.5', 1_767_225_600_000])
      expect(withFields('a', end), String(end)).to.equal(undefined)
    expect(withFields(1, '2026-01-01T00:00:00')).to.equal(undefined)
  })

  it('can be replaced by the same holder at any time, and by others from its end on', () => {
    const record = { holder: 'a', end: 5000 }
    expect([isFree(record, 'a', 0), isFree(record, 'b', 4999), isFree(record, 'b', 5000)]).to.deep.equal([
      true,
      false,
      true,
    ])
  })
})

onBothServers('Lease', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/above/lease`
  })

  const leaseOf = (client: Client, id: string, options: Partial<LeaseOptions> = {}) =>
    new Lease(client, path, { id, duration: HOUR, ...options })
  const stored = async (below = '') => String((await fixture.observer.getData(`${path}${below}/lease_holder`)).data)

  itEverywhere('is acquired by one holder, renewed by it, and refused to others', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const before = fixture.server.clock.wallNow()
    const term = await leaseOf(a, 'a').tryAcquire()
    expect(term).to.have.property('path', path)
    expect(term?.end).to.be.within(before + HOUR - 1000, fixture.server.clock.wallNow() + HOUR)
    expect(decodeLease(await stored())).to.deep.equal({ holder: 'a', end: term?.end })
    expect(await leaseOf(b, 'b').tryAcquire()).to.equal(null)
    expect((await leaseOf(b, 'a', { duration: 2 * HOUR }).tryAcquire())?.end).to.be.above(before + 2 * HOUR - 2000)
    expect(await leaseOf(b, 'b').tryAcquire()).to.equal(null)
  })

  itInVirtualTime('is free for others from its end on, although the session of its holder lives', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    const term = await leaseOf(a, 'a', { duration: 10_000 }).tryAcquire()
    const { clock } = fixture.server
    await fixture.sleep((term?.end ?? 0) - clock.wallNow() - 100)
    expect(await leaseOf(b, 'b').tryAcquire()).to.equal(null)
    await fixture.sleep(200)
    expect(await leaseOf(b, 'b').tryAcquire()).not.to.equal(null)
    expect(await leaseOf(a, 'a').tryAcquire()).to.equal(null)
  })

  itEverywhere('stays with its holder after the end of the session, and release() ends it', async () => {
    const [a, b] = [await fixture.open(), await fixture.open()]
    await leaseOf(a, 'a').tryAcquire()
    await a.close()
    expect(await leaseOf(b, 'b').tryAcquire()).to.equal(null)
    await leaseOf(b, 'b').release()
    expect(await leaseOf(b, 'b').tryAcquire()).to.equal(null)
    await leaseOf(b, 'a').release()
    await leaseOf(b, 'a').release()
    expect(await leaseOf(b, 'b').tryAcquire()).not.to.equal(null)
  })

  itEverywhere('with count is acquired by as many holders, and each renews its own', async () => {
    const client = await fixture.open()
    const pathOf = async (holder: string) => (await leaseOf(client, holder, { count: 2 }).tryAcquire())?.path
    expect(await pathOf('a')).to.equal(`${path}/0`)
    expect(await pathOf('b')).to.equal(`${path}/1`)
    expect(await pathOf('c')).to.equal(undefined)
    await leaseOf(client, 'a', { count: 2 }).release()
    expect(await pathOf('b'), 'a renewal does not take a second lease').to.equal(`${path}/1`)
    expect(await pathOf('c')).to.equal(`${path}/0`)
  })

  itEverywhere('waits while another client has kazoo’s lock of the lease, and can be cancelled then', async () => {
    const client = await fixture.open()
    const held = await new Mutex(fixture.observer, path, { dialect: 'kazoo' }).acquire()
    const abort = new AbortController()
    const reason = new Error('cancelled')
    const failed = failureOf(leaseOf(client, 'a').tryAcquire({ signal: abort.signal }))
    await fixture.waitForWatches(1)
    abort.abort(reason)
    expect(await failed).to.equal(reason)
    expect(await failureOf(leaseOf(client, 'a').tryAcquire({ timeout: 50 }))).to.include({ code: 'TIMEOUT', path })
    const acquiring = leaseOf(client, 'a').tryAcquire()
    await held.release()
    expect(await acquiring).not.to.equal(null)
  })

  itInVirtualTime('release() leaves the lease of another holder that acquired it meanwhile', async () => {
    const client = await fixture.open()
    await leaseOf(client, 'a').tryAcquire()
    const held = await new Mutex(fixture.observer, path, { dialect: 'kazoo' }).acquire()
    const releasing = leaseOf(client, 'a').release()
    await fixture.waitForWatches(1)
    const other = encodeLease({ holder: 'b', end: endAfter(fixture.server.clock.wallNow(), HOUR) })
    await fixture.observer.setData(`${path}/lease_holder`, other)
    await held.release()
    await releasing
    expect(await stored()).to.equal(other)
  })

  itInVirtualTime('writes nothing and rejects with LOST if another client deletes the node of its lock', async () => {
    const { client, faultyDial } = await fixture.openWithFaults()
    const sending = faultyDial.holdRequest(opcodes.multi)
    const failed = failureOf(leaseOf(client, 'a').tryAcquire())
    await sending
    for (const node of await fixture.ephemeralNodes()) await fixture.observer.delete(node)
    faultyDial.deliver()
    expect(await failed).to.include({ code: 'LOST', path })
    expect(await fixture.observer.exists(`${path}/lease_holder`)).to.equal(null)
  })

  for (const what of ['release', 'renewal', 'first acquire'] as const)
    itEverywhere(`goes on if an outsider changes the node before the write of a ${what}`, async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      const lease = leaseOf(client, 'a')
      if (what !== 'first acquire') await lease.tryAcquire()
      const sending = faultyDial.holdRequest(opcodes.multi)
      const running = what === 'release' ? lease.release() : lease.tryAcquire()
      await sending
      const node = `${path}/lease_holder`
      if (what !== 'first acquire') await fixture.observer.delete(node)
      else await fixture.observer.create(node, encodeLease({ holder: 'b', end: 1000 }))
      faultyDial.deliver()
      await running
      const holder = what === 'release' ? undefined : 'a'
      const data = await stored().catch(() => undefined)
      expect(data && (decodeLease(data) as LeaseRecord).holder).to.equal(holder)
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    })

  itInVirtualTime(
    'is refused while its data has a newer version, and rejects with UNSUPPORTED if the data is no lease',
    async () => {
      const client = await fixture.open()
      await client.create(`${path}/lease_holder`, '{"version": 2}', { parents: true })
      expect(await leaseOf(client, 'a').tryAcquire()).to.equal(null)
      await client.setData(`${path}/lease_holder`, 'mine')
      const failed = await failureOf(leaseOf(client, 'a').tryAcquire())
      expect(failed).to.include({ code: 'UNSUPPORTED', path })
      expect(await fixture.ephemeralNodes()).to.deep.equal([])
    },
  )

  itInVirtualTime('refuses options without an id or a duration', async () => {
    const client = await fixture.open()
    for (const options of [{}, { id: 'a' }, { duration: HOUR }] as never[])
      expect(() => new Lease(client, path, options))
        .to.throw()
        .with.property('code', 'BADARGUMENTS')
  })
})
