// The option acl, in every recipe that has it: each node that the recipe creates at its path and below has that ACL.
import { expect } from 'chai'
import { basename, dirname } from 'node:path/posix'
import { aclOf, digest, openACL, perms, type ACL, type Client } from '../../src/index.ts'
import {
  Barrier,
  Counter,
  DoubleBarrier,
  HerdMutex,
  LeaderElection,
  Lease,
  Membership,
  Mutex,
  Partitioner,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  Services,
  SharedValue,
  TicketMutex,
} from '../../src/recipes/index.ts'
import { publicCallsWith } from '../support/public-names.ts'
import { Stage } from './public-calls.ts'

type Options = { acl: readonly ACL[] }

/** What uses the recipe at a path so that it creates all kinds of its nodes, and calls back while they exist. */
type Use = (client: Client, path: string, options: Options, look: () => void) => Promise<unknown>

const holding =
  (make: (client: Client, path: string, options: Options) => { use(fn: () => void): Promise<unknown> }): Use =>
  (client, path, options, look) =>
    make(client, path, options).use(look)

const uses: Readonly<Record<string, Use>> = {
  'new Mutex': holding((...args) => new Mutex(...args)),
  'new HerdMutex': holding((...args) => new HerdMutex(...args)),
  'new TicketMutex': async (client, path, options, look) => {
    // The second holder reads which ticket was released.
    const lock = new TicketMutex(client, path, options)
    for (let i = 0; i < 2; i++) await lock.use(look)
  },
  'new ReentrantMutex': holding((...args) => new ReentrantMutex(...args)),
  'new Semaphore': holding((client, path, options) => new Semaphore(client, path, 1, options)),
  'new ReadWriteLock': async (client, path, options, look) => {
    const { writeLock, readLock } = new ReadWriteLock(client, path, options)
    await readLock.use(look)
    const held = await writeLock.acquire()
    look()
    const reading = await held.downgrade()
    look()
    await reading.release()
  },
  'new LeaderElection': async (client, path, options, look) => {
    const held = await new LeaderElection(client, path, options).campaign()
    look()
    await held.release()
  },
  'new Barrier': async (client, path, options, look) => {
    await new Barrier(client, path, options).raise()
    look()
  },
  'new DoubleBarrier': async (client, path, options, look) => {
    const barrier = new DoubleBarrier(client, path, 1, options)
    await barrier.enter()
    look()
    await barrier.leave()
  },
  'new Counter': async (client, path, options, look) => {
    await new Counter(client, path, options).increment()
    look()
  },
  'new SharedValue': async (client, path, options, look) => {
    await new SharedValue(client, path, options).set('x')
    look()
  },
  'new Lease': async (client, path, { acl }, look) => {
    const one = new Lease(client, path, { id: 'me', duration: 60_000, acl })
    const several = new Lease(client, `${path}/several`, { id: 'me', duration: 60_000, count: 2, acl })
    await one.tryAcquire()
    look()
    await several.tryAcquire()
    look()
  },
  'new Queue': async (client, path, options, look) => {
    await using queue = new Queue(client, path, options)
    await queue.put('x')
    look()
    const item = await queue.take()
    look()
    await item.release()
  },
  'new Membership': async (client, path, { acl }, look) => {
    await using group = new Membership(path, { id: 'me', acl })
    await group.start(client)
    look()
  },
  'new PersistentEphemeral': async (client, path, options, look) => {
    // A missing parent gets the ACL too.
    await using node = new PersistentEphemeral(`${path}/node`, options)
    await node.start(client)
    look()
  },
  'new Services': async (client, path, options, look) => {
    // Each service is a directory.
    await using services = new Services(dirname(path), options)
    await services.start(client)
    await services.register({ name: basename(path), id: 'a' })
    look()
  },
  'new Partitioner': async (client, path, options, look) => {
    const stop = new AbortController()
    const task = () => {
      look()
      stop.abort()
    }
    await new Partitioner(client, path, ['a'], options).run(task, { signal: stop.signal })
  },
}

describe('the option acl of a recipe', () => {
  it('is tested here if the recipe has it', () => {
    expect(Object.keys(uses)).to.have.members(publicCallsWith('acl', ['src/recipes/index.ts']))
  }).timeout(60_000)

  const newACL = () => [aclOf('world', 'anyone'), aclOf('digest', digest('ann', 'secret'), perms.read)]

  for (const [name, use] of Object.entries(uses))
    it(`${name} gives it, as it was at the call, to each node at its path and below, and to none above`, async () => {
      const stage = await Stage.open()
      const { clock, server, scene } = stage
      const seen = new Map<string, readonly ACL[]>()
      const look = () => {
        for (const [path, node] of server.snapshot().nodes) seen.set(path, node.acl)
      }
      const given = newACL()
      const using = use(scene.client, '/above/recipe', { acl: given }, look)
      for (const entry of given) Object.assign(entry, { perms: perms.read, id: { scheme: 'world', id: 'nobody' } })
      given.length = 1
      await clock.until(using)
      const below = [...seen.keys()].filter(path => path.startsWith('/above/recipe'))
      expect(below.length).to.be.above(0)
      for (const path of below) expect(seen.get(path), path).to.deep.equal(newACL())
      expect(seen.get('/above')).to.deep.equal(openACL)
      await stage.close()
    })
})
