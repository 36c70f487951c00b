// Ends that the server refuses: what is held stays as it was, and its node is known to be the own one before it is
// deleted. Also the end of use(), which comes when the node is gone, and the loss that a process notices when it goes on.
import { expect } from 'chai'
import { openACL, perms, type ACL, type Client } from '../../src/index.ts'
import { opcodes, parentOf } from '../../src/protocol/index.ts'
import {
  EphemeralMutex,
  LeaderElection,
  Membership,
  MultiLock,
  Mutex,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  Semaphore,
  Services,
  type Held,
  type Lock,
} from '../../src/recipes/index.ts'
import { opcodesInto } from '../support/sent-opcodes.ts'
import { abortOf, failureOf, outcomeOf } from '../support/settled.ts'
import { onBothServers } from './fixture.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'
import { turns } from '../support/turns.ts'
import { openACLWithout, PATH, Stage, started, type Scene } from './public-calls.ts'

const SESSION_TIMEOUT = 10_000

type Holding = Pick<Held, 'signal' | 'release'> & Partial<Pick<Held, 'validFor'>>

/** Runs lead(), and returns what its function got. */
function leading({ client, closeLater }: Scene): Promise<Held> {
  const stop = new AbortController()
  return new Promise(resolve => {
    const leads = new LeaderElection(client, PATH).lead(
      async held => {
        resolve(held)
        await abortOf(stop.signal)
      },
      { signal: stop.signal },
    )
    closeLater({ close: () => (stop.abort(), leads) })
  })
}

const holders: Readonly<Record<string, (scene: Scene) => Promise<Holding>>> = {
  ...Object.fromEntries(
    kindsUnderFaults.map(({ Lock: Kind }) => [
      Kind.name,
      ({ client }: Scene) => new Kind(client, `${PATH}/lock`).acquire({ watchOwnNode: true }),
    ]),
  ),
  'Semaphore of two permits': ({ client }) =>
    new Semaphore(client, PATH, 2).acquire({ permits: 2, watchOwnNode: true }),
  'a downgraded lock': async ({ client }) =>
    (await new ReadWriteLock(client, PATH).writeLock.acquire({ watchOwnNode: true })).downgrade(),
  ReentrantMutex: ({ client }) => new ReentrantMutex(client, PATH).acquire({ watchOwnNode: true }),
  MultiLock: ({ client }) =>
    new MultiLock([new Mutex(client, `${PATH}/a`), new Mutex(client, `${PATH}/b`)]).acquire({ watchOwnNode: true }),
  'lead()': leading,
  QueueItem: async ({ client, closeLater }) => {
    const queue = closeLater(new Queue(client, PATH))
    await queue.put('x')
    return queue.take()
  },
}

describe('what is held after a release that the server refused', () => {
  for (const [name, hold] of Object.entries(holders))
    it(`${name}: its session asks the leader as before, its loss is reported, and it can be released`, async () => {
      for (const isLost of [true, false]) {
        const sent: number[] = []
        const stage = await Stage.open({ sessionTimeout: SESSION_TIMEOUT, onFrame: opcodesInto(sent) })
        const { clock, scene } = stage
        const held = await clock.until(hold(scene))
        await clock.until(scene.client.settled())
        /** The kinds of requests that the session sends for long. */
        const asks = async () => {
          await clock.advance(SESSION_TIMEOUT)
          sent.length = 0
          await clock.advance(5 * SESSION_TIMEOUT)
          return [...new Set(sent)].sort((a, b) => a - b)
        }
        const asked = await asks()
        expect(asked).to.include.oneOf([opcodes.sync, opcodes.multi])
        const nodes = [...stage.owned.nodes]
        const directories = [...new Set(nodes.map(parentOf))]
        const allow = async (entries: readonly ACL[]) => {
          for (const path of directories) await scene.other.setACL(path, entries)
        }
        await clock.until(allow(openACLWithout(perms.delete)))
        expect(await clock.until(failureOf(held.release()))).to.have.property('code', 'NOAUTH')
        expect(await asks(), 'asks the leader').to.deep.equal(asked)
        expect(held.signal.aborted).to.equal(false)
        if (held.validFor !== undefined) expect(held.validFor()).to.be.above(0)
        await clock.until(allow(openACL))
        if (isLost) {
          if (name === 'QueueItem') {
            await stage.server.stop()
            await clock.advance(2 * SESSION_TIMEOUT)
            await stage.server.start()
            await clock.until(scene.client.whenConnected())
            await clock.until(scene.other.whenConnected())
          } else await clock.until(scene.other.delete(nodes.at(-1) ?? ''))
          await turns()
          expect(held.signal.aborted, 'is lost').to.equal(true)
        }
        await clock.until(held.release())
        await stage.close()
      }
    })
})

describe('what is held by a process that stood still', () => {
  for (const [name, hold] of Object.entries(holders))
    it(`${name} is lost when its signal is read`, async () => {
      const stage = await Stage.open({ sessionTimeout: SESSION_TIMEOUT })
      const { clock, scene } = stage
      const held = await clock.until(hold(scene))
      clock.stall(2 * SESSION_TIMEOUT)
      expect(held.signal.aborted).to.equal(true)
      await clock.until(held.release())
      await stage.close()
    })
})

