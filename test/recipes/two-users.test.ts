// Two users of one object: one of them ends, and the other goes on as if it were alone.
import { expect } from 'chai'
import { Cache, Membership, PersistentEphemeral, Queue, Services, type QueueItem } from '../../src/recipes/index.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'
import { turns } from '../support/turns.ts'
import { PATH, Stage, started, type Scene } from './public-calls.ts'
import { followed, running, type Closing, type Following } from './public-objects.ts'

async function onStage(run: (scene: Scene, stage: Stage) => Promise<void>): Promise<void> {
  const stage = await Stage.open()
  await stage.clock.until(run(stage.scene, stage))
  await stage.close()
}

/** A wait that can be cancelled. */
interface Waiting {
  cancel: AbortController
  outcome: Promise<unknown>
}

function waiting(call: (signal: AbortSignal) => Promise<unknown>): Waiting {
  const cancel = new AbortController()
  return { cancel, outcome: outcomeOf(call(cancel.signal)) }
}

describe('if one of two users of an object ends, the other goes on:', () => {
  for (const [name, { change, show, told }] of Object.entries(followed)) {
    const open = async (scene: Scene) => (await running[name]?.(scene)) as Closing & Following

    for (const [how, isCancelled] of Object.entries({ returns: false, 'is cancelled': true }))
      it(`${name}: a loop over changes(), when another one ${how}`, () =>
        onStage(async scene => {
          const object = await open(scene)
          const cancel = new AbortController()
          const [ended, loop] = [object.changes({ signal: cancel.signal }), object.changes()]
          await Promise.all([ended.next(), loop.next()])
          if (isCancelled) {
            cancel.abort()
            await failureOf(ended.next())
          } else await ended.return?.()
          await turns()
          for (const nth of [1, 2]) {
            await change(scene, nth)
            expect(show((await loop.next()).value as never)).to.equal(told[nth as 1 | 2])
          }
          await object.close()
        }))

    it(`${name}: a listener, when another listener and a loop end`, () =>
      onStage(async scene => {
        const object = await open(scene)
        const heard: string[] = []
        const [ended, listener] = [() => undefined, (each: unknown) => heard.push(show(each as never))]
        object.on('change', ended)
        object.on('change', listener)
        const loop = object.changes()
        await loop.next()
        object.off('change', ended)
        await loop.return?.()
        await turns()
        for (const nth of [1, 2]) {
          await change(scene, nth)
          await turns()
          expect(heard.at(-1)).to.equal(told[nth as 1 | 2])
        }
        await object.close()
      }))
  }

  const queueUses: Readonly<Record<string, (queue: Queue, signal: AbortSignal) => Promise<unknown>>> = {
    take: (queue, signal) => queue.take({ signal }).then(item => item.complete()),
    consume: (queue, signal) => queue.consume(() => undefined, { signal }),
  }
  for (const [ending, first] of Object.entries(queueUses))
    for (const [going, second] of Object.entries(queueUses))
      it(`Queue: ${going}(), when a ${ending}() of the same queue is cancelled`, () =>
        onStage(async ({ client, other }, { clock }) => {
          await using queue = new Queue(client, PATH)
          const ended = waiting(signal => first(queue, signal))
          const goesOn = waiting(signal => second(queue, signal))
          await turns()
          ended.cancel.abort()
          await ended.outcome
          await turns()
          await new Queue(other, PATH).put('x')
          await clock.advance(1000)
          expect(await queue.size()).to.equal(0)
          goesOn.cancel.abort()
          await goesOn.outcome
        }))

  it('Queue: another item, when one is completed, released or lost', () =>
    onStage(async ({ client, other }, { clock }) => {
      await using queue = new Queue(client, PATH)
      const ends: readonly ((item: QueueItem) => Promise<unknown>)[] = [
        item => item.complete(),
        item => item.release(),
        item => other.delete(`${PATH}/taken/${item.name}`).then(() => failureOf(item.complete())),
      ]
      for (const end of ends) {
        await queue.putMany(['x', 'y'])
        const [ended, goesOn] = [await queue.take(), await queue.take()]
        await end(ended)
        await clock.advance(60_000)
        expect([goesOn.signal.aborted, goesOn.hasEnded]).to.deep.equal([false, false])
        expect(client.validFor()).to.be.above(0)
        await goesOn.complete()
        while ((await queue.size()) > 0) await (await queue.take()).complete()
      }
    }))

  for (const { Lock, prepare } of kindsUnderFaults)
    it(`${Lock.name}: a contender, when another one of the same object is cancelled`, () =>
      onStage(async ({ client, other }) => {
        await prepare?.(other, PATH)
        const held = await new Lock(other, PATH).acquire()
        const lock = new Lock(client, PATH)
        const [first, second, third] = [1, 2, 3].map(() => waiting(signal => lock.use(() => 'used', { signal })))
        await turns()
        for (const each of [second, first]) {
          each?.cancel.abort()
          await each?.outcome
        }
        await held.release()
        expect(await third?.outcome).to.equal('used')
      }))

  it('Services: a provider and a registration, when others of the same name are closed', () =>
    onStage(async ({ client, other, closeLater }) => {
      const services = await started(closeLater(new Services(PATH)), client)
      const [ended, goesOn] = [await services.provider('api'), await services.provider('api')]
      const [closed, stays] = [
        await services.register({ name: 'api', id: 'a' }),
        await services.register({ name: 'api', id: 'b' }),
      ]
      await ended.close()
      await closed.close()
      const theirs = await started(closeLater(new Services(PATH)), other)
      await theirs.register({ name: 'api', id: 'c' })
      await turns()
      expect(goesOn.instances.map(({ id }) => id)).to.deep.equal(['b', 'c'])
      await stays.update({ port: 1 })
      await turns()
      expect(goesOn.instances.map(({ port }) => port ?? null)).to.deep.equal([1, null])
    }))

  /** Makes an object at the same path again and again. Returns what ends it, and whether the newest one goes on. */
  type Make = (scene: Scene) => Promise<{ end: () => Promise<unknown>; goesOn: () => Promise<boolean> }>
  const ownsNode =
    ({ client, other }: Scene, path: string) =>
    async () =>
      (await other.exists(path))?.ephemeralOwner === client.sessionId
  const oneServices = new WeakMap<Scene, Promise<Services>>()
  const servicesOf = (scene: Scene) => {
    const services = oneServices.get(scene) ?? started(scene.closeLater(new Services(PATH)), scene.client)
    oneServices.set(scene, services)
    return services
  }
  const again: Readonly<Record<string, Make>> = {
    async Registration(scene) {
      const services = await servicesOf(scene)
      const registration = await services.register({ name: 'api', id: 'a' })
      const isThere = ownsNode(scene, `${PATH}/api/a`)
      const goesOn = async () => {
        const second = await failureOf(services.register({ name: 'api', id: 'a' }))
        return (await isThere()) && (second as { code?: string }).code === 'BADARGUMENTS'
      }
      return { end: () => registration.close(), goesOn }
    },
    async ServiceProvider(scene) {
      const provider = await (await servicesOf(scene)).provider('api')
      const theirs = await started(scene.closeLater(new Services(PATH)), scene.other)
      const goesOn = async () => {
        const before = provider.instances.length
        await theirs.register({ name: 'api' })
        await turns()
        return provider.instances.length === before + 1
      }
      return { end: () => provider.close(), goesOn }
    },
    async PersistentEphemeral(scene) {
      const node = await started(new PersistentEphemeral(PATH), scene.client)
      const goesOn = async () => {
        await scene.other.delete(PATH)
        await turns()
        return ownsNode(scene, PATH)()
      }
      return { end: () => node.close(), goesOn }
    },
    async Membership(scene) {
      const group = await started(new Membership(PATH, { id: 'me' }), scene.client)
      const goesOn = async () => {
        await scene.other.delete(`${PATH}/me`)
        await turns()
        return (await ownsNode(scene, `${PATH}/me`)()) && group.members.length === 1
      }
      return { end: () => group.close(), goesOn }
    },
    async Cache(scene) {
      await scene.other.ensurePath(PATH)
      const cache = new Cache(scene.client, PATH)
      await cache.ready
      const goesOn = async () => {
        await scene.other.setData(PATH, 'new')
        await turns()
        return String(cache.get(PATH)?.data) === 'new'
      }
      return { end: () => cache.close(), goesOn }
    },
    async Watcher(scene) {
      const watcher = await scene.client.addWatch(PATH)
      const goesOn = async () => {
        await scene.other.create(PATH)
        const { value } = await watcher.next()
        await scene.other.delete(PATH)
        return value?.type === 'NodeCreated'
      }
      return { end: () => watcher.close(), goesOn }
    },
  }
  for (const [name, make] of Object.entries(again))
    it(`${name}: the next one of the same path, when the one before ends once more`, () =>
      onStage(async scene => {
        const first = await make(scene)
        await first.end()
        const second = await make(scene)
        await first.end()
        expect(await second.goesOn()).to.equal(true)
        await second.end()
      }))
})
