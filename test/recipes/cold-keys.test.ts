// A key that has never been used: its directory and all nodes above it are missing, or some of them.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  MultiLock,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
} from '../../src/recipes/index.ts'
import { DistantServer } from './round-trips.ts'

const calls: Readonly<Record<string, (client: Client, path: string) => Promise<unknown>>> = {
  Mutex: (client, path) => new Mutex(client, path).acquire(),
  HerdMutex: (client, path) => new HerdMutex(client, path).acquire(),
  EphemeralMutex: (client, path) => new EphemeralMutex(client, `${path}/lock`).acquire(),
  ReentrantMutex: (client, path) => new ReentrantMutex(client, path).acquire(),
  'ReadWriteLock.readLock': (client, path) => new ReadWriteLock(client, path).readLock.acquire(),
  'ReadWriteLock.writeLock': (client, path) => new ReadWriteLock(client, path).writeLock.acquire(),
  'LeaderElection.campaign': (client, path) => new LeaderElection(client, path).campaign(),
  MultiLock: (client, path) => new MultiLock([new Mutex(client, path)]).acquire(),
  'create with parents': (client, path) => client.create(`${path}/node`, '', { parents: true }),
  ensurePath: (client, path) => client.ensurePath(path),
}

describe('a key that has never been used takes two round trips, however deep it is:', () => {
  for (const [name, call] of Object.entries(calls))
    for (const chroot of ['', '/chroot'])
      it(`${name}${chroot === '' ? '' : ' below a chroot that does not exist'}`, async () => {
        await using stage = await DistantServer.at()
        const client = (await stage.open()).chroot(chroot === '' ? '/' : chroot)
        for (const depth of [1, 2, 3, 5, 60]) {
          const path = Array.from({ length: depth }, (_, i) => `/level-${depth}-${i}`).join('')
          const took = await stage.count(() => call(client, path))
          // Sixty levels are more than one packet has.
          expect(took, `depth ${depth}`).to.be.at.most(depth > 50 ? 5 : 2)
        }
      })
})
