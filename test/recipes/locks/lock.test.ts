// The check that every lock makes of its options. The other files of this folder test the behaviour of the locks.
import { expect } from 'chai'
import { ZooKeeperError } from '../../../src/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  LeaderElection,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  TicketMutex,
} from '../../../src/recipes/index.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('every lock', (fixture, { itInVirtualTime }) => {
  itInVirtualTime(
    'throws BADARGUMENTS if a dialect name or another value is passed instead of the options',
    async () => {
      const client = await fixture.open()
      const { path } = fixture
      for (const options of ['kazoo', 50, null] as never[])
        for (const make of [
          () => new Mutex(client, path, options),
          () => new HerdMutex(client, path, options),
          () => new TicketMutex(client, path, options),
          () => new EphemeralMutex(client, path, options),
          () => new ReentrantMutex(client, path, options),
          () => new LeaderElection(client, path, options),
          () => new ReadWriteLock(client, path, options),
          () => new Semaphore(client, path, 2, options),
        ])
          expect(make, String(make)).to.throw(ZooKeeperError).with.property('code', 'BADARGUMENTS')
    },
  )
})
