// What the session does when a wait or a hold is over: it asks the leader no more, and nobody listens to it any more.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { openACL, perms, type ACL } from '../../src/index.ts'
import { opcodes, parentOf } from '../../src/protocol/index.ts'
import { Queue } from '../../src/recipes/index.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { opcodesInto } from '../support/sent-opcodes.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'
import { turns } from '../support/turns.ts'
import { end, openACLWithout, PATH, publicCalls, Stage, type Scene } from './public-calls.ts'
import { held } from './public-objects.ts'

const SESSION_TIMEOUT = 10_000

/** Runs a scene to the end of what it is about, and then looks at the session for a long time. */
async function afterwards(play: (scene: Scene, stage: Stage) => Promise<unknown>): Promise<void> {
  const sent: number[] = []
  const stage = await Stage.open({ sessionTimeout: SESSION_TIMEOUT, onFrame: opcodesInto(sent) })
  const { clock, scene } = stage
  const listeners = () => getEventListeners(scene.client.leaseSignal, 'abort').length
  const before = listeners()
  await clock.until(play(scene, stage))
  await clock.until(scene.client.settled())
  await turns()
  expect(listeners(), 'listeners on the signal of the session').to.equal(before)
  // A question that was sent before the end may be answered after it.
  await clock.advance(SESSION_TIMEOUT)
  sent.length = 0
  await clock.advance(5 * SESSION_TIMEOUT)
  const names = Object.entries(opcodes).filter(([, opcode]) => sent.includes(opcode))
  expect(names.map(([operation]) => operation)).to.deep.equal(['ping'])
  await stage.close()
}

describe('after its end, the session sends only pings, and nobody listens to it:', () => {
  for (const [name, { before, call, finish, runsUntilAborted, hasNoTimeout }] of Object.entries(publicCalls)) {
    if (runsUntilAborted !== true)
      it(`${name} that has resolved, and whose result has ended`, () =>
        afterwards(async (scene, { clock }) => {
          await before?.(scene)
          const outcome = outcomeOf(call(scene, {}))
          await turns()
          // A wait for a turn lasts long enough to ask the leader.
          if (finish !== undefined) await clock.advance(3 * SESSION_TIMEOUT)
          await Promise.all([finish?.(scene), outcome.then(end)])
        }))

    it(`${name} that was cancelled`, () =>
      afterwards(async (scene, { clock }) => {
        await before?.(scene)
        const cancel = new AbortController()
        const outcome = outcomeOf(call(scene, { signal: cancel.signal }))
        await turns()
        if (finish !== undefined || runsUntilAborted === true) await clock.advance(3 * SESSION_TIMEOUT)
        cancel.abort()
        await end(await outcome)
      }))

    if (finish !== undefined && hasNoTimeout !== true)
      it(`${name} that has a timeout, and waits for it if it waits at all`, () =>
        afterwards(async scene => {
          await before?.(scene)
          await end(await outcomeOf(call(scene, { timeout: 3 * SESSION_TIMEOUT })))
        }))
  }

  for (const { Lock } of kindsUnderFaults)
    it(`acquire() of ${Lock.name} behind one other, that waited for long and was cancelled`, () =>
      afterwards(async ({ client, other }, { clock }) => {
        const held = await new Lock(other, PATH).acquire()
        const cancel = new AbortController()
        const outcome = outcomeOf(new Lock(client, PATH).acquire({ signal: cancel.signal }))
        await clock.advance(3 * SESSION_TIMEOUT)
        cancel.abort()
        await end(await outcome)
        await held.release()
      }))

  for (const [name, { hold }] of Object.entries(held))
    it(`${name} that was held for long and then released`, () =>
      afterwards(async (scene, { clock }) => {
        const object = await hold(scene)
        await clock.advance(3 * SESSION_TIMEOUT)
        await object.release()
      }))

  // A lost item is held until its consumer ends it.
  for (const [name, { hold }] of Object.entries(held).filter(([name]) => name.endsWith('Held')))
    it(`${name} that was lost, and that the server refuses to delete`, () =>
      afterwards(async (scene, stage) => {
        const { client, other, closeLater } = scene
        const object = await hold(scene)
        const directories = stage.owned.nodes.map(parentOf)
        const allow = (entries: readonly ACL[]) => Promise.all(directories.map(path => other.setACL(path, entries)))
        await allow(openACLWithout(perms.delete))
        await stage.server.stop()
        await stage.clock.advance(2 * SESSION_TIMEOUT)
        await stage.server.start()
        await Promise.all([client.whenConnected(), other.whenConnected()])
        await client.settled()
        expect(stage.owned.nodes).to.have.length(directories.length)
        closeLater({ close: () => allow(openACL).then(() => object.release()) })
      }))

  it('a QueueItem that was completed', () =>
    afterwards(async ({ client, closeLater }, { clock }) => {
      const queue = closeLater(new Queue(client, PATH))
      await queue.put('x')
      const item = await queue.take()
      await clock.advance(3 * SESSION_TIMEOUT)
      await item.complete()
      expect(item.signal.aborted).to.equal(false)
    }))

  it('a QueueItem whose node another client has deleted', () =>
    afterwards(async ({ client, other, closeLater }) => {
      const queue = closeLater(new Queue(client, PATH))
      await queue.put('x')
      const item = await queue.take()
      await other.delete(`${PATH}/taken/${item.name}`)
      expect(await failureOf(item.complete())).to.have.property('code', 'LOST')
    }))
})
