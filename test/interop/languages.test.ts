// One lock for Java, Python, Go and TypeScript: docs/coming-from.md says what makes it one.
import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type Client } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { until } from '../../environment/until.ts'
import { readDocument } from '../support/document.ts'
import { sharedServer } from '../support/shared-server.ts'
import { Holders, ours, type Contender } from './contender.ts'
import { provide } from './fixture.ts'
import { curator, goZooKeeper, kazoo, newestCurator, newestKazoo, type Library, type Peer } from './peers.ts'

const ROUNDS = 15
const PATH = '/languages'
/** What KazooPeer.py calls the lock of docs/coming-from.md. */
const SHARED = 'shared'

interface Speaker {
  library: Library
  peers: readonly [Peer, Peer]
}

for (const [title, ...libraries] of [
  ['Curator and kazoo', curator, kazoo],
  ['the newest Curator, the newest kazoo and go-zookeeper', newestCurator, newestKazoo, goZooKeeper],
] as const)
  describe(`one path for zkwire, ${title}:`, function () {
    this.timeout(60_000)
    const speakers: Speaker[] = []
    let clients: readonly Client[] = []

    before(async function () {
      const { connectString } = await sharedServer()
      clients = [await connect(connectString), await connect(connectString)]
      for (const library of libraries) {
        const start = await provide(library, this)
        const peers = [await start(connectString), await start(connectString)] as const
        speakers.push({ library, peers })
        await Promise.all(peers.map(peer => peer.ask('session')))
      }
    })
    after(() => Promise.all([...clients, ...speakers.flatMap(({ peers }) => peers)].map(each => each.close())))
    afterEach(() => clients[0]?.deleteRecursive(PATH))

    /** @param pythons what KazooPeer.py calls kazoo's lock */
    const contendersOf = ({ library: { name, language, lock }, peers }: Speaker, pythons = SHARED): Contender[] =>
      peers.map((peer, i) => peer.contender(`${name} ${i}`, language === 'Python' ? pythons : lock.kind, PATH))
    const ourContenders = () => {
      const onForeignContenders = () => undefined
      return clients.map((zk, i) => ours(`ours ${i}`, zk, new Mutex(zk, PATH, { onForeignContenders })))
    }

    it('with the lock of docs/coming-from.md in Python, all contend for one lock, and no two hold it at once', async () => {
      const [holders, contenders] = [
        new Holders(),
        [...ourContenders(), ...speakers.flatMap(each => contendersOf(each))],
      ]
      const each = async (contender: Contender) => {
        for (let round = 0; round < ROUNDS; round++) await holders.turn(contender, () => delay(1))
      }
      await Promise.all(contenders.map(each))
      expect(holders).to.include({ most: 1, turns: ROUNDS * contenders.length })
    })

    it('with the default lock of kazoo, there are two locks: kazoo’s, and one for zkwire and Curator', async () => {
      const of = (language: Library['language'], pythons?: string) =>
        speakers.filter(({ library }) => library.language === language).flatMap(each => contendersOf(each, pythons))
      const [java, [python], [go]] = [of('Java'), of('Python', 'lock'), of('Go')]
      await python?.acquire()
      const [holders, contenders] = [new Holders(), [...ourContenders(), ...java]]
      await Promise.all(contenders.map(each => holders.turn(each, () => undefined)))
      expect(holders).to.include({ most: 1, turns: contenders.length })
      // Go's lock waits for the nodes of kazoo, which does not wait for Go's.
      let isHeld = true
      const waiting = go?.acquire().then(() => expect(isHeld).to.equal(false))
      const zk = clients[0] as Client
      if (go !== undefined) await until(async () => (await zk.getChildren(PATH)).children.length === 2)
      isHeld = false
      await python?.release()
      await waiting
      await go?.release()
    })
  })

describe('docs/coming-from.md', () => {
  it('shows the lock in Python that the tests run', () => {
    const shown =
      /^class SharedLock(?:.|\n)+?\n\n/m.exec(readDocument('docs/coming-from.md'))?.[0] ?? expect.fail('none')
    expect(readDocument('test/interop/KazooPeer.py')).to.contain(shown)
  })
})
