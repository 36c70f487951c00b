// What a queue's watch offers after each end of an attempt to take an item, before the server's events say the same.
import { expect } from 'chai'
import { Queue } from '../../../src/recipes/index.ts'
import { QueueWatch } from '../../../src/recipes/data/queue-watch.ts'
import { grownBy } from '../../support/grown-collections.ts'
import { failureOf } from '../../support/settled.ts'
import { turns } from '../../support/turns.ts'
import { PATH, Stage, type Scene } from '../public-calls.ts'

/** At a server with persistent watches, and at one without. */
const servers = { 'with persistent watches': undefined, 'without persistent watches': 'UNIMPLEMENTED' } as const

/** What ends an attempt, whether this process may pick the item again at once, and when a list shows it as not taken. */
const ends: Readonly<
  Record<string, { end: (watch: QueueWatch, name: string) => void; atOnce: boolean; whenListed: boolean }>
> = {
  'does not exist': { end: (watch, name) => watch.gone(name), atOnce: false, whenListed: false },
  'was taken': { end: (watch, name) => watch.taken(name), atOnce: false, whenListed: true },
  'cannot be decoded': { end: (watch, name) => watch.invalid(name), atOnce: false, whenListed: false },
  'could not be claimed': { end: (watch, name) => watch.failed(name), atOnce: true, whenListed: true },
}

for (const [where, refusal] of Object.entries(servers))
  describe(`the watch of a queue at a server ${where}`, () => {
    async function onStage(work: (scene: Scene, stage: Stage) => Promise<void>): Promise<void> {
      const stage = await Stage.open()
      if (refusal !== undefined) stage.server.faults.replace('addWatch', refusal, { times: Infinity })
      await stage.clock.until(work(stage.scene, stage))
      await stage.close()
    }
    async function openWatch({ client, closeLater }: Scene): Promise<QueueWatch> {
      const watch = new QueueWatch(client.chroot('/'), PATH)
      await watch.loaded
      closeLater({ close: () => watch.close(new Error('the test has ended')) })
      return watch
    }

    for (const [what, { end, atOnce, whenListed }] of Object.entries(ends)) {
      const when = atOnce ? 'again at once' : whenListed ? 'again when it is not taken' : 'no more'
      it(`offers an item that ${what} ${when}`, () =>
        onStage(async scene => {
          await new Queue(scene.other, PATH).putMany(['first', 'second'])
          const watch = await openWatch(scene)
          const first = watch.pick(0) as string
          end(watch, first)
          const next = watch.pick(0) as string
          expect(next === first, 'at once').to.equal(atOnce)
          watch.failed(next)
          // Behind a list of the items that is older than the end.
          watch.index.load('taken', [])
          expect(watch.pick(0) === first, 'when it is listed').to.equal(whenListed)
        }))
    }

    it('offers a taken item again when this process has given it back, or another one', () =>
      onStage(async (scene, { clock }) => {
        const { client, other } = scene
        await new Queue(other, PATH).put('x')
        const watch = await openWatch(scene)
        for (const giver of [client, other]) {
          const name = watch.pick(0) as string
          const node = `${PATH}/taken/${name}`
          await giver.create(node, '', { parents: true })
          watch.taken(name)
          expect(watch.pick(0)).to.equal(undefined)
          await giver.delete(node)
          if (giver === client) watch.givenBack(name)
          if (refusal === undefined) await turns()
          // Without persistent watches, this process learns from lists what another one does.
          else if (giver === other) await clock.advance(2000)
          expect(watch.pick(0), giver === client ? 'by this process' : 'by another one').to.equal(name)
          watch.failed(name)
        }
      }))

    it('lists the directories again if they are created while it begins', () =>
      onStage(async (scene, { server }) => {
        const { client, other } = scene
        const list = server.faults.hold('getChildren', { session: client.sessionId })
        const opening = openWatch(scene)
        await list.triggered
        await new Queue(other, PATH).put('x')
        list.release()
        const watch = await opening
        await turns()
        expect(watch.pick(0)).not.to.equal(undefined)
      }))

    it('ends the waits for an item when it is closed', () =>
      onStage(async scene => {
        const watch = await openWatch(scene)
        const { signal } = new AbortController()
        const waits = [1, 2].map(() => failureOf(watch.whenAvailable(signal)))
        await turns()
        const reason = new Error('closed')
        await watch.close(reason)
        expect(await Promise.all(waits)).to.deep.equal([reason, reason])
      }))

    it('ends the pause before the next list when it is closed', () =>
      onStage(async (scene, { clock }) => {
        const queue = new Queue(scene.other, PATH)
        await queue.put('x')
        const timers = clock.pendingTimers
        const watch = await openWatch(scene)
        await queue.put('y')
        await turns()
        await watch.close(new Error('closed'))
        await turns()
        expect(clock.pendingTimers).to.equal(timers)
      }))

    it('keeps nothing of items that were there once', () =>
      onStage(async (scene, { clock }) => {
        const watch = await openWatch(scene)
        const queue = new Queue(scene.other, PATH)
        for (const [what, { end }] of Object.entries(ends)) {
          const grown = await grownBy(12, async () => {
            await queue.put('x')
            await (refusal === undefined ? turns() : clock.advance(2000))
            const name = watch.pick(0) as string
            expect(name, what).to.be.a('string')
            await scene.other.create(`${PATH}/taken/${name}`, '', { parents: true })
            end(watch, name)
            await scene.other.multi([{ delete: `${PATH}/entries/${name}` }, { delete: `${PATH}/taken/${name}` }])
            await (refusal === undefined ? turns() : clock.advance(2000))
          })
          expect(grown, what).to.deep.equal([])
        }
      }))
  })
