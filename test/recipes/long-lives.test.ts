// What a long life keeps: calls that are made again and again leave nothing in the session, the objects and the signals.
import { expect } from 'chai'
import { Sessions, type Client } from '../../src/index.ts'
import {
  Cache,
  LeaderElection,
  Membership,
  Mutex,
  Partitioner,
  PersistentEphemeral,
  Queue,
  Services,
  SharedValue,
} from '../../src/recipes/index.ts'
import { grownBy } from '../support/grown-collections.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { turns } from '../support/turns.ts'
import { end, PATH, publicCalls, Stage, started, type Scene } from './public-calls.ts'
import { followed, running, type Closing, type Following } from './public-objects.ts'

/** More than the dead keys that a SweepingMap keeps until it sweeps: eight, and an eighth of all keys. */
const TIMES = 12

/** A signal that lives as long as the session and the objects. */
const { signal } = new AbortController()

const MINE = new Error('mine')

/** The other member waits for this call, so without it the scene has no end. */
const needsTheCall = ['DoubleBarrier.enter']

/** Repeats work on one stage. The objects of each repetition are closed after it, and its nodes are deleted. */
async function growthOf(
  work: (scene: Scene, nth: number) => Promise<unknown>,
  before?: (scene: Scene, stage: Stage) => unknown,
) {
  const stage = await Stage.open()
  const { clock, scene } = stage
  await clock.until(Promise.resolve(before?.(scene, stage)))
  const repeat = async (nth: number) => {
    const objects: { close(): Promise<void> }[] = []
    const own: Scene = { ...scene, closeLater: object => (objects.unshift(object), object) }
    await clock.until(work(own, nth))
    for (const object of objects) await clock.until(object.close())
    await clock.until(scene.client.settled())
  }
  const grown = await grownBy(TIMES, repeat, [signal, scene.client.leaseSignal])
  await stage.close()
  return grown
}

const empty = async (client: Client) => {
  const { children } = await client.getChildren('/')
  for (const name of children) if (name !== 'zookeeper') await client.deleteRecursive(`/${name}`)
}

/** Those that wait behind others differ only in the waiter, and take long. */
const calls = Object.entries(publicCalls).filter(
  ([name]) => !name.includes('behind two others') || /^\w+Mutex\.acquire/.test(name),
)

describe('a session that lives long keeps nothing of', () => {
  for (const [name, { before, call, finish, runsUntilAborted }] of calls)
    for (const isCancelled of runsUntilAborted ? [true] : needsTheCall.includes(name) ? [false] : [false, true])
      it(`${name} that ${isCancelled ? 'was cancelled' : 'has resolved, with a signal that lives as long'}`, async () => {
        const grown = await growthOf(async scene => {
          await before?.(scene)
          const cancel = new AbortController()
          const outcome = outcomeOf(call(scene, { signal: isCancelled ? cancel.signal : signal }))
          await turns()
          if (isCancelled) cancel.abort()
          await Promise.all([finish?.(scene), outcome.then(end)])
          await scene.client.settled()
          await empty(scene.other)
        })
        expect(grown).to.deep.equal([])
      })
})

