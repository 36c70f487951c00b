// Locks of other libraries on the same path.
import { expect } from 'chai'
import { Mutex } from '../../src/recipes/index.ts'
import { incrementAll, ours } from '../interop/contender.ts'
import { curator, kazoo, type Library, type Peer } from '../interop/peers.ts'
import type { Subject } from './subject.ts'

const ROUNDS = 10

const partners: Readonly<Record<string, Library>> = {
  'kazoo’s Lock': kazoo,
  'Curator’s InterProcessMutex': curator,
}

export function interopSuite(subject: Subject): void {
  for (const [
    name,
    {
      provide,
      lock: { kind, dialect },
    },
  ] of Object.entries(partners)) {
    it(`Mutex and ${name} lose no update, and leave nothing behind`, async function () {
      // The library may have to be installed first.
      this.timeout(600_000)
      // Curator 5 needs a server of 3.5.
      if (dialect === 'curator' && !subject.has('creates with a Stat, containers, removal of watches, TLS'))
        return this.skip()
      const start = await provide()
      const { client, path, server } = subject
      const counter = `${path}/counter`
      const lock = `${path}/lock`
      await client.create(counter, '0')
      const peers: Peer[] = await Promise.all([1, 2].map(() => start(server.connectString)))
      try {
        const others = peers.map((peer, i) => peer.contender(`theirs ${i}`, kind, lock))
        const increments = await incrementAll(
          [ours('ours', client, new Mutex(client, lock, { dialect })), ...others],
          counter,
          ROUNDS,
        )
        expect(increments.map(({ previous }) => previous)).to.deep.equal(
          Array.from({ length: 3 * ROUNDS }, (_, i) => i),
        )
        expect((await client.getChildren(lock)).children).to.deep.equal([])
      } finally {
        await Promise.all(peers.map(peer => peer.close()))
      }
    })
  }
}
