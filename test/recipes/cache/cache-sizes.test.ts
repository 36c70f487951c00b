// A cache with sizes around limits: many nodes (NODES=66000 sets their number), lists and data that nearly fill a reply, and larger ones.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../../src/index.ts'
import { Cache } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { oneOf, seed, seededRandom } from '../../support/seeded-random.ts'
import { until } from '../../../environment/until.ts'

const MANY = Number(process.env['NODES'] ?? 10_000)

/** Default of maxReplyBytes. */
const MOST = 16 * 2 ** 20
/** The bytes of a reply to getChildren2 besides the names: its header, the number of names, and the Stat. */
const LIST_OVERHEAD = 16 + 4 + 68

describe(`a cache of large replies (SEED=${seed})`, () => {
  const random = seededRandom(seed)
  let server: Server
  let writer: Client
  /** The data of the nodes below /r, by their names. */
  let expected: Map<string, string>

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    writer = await open()
    await writer.create('/r')
    expected = new Map()
  })

  afterEach(async () => {
    await writer.close()
    await server.close()
  })

  const open = (options?: ConnectOptions) => connect(server.connectString, { dial: server.dial, ...options })

  const create = async (names: readonly string[], data = '') => {
    for (let i = 0; i < names.length; i += 1000)
      await writer.multi(names.slice(i, i + 1000).map(name => ({ create: `/r/${name}`, data })))
    for (const name of names) expected.set(name, data)
  }

  const hasAll = (cache: Cache): boolean =>
    cache.state === 'live' &&
    cache.size === expected.size + 1 &&
    new Set(cache.children('/r')).size === expected.size &&
    [...expected].every(([name, data]) => cache.get(`/r/${name}`)?.data?.toString() === data)

  it(`has each of ${MANY} children, also after changes during a lost connection`, async () => {
    const names = Array.from({ length: MANY }, (_, i) => `node-${i}`)
    await create(names)
    const faultyDial = new FaultyDial(server.dial)
    await using client = await open({ dial: faultyDial.dial })
    await using cache = new Cache(client, '/r')
    await cache.ready
    expect(hasAll(cache)).to.equal(true)

    const change = async (i: number) => {
      const name = oneOf(random, names)
      if (i % 2 === 0) await writer.setData(`/r/${name}`, String(i))
      else await writer.multi([{ delete: `/r/${name}` }, { create: `/r/${name}`, data: String(i) }])
      expected.set(name, String(i))
    }
    const changes = Array.from({ length: 1000 }, (_, i) => change(i))
    faultyDial.cut()
    await Promise.all(changes)
    await writer.setData('/r', 'after all')
    await until(() => cache.state === 'live' && cache.get('/r')?.data?.toString() === 'after all')
    await until(() => hasAll(cache))
  })

  it('reads a list alone that fills a reply, and hides the node when the list is larger', async () => {
    await create(Array.from({ length: 1000 }, (_, i) => `node-${1000 + i}`))
    const faultyDial = new FaultyDial(server.dial)
    const maxReplyBytes = LIST_OVERHEAD + 1000 * (4 + 'node-1000'.length)
    await using client = await open({ dial: faultyDial.dial, maxReplyBytes })
    await using cache = new Cache(client, '/r')
    await cache.ready
    for (let i = 0; i < 3; i++) {
      const { connects } = client.stats
      faultyDial.cut()
      await until(() => client.stats.connects > connects && hasAll(cache))
    }
    expect(client.stats.connects, 'the list was too large once together with other nodes').to.be.within(4, 5)

    await create(['node-2000'])
    await until(() => hasAll(cache))
    faultyDial.cut()
    await until(() => cache.hidden.size > 0)
    expect([cache.size, cache.hidden.get('/r')]).to.have.nested.property('[1].code', 'REPLYTOOLARGE')
    await writer.delete('/r/node-2000')
    expected.delete('node-2000')
    await writer.setData('/r', 'shorter')
    await until(() => hasAll(cache))
  })

  it('reads fewer nodes in a request if the client accepts small replies only', async () => {
    await create(
      Array.from({ length: 1000 }, (_, i) => `node-${i}`),
      'x'.repeat(500),
    )
    await using client = await open({ maxReplyBytes: 50_000 })
    await using cache = new Cache(client, '/r')
    await cache.ready
    expect([client.stats.connects, hasAll(cache)]).to.deep.equal([1, true])
  })

  for (const [title, maxReplyBytes, bytes, most] of [
    ['at once of which several fill a reply', MOST, MOST / 16 - 120, 1],
    // The second requests read two nodes each, and lose their connection together.
    ['one by one of which two are too large for one reply', MOST / 64, MOST / 120, 3],
  ] as const)
    it(`reads nodes ${title}, and loses few connections`, async () => {
      for (let i = 0; i < 50; i++) await create([`node-${i}`], 'x'.repeat(Math.floor(bytes)))
      await using client = await open({ maxReplyBytes })
      await using cache = new Cache(client, '/r')
      await cache.ready
      await until(() => hasAll(cache))
      expect(client.stats.connects).to.be.within(Math.min(2, most), most)
    })
})
