// Both servers list the children of a node in the same order, after the same creates and deletes.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { oneOf, seed, seededRandom, type Random } from '../support/seeded-random.ts'
import { sharedServer } from '../support/shared-server.ts'

/** Names as programs choose them, by the number of the name. */
const shapes: Readonly<Record<string, (i: number, random: Random) => string>> = {
  'of sequential nodes': i => `lock-${String(i).padStart(10, '0')}`,
  "of Curator's nodes": (i, random) =>
    `_c_${Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')}-lease-${String(i).padStart(10, '0')}`,
  'that are numbers': i => String(i),
  'of hosts': (i, random) => `10.0.${Math.floor(random() * 256)}.${i}:2181`,
  'of all languages': (i, random) => `${oneOf(random, ['é', 'ß', '日本', '\u0100', 'Ж'])}${i * 7919}`,
}

describe(`the children of a node (SEED=${seed})`, function () {
  this.timeout(60_000)
  let server: Server
  let clients: readonly [Client, Client]
  const base = `/order-${seed}`

  before(async () => {
    server = await Server.start()
    clients = [await connect(server.connectString), await connect((await sharedServer()).connectString)]
    for (const zk of clients) await zk.create(base)
  })
  after(async () => {
    await clients[1].deleteRecursive(base)
    for (const zk of clients) await zk.close()
    await server.close()
  })

  const onBoth = async <T>(call: (zk: Client) => Promise<T>): Promise<readonly [T, T]> => {
    const [ours, theirs] = await Promise.all(clients.map(call))
    return [ours as T, theirs as T]
  }

  for (const [index, [shape, nameOf]] of Object.entries(shapes).entries())
    it(`with names ${shape} are listed as by Apache's server, whatever was deleted or rolled back before`, async () => {
      const random = seededRandom(seed + index)
      const parent = `${base}/${index}`
      await onBoth(zk => zk.create(parent))
      const names: string[] = []
      let count = 0
      for (let step = 0; step < 60; step++) {
        const added = Array.from({ length: Math.floor(random() ** 3 * 60) }, () => nameOf(count++, random))
        const removed = names.filter(() => random() < oneOf(random, [0, 0.05, 0.5]))
        const isRejected = random() < 0.3
        await onBoth(zk => {
          const transaction = zk.transaction()
          for (const name of added) transaction.create(`${parent}/${name}`)
          for (const name of removed) transaction.delete(`${parent}/${name}`)
          if (isRejected) transaction.check('/missing', 1)
          return added.length + removed.length === 0 ? Promise.resolve([]) : transaction.commit().catch(() => [])
        })
        if (!isRejected) names.splice(0, names.length, ...names.filter(name => !removed.includes(name)), ...added)
        const [ours, theirs] = await onBoth(zk => zk.getChildren(parent))
        expect(ours.children).to.deep.equal(theirs.children)
        expect(ours.children).to.have.length(names.length)
      }
      expect(count).to.be.above(300)
    })

  it('of the root are listed in the same way', async () => {
    const [ours, theirs] = await onBoth(zk => zk.getChildren('/zookeeper'))
    expect(ours.children).to.deep.equal(theirs.children)
  })
})