const keepers: Readonly<Record<string, (scene: Scene) => Promise<{ close(): Promise<void> }>>> = {
  PersistentEphemeral: ({ client }) => started(new PersistentEphemeral(`${PATH}/me`), client),
  Membership: ({ client }) => started(new Membership(PATH, { id: 'me' }), client),
  Services: async ({ client }) => {
    const services = await started(new Services(PATH), client)
    await services.register({ name: 'api', id: 'a' })
    return services
  },
}

describe('close() that the server has refused can be called again, and removes the node then:', () => {
  for (const [name, open] of Object.entries(keepers))
    it(name, async () => {
      const stage = await Stage.open()
      const { clock, scene } = stage
      const object = await clock.until(open(scene))
      const [node = ''] = stage.owned.nodes
      await clock.until(scene.other.setACL(parentOf(node), openACLWithout(perms.delete)))
      expect(await clock.until(failureOf(object.close()))).to.have.property('code', 'NOAUTH')
      expect(stage.owned.nodes).to.deep.equal([node])
      await clock.until(scene.other.setACL(parentOf(node), openACL))
      await clock.until(object.close())
      expect(stage.owned.nodes).to.deep.equal([])
      await stage.close()
    })
})

const named = { prefix: 'lock-', pattern: /^lock-(\d{10})$/ }

/** Those whose node may have the name of a later one. */
const withoutUniqueNames: Readonly<Record<string, (client: Client, scene: Scene) => Promise<Holding>>> = {
  EphemeralMutex: client => new EphemeralMutex(client, '/lock').acquire(),
  'Mutex with a constant prefix': client => new Mutex(client, '/lock', { dialect: named }).acquire(),
  'Mutex with a constant prefix that does not look ahead': client =>
    new Mutex(client, '/lock', { dialect: named, lookAhead: false }).acquire(),
  QueueItem: (client, { closeLater }) => closeLater(new Queue(client, '/queue')).take(),
}

describe('a release at a server that refuses exists(), as for a node that the session may not read', () => {
  for (const [name, hold] of Object.entries(withoutUniqueNames))
    for (const isReplaced of [true, false])
      it(`of ${name} ${isReplaced ? 'leaves the node of the next holder' : 'deletes the own node'}`, async () => {
        const stage = await Stage.open()
        const { clock, server } = stage
        const { client, other } = stage.scene
        await clock.until(new Queue(other, '/queue').put('x'))
        const held = await clock.until(hold(client, stage.scene))
        let next: Holding | undefined
        if (isReplaced) {
          const [own = ''] = stage.owned.nodes
          await clock.until(other.delete(own))
          // Its numbers begin again only in a new directory.
          if (/\d{10}$/.test(own) && name !== 'QueueItem') await clock.until(other.delete('/lock'))
          next = await clock.until(hold(other, stage.scene))
        }
        server.faults.replace('exists', 'NOAUTH', { session: client.sessionId, times: Infinity })
        await clock.until(held.release())
        const owned = server.snapshot().sessions.map(({ ephemerals }) => ephemerals.length)
        expect(owned.reduce((sum, count) => sum + count)).to.equal(isReplaced ? 1 : 0)
        server.faults.clear()
        await clock.until(next?.release() ?? Promise.resolve())
        await clock.until(client.settled())
        await stage.close()
      })
})

/** What runs while the lock is held. */
const functions: Readonly<Record<string, () => Promise<string>>> = {
  resolves: () => Promise.resolve('done'),
  rejects: () => Promise.reject(new Error('failed')),
}

onBothServers('use()', (fixture, { itInVirtualTime }) => {
  const locks: Readonly<Record<string, (client: Client) => Lock | MultiLock>> = {
    ...Object.fromEntries(
      kindsUnderFaults.map(({ Lock: Kind }) => [
        Kind.name,
        (client: Client) => new Kind(client, `${fixture.path}/lock`),
      ]),
    ),
    ReentrantMutex: client => new ReentrantMutex(client, fixture.path),
    MultiLock: client => new MultiLock(['a', 'b'].map(each => new Mutex(client, `${fixture.path}/${each}`))),
  }
  for (const [name, make] of Object.entries(locks)) {
    for (const [how, fn] of Object.entries(functions))
      itInVirtualTime(`of ${name} settles when the node is gone if its function ${how}`, async () => {
        const client = await fixture.openSlow()
        const left = await outcomeOf(make(client).use(fn)).then(() =>
          fixture.embedded.snapshot().sessions.find(({ id }) => id === client.sessionId),
        )
        // A semaphore may leave its gate later.
        expect(left?.ephemerals.filter(path => !path.includes('/locks/'))).to.deep.equal([])
      })

    itInVirtualTime(
      `of ${name} rejects with both errors if its function fails and the release is refused`,
      async () => {
        const client = await fixture.open()
        const failed = new Error('failed')
        const fail = () => {
          for (const kind of ['delete', 'multi'] as const)
            fixture.embedded.faults.replace(kind, 'NOAUTH', { session: client.sessionId, times: Infinity })
          throw failed
        }
        const error = (await outcomeOf(make(client).use(fail))) as AggregateError
        expect(error).to.be.instanceOf(AggregateError)
        expect(error.errors[0]).to.equal(failed)
        expect(error.errors[1]).to.have.property('code', 'NOAUTH')
        fixture.embedded.faults.clear()
        await client.close()
      },
    )
  }
})