describe('an object that lives long keeps nothing of', () => {
  for (const [name, { change }] of Object.entries(followed))
    it(`the loops and listeners of ${name}`, async () => {
      let object!: Closing & Following
      const grown = await growthOf(
        async (scene, nth) => {
          const listener = () => undefined
          object.on('change', listener)
          const loop = object.changes({ signal })
          await loop.next()
          await change(scene, nth + 1)
          await loop.next()
          await loop.return?.()
          object.off('change', listener)
          if (name === 'Cache') await scene.other.delete(`${PATH}/${nth + 1}`)
        },
        async scene => (object = scene.closeLater((await running[name]?.(scene)) as Closing & Following)),
      )
      expect(grown).to.deep.equal([])
    })

  const uses: Readonly<Record<string, (scene: Scene) => Promise<(scene: Scene, nth: number) => Promise<unknown>>>> = {
    async 'PersistentEphemeral.setData'({ client, closeLater }) {
      const node = await started(closeLater(new PersistentEphemeral(PATH)), client)
      return (_, nth) => node.setData(String(nth), { signal })
    },
    ...Object.fromEntries(
      (['ephemeral', 'persistent'] as const).map(mode => [
        `PersistentEphemeral.start with another root, in mode ${mode}`,
        async ({ client, closeLater }: Scene) => {
          const roots = ['/a', '/b']
          for (const root of roots) await client.create(root)
          const node = closeLater(new PersistentEphemeral(PATH, { mode }))
          return (_: Scene, nth: number) => node.start(client.chroot(roots[nth % 2] as string), { signal })
        },
      ]),
    ),
    async 'Membership.setData'({ client, closeLater }) {
      const group = await started(closeLater(new Membership(PATH, { id: 'me' })), client)
      return (_, nth) => group.setData(String(nth), { signal })
    },
    async 'Services.register and provider'({ client, closeLater }) {
      const services = await started(closeLater(new Services(PATH)), client)
      return async (_, nth) => {
        const registration = await services.register({ name: 'api', id: `a${nth}` }, { signal })
        await registration.update({ port: 1 }, { signal })
        await (await services.provider('api', { signal })).close()
        await registration.close()
      }
    },
    async 'ServiceProvider.noteError of instances that are gone'({ client, closeLater }) {
      const services = await started(closeLater(new Services(PATH)), client)
      const provider = await services.provider('api', { downTime: 0 })
      return (_, nth) => {
        provider.noteError({ id: `a${nth}` })
        return Promise.resolve()
      }
    },
    async 'Queue.take'({ client, other, closeLater }) {
      const queue = closeLater(new Queue(client, PATH))
      await queue.put('x')
      return async () => {
        const item = await queue.take({ signal })
        await item.release()
        await new Queue(other, PATH).put('y')
        await (await queue.take({ signal })).complete()
      }
    },
    'Queue.consume'({ client, closeLater }) {
      const queue = closeLater(new Queue(client, PATH))
      return Promise.resolve(async () => {
        await queue.put('x')
        const stop = new AbortController()
        await queue.consume(() => stop.abort(), { signal: stop.signal })
      })
    },
    'Queue.consume that close() ends': ({ client }) =>
      Promise.resolve(async () => {
        const queue = new Queue(client, PATH)
        const consuming = queue.consume(() => undefined, { signal })
        await turns()
        await queue.close()
        await consuming
      }),
    'Queue.consume that an error ends': ({ client, closeLater }) => {
      const queue = closeLater(new Queue(client, PATH))
      return Promise.resolve(async () => {
        await queue.put('x')
        expect(await failureOf(queue.consume(() => Promise.reject(MINE), { signal }))).to.equal(MINE)
        await (await queue.take()).complete()
      })
    },
    'Partitioner.run that an error ends': ({ client }) =>
      Promise.resolve(async () => {
        const partitioner = new Partitioner(client, PATH, ['a'])
        expect(await failureOf(partitioner.run(() => Promise.reject(MINE), { signal }))).to.equal(MINE)
      }),
    'LeaderElection.lead that an error ends': ({ client }) =>
      Promise.resolve(async () => {
        const election = new LeaderElection(client, PATH)
        expect(await failureOf(election.lead(() => Promise.reject(MINE), { signal }))).to.equal(MINE)
      }),
    'SharedValue.update': ({ client }) => {
      const value = new SharedValue(client, PATH)
      return Promise.resolve((_, nth) => value.update(() => String(nth), { signal }))
    },
    async 'a Cache'({ client, other, closeLater }) {
      await other.create(PATH)
      const cache = closeLater(new Cache(client, PATH))
      await cache.ready
      return async (_, nth) => {
        await other.create(`${PATH}/${nth}`)
        await turns()
        await other.delete(`${PATH}/${nth}`)
        await turns()
      }
    },
    'LeaderElection.lead, term by term': ({ client, closeLater }) => {
      const stop = new AbortController()
      const ended = new EventTarget()
      const leading = new LeaderElection(client, PATH).lead(() => void ended.dispatchEvent(new Event('term')), {
        signal: stop.signal,
      })
      closeLater({ close: () => (stop.abort(), leading) })
      return Promise.resolve(() => new Promise(resolve => ended.addEventListener('term', resolve, { once: true })))
    },
    'a view and its watches': ({ client, other }) =>
      Promise.resolve(async (_, nth) => {
        const view = client.chroot('/')
        const path = `/watched-${nth}`
        await other.create(path)
        await view.getData(path, { watch: () => undefined, signal })
        await view.exists(path, { watch: () => undefined })
        const watcher = await view.addWatch(path, { recursive: nth % 2 === 0, signal })
        await (await client.addWatch('/', { signal })).close()
        await other.setData(path, 'x')
        await view.getChildren(path, { watch: () => undefined, signal })
        await other.delete(path)
        await turns()
        if (nth % 2 === 0) await watcher.close()
        await view.close()
      }),
  }
  const servers = { '': undefined, ', at a server without persistent watches': 'UNIMPLEMENTED' } as const
  for (const [name, open] of Object.entries(uses))
    for (const [where, refusal] of Object.entries(servers)) {
      if (refusal !== undefined && !/Queue|Cache/.test(name)) continue
      it(name + where, async () => {
        let use!: (scene: Scene, nth: number) => Promise<unknown>
        const grown = await growthOf(
          (scene, nth) => use(scene, nth),
          async (scene, { server }) => {
            if (refusal !== undefined) server.faults.replace('addWatch', refusal, { times: Infinity })
            use = await open(scene)
          },
        )
        expect(grown).to.deep.equal([])
      })
    }

  for (const idleTimeout of [undefined, 0])
    it(`the calls of Sessions with an idleTimeout of ${idleTimeout}`, async () => {
      const stage = await Stage.open()
      const { clock, server } = stage
      const sessions = new Sessions(server.connectString, { dial: server.dial, clock, idleTimeout })
      const work = async () => {
        await clock.until(sessions.use({ signal }, client => client.exists('/')))
        const lock = (client: Client) => new Mutex(client, PATH)
        await clock.until(sessions.withLock(lock, { signal }, () => undefined))
        const ended = sessions.use({ signal }, client => client.close())
        await clock.until(outcomeOf(ended))
      }
      const grown = await grownBy(TIMES, work, [signal])
      await clock.until(sessions.close())
      await stage.close()
      expect(grown).to.deep.equal([])
    })
})
