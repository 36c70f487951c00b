// The calls of the recipes, with a fault at each of their requests, and at each request of the end of what they return.
import { expect } from 'chai'
import { inspect } from 'node:util'
import { FaultyDial } from '../support/faulty-dial.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { Queue, ReadWriteLock, type ServiceProvider } from '../../src/recipes/index.ts'
import { outlivingSessions } from './public-objects.ts'
import { turns } from '../support/turns.ts'
import { end, keeps, PATH, publicCalls, Stage, type PublicCall } from './public-calls.ts'

/** Locks have tests of their own with a fault at each step: faults.test.ts. */
const isOfLock = (name: string) =>
  /^((EphemeralMutex|HerdMutex|Mutex|Semaphore|TicketMutex)\.\w+|\w+\.(contenders|tryAcquire|use))( behind|$)/.test(
    name,
  ) && !/^(Lease|Semaphore\.available)/.test(name)

const calls: Readonly<Record<string, PublicCall>> = {
  ...Object.fromEntries(Object.entries(publicCalls).filter(([name]) => !isOfLock(name))),
  // These take no signal.
  'QueueItem.complete': keeps(
    async ({ client, closeLater }) => {
      const queue = closeLater(new Queue(client, PATH))
      await queue.put('x')
      return queue.take()
    },
    item => item.complete(),
  ),
  'WriteHeld.downgrade': keeps(
    ({ client }) => new ReadWriteLock(client, PATH).writeLock.acquire(),
    held => held.downgrade(),
  ),
  'WriteHeld.downgrade with names of its own': keeps(
    ({ client }) => new ReadWriteLock(client, PATH, { dialect: withoutUuids }).writeLock.acquire(),
    held => held.downgrade(),
  ),
}

const withoutUuids = {
  read: { prefix: 'host-R-', pattern: /^host-R-(\d{10})$/ },
  write: { prefix: 'host-W-', pattern: /^host-W-(\d{10})$/ },
}

/** What a call has resolved with and what all clients see afterwards, without what differs between two runs. */
interface Result {
  outcome: string
  nodes: string[]
}

const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\d{9,}/g, 'N')

/** A call that writes again, with the same result, if the reply to its write was lost. */
const writesAgain = (name: string) => /^(revoke|Lease)/.test(name)

function resultOf(stage: Stage, outcome: unknown, isVersionSame: boolean): Result {
  // Two objects of a class differ by what they keep. Of a ServiceProvider, the instances that it has found count.
  const shown = (outcome as Partial<ServiceProvider> | null)?.instances ?? outcome
  const isComparable = typeof shown !== 'object' || shown === null || Array.isArray(shown) || 'version' in shown
  const nodes = [...stage.server.snapshot().nodes].map(
    ([path, { data, stat }]) =>
      `${path} ${String(data)} ${isVersionSame ? stat.version : ''} ${stat.ephemeralOwner === 0n ? '' : 'ephemeral'}`,
  )
  return { outcome: isComparable ? withoutIds(inspect(shown)) : '', nodes: nodes.map(withoutIds).sort() }
}

async function openWithFaults(before: PublicCall['before']): Promise<{ stage: Stage; faultyDial: FaultyDial }> {
  let faultyDial!: FaultyDial
  const stage = await Stage.open({}, dial => (faultyDial = new FaultyDial(dial)).dial)
  await stage.clock.until(Promise.resolve(before?.(stage.scene)))
  await stage.clock.until(stage.scene.client.settled())
  return { stage, faultyDial }
}

/** Plays the scene of a call on a connection with a fault. */
async function play(
  name: string,
  { before, call, finish, runsUntilAborted }: PublicCall,
  plan: (dial: FaultyDial) => Promise<void> | void,
): Promise<Result & { happened: boolean }> {
  const { stage, faultyDial } = await openWithFaults(before)
  const { clock, scene } = stage
  const controller = new AbortController()
  let happened = false
  void plan(faultyDial)?.then(() => (happened = true))
  const calling = outcomeOf(call(scene, runsUntilAborted === true ? { signal: controller.signal } : {}))
  await turns()
  faultyDial.accept()
  await clock.advance(1000)
  const finished = finish?.(scene)
  if (runsUntilAborted === true) controller.abort()
  const outcome = await clock.until(calling)
  await clock.advance(1000)
  const result = resultOf(stage, outcome, !writesAgain(name))
  await clock.until(Promise.all([finished, end(outcome)]))
  await stage.close()
  return { ...result, happened }
}

/**
 * Plays the scene of a call, and ends its session while the nth reply is missing, or while the call waits for others.
 * Returns false if the call had fewer requests.
 */
async function expire(name: string, { before, call, finish }: PublicCall, nth: number): Promise<boolean> {
  const { stage, faultyDial } = await openWithFaults(before)
  const { clock, server, scene } = stage
  let happened = false
  void faultyDial.holdReply('any', nth).then(() => (happened = true))
  const calling = outcomeOf(call(scene, {}))
  const hasEnded = trackSettled(calling)
  await turns()
  const isLate = hasEnded()
  server.expireSession(scene.client.sessionId)
  faultyDial.cut()
  faultyDial.heal()
  const outcome = await clock.until(calling)
  // A lease outlives the session that has written it.
  const mayResolve = isLate || (name.startsWith('Lease.') && !(outcome instanceof Error))
  if (!mayResolve) expect(outcome).to.have.property('code').that.is.oneOf(['SESSIONEXPIRED', 'LOST'])
  // What the other process does may wait for the call.
  void outcomeOf(Promise.resolve(finish?.(scene)))
  await turns()
  await clock.until(end(outcome))
  await stage.close()
  return happened
}

describe('a call of a recipe', () => {
  for (const [name, call] of Object.entries(publicCalls))
    it(`${name} waits for a connection if there is none`, () => play(name, call, dial => dial.refuse()))

  for (const [name, call] of Object.entries(calls))
    it(`${name} does the same, and leaves nothing, if any of its requests or replies is lost`, async () => {
      const expected = await play(name, call, () => undefined)
      for (const fault of ['dropRequest', 'dropReply'] as const)
        for (let [nth, happened] = [1, true]; happened; nth++) {
          const result = await play(name, call, dial => dial[fault]('any', nth)).catch((error: unknown) => {
            throw new Error(`${fault} ${nth}: ${(error as Error).message}`, { cause: error })
          })
          happened = result.happened
          expect({ ...result, happened: false }, `${fault} ${nth}`).to.deep.equal(expected)
        }
    })

  for (const [name, call] of Object.entries(calls)) {
    if (outlivingSessions.some(object => name === `${object}.changes`)) continue
    it(`${name} rejects with SESSIONEXPIRED or LOST, and leaves nothing, if its session ends meanwhile`, async () => {
      for (let [nth, happened] = [1, true]; happened; nth++)
        happened = await expire(name, call, nth).catch((error: unknown) => {
          throw new Error(`request ${nth}: ${(error as Error).message}`, { cause: error })
        })
    })
  }
})
