// The rules are useful only if they find bugs. Each mutant plays the scenario that shows its bug. With a correct lock
// the same scenario must break no rule.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { QueueLock } from '../../src/recipes/locks/queue-lock.ts'
import type { Violation } from './invariants.ts'
import {
  AdoptsFirstNode,
  DoesNotWatchItsNode,
  LeavesItsWatch,
  LeaksItsNode,
  IgnoresItsLoss,
  sequenceOnly,
  IgnoresFailedDelete,
  MissesTheDelete,
  UsesSequenceAsToken,
  TakesAnyEventForGrant,
  TakesWakeUpForGrant,
} from './mutants.ts'
import { kinds } from './tenures.ts'
import { PATIENCE, runScenario, type OpenActor, type ScenarioLock } from './scenario.ts'

/** A waiter in the middle of the queue cancels its acquire. */
async function waiterAborts(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const [next, last] = [await open(), await open()]
  await next.startAcquire().queued()
  await last.startAcquire().queued()
  await next.abort()
  await next.client.settled()
  await last.catchUp()
  await holder.release()
  await last.release()
}

/** Another client deletes a waiter's node, and then the holder releases the lock. */
async function waiterIsRemoved(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const waiter = await (await open()).startAcquire().queued()
  const path = holder.held?.path ?? ''
  const [directory, own] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)]
  const { children } = await holder.client.getChildren(directory)
  // One transaction, so that the waiter cannot queue again in between.
  await holder.client.multi(
    children.sort((a, b) => Number(a === own) - Number(b === own)).map(name => ({ delete: `${directory}/${name}` })),
  )
  await waiter.catchUp()
  await Promise.all([waiter.release(), holder.release()])
}

/** The last waiter in the queue cancels its acquire. */
async function lastWaiterAborts(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const last = await open()
  await last.startAcquire().queued()
  await last.abort()
  await holder.release()
}

/** The reply to a waiter's create is lost. */
async function replyToCreateIsLost(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const waiter = await open()
  const lost = waiter.faultyDial.dropReply(opcodes.create2)
  waiter.startAcquire()
  await lost
  await waiter.catchUp()
  await holder.release()
  await waiter.release()
}

/** The holder's delete request is lost. */
async function deleteRequestIsLost(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const lost = holder.faultyDial.dropRequest(opcodes.delete)
  await Promise.all([lost, holder.release()])
}

/** Two contenders hold the lock, one after the other. */
async function twoHoldInTurn(open: OpenActor): Promise<void> {
  for (let i = 0; i < 2; i++) await (await (await open()).hold()).release()
}

/** The holder releases after a waiter has listed the queue and before the waiter has set its watch. */
async function holderReleasesBeforeTheWatch(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const waiter = await open()
  const listed = waiter.faultyDial.holdReply(opcodes.getChildren2)
  waiter.startAcquire()
  await listed
  await holder.release()
  waiter.faultyDial.deliver()
  const isOver = new Promise<void>(resolve => void waiter.clock.setTimeout(resolve, PATIENCE + 300))
  await Promise.race([waiter.release(), isOver])
  await waiter.abort()
}

/** The holder is disconnected for longer than its session timeout. */
async function holderIsDisconnected(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  holder.faultyDial.refuse()
  const next = await (await open()).hold()
  holder.faultyDial.accept()
  await Promise.all([next.release(), holder.release()])
}

interface Mutation {
  Lock: new (client: Client, path: string) => QueueLock
  scenario: (open: OpenActor) => Promise<void>
  breaks: Violation['rule'] | 'left watches'
}

const mutations: Mutation[] = [
  { Lock: TakesWakeUpForGrant, scenario: waiterAborts, breaks: 'justified grant' },
  { Lock: TakesWakeUpForGrant, scenario: waiterAborts, breaks: 'belief overlap' },
  { Lock: TakesAnyEventForGrant, scenario: waiterAborts, breaks: 'justified grant' },
  { Lock: DoesNotWatchItsNode, scenario: waiterIsRemoved, breaks: 'justified grant' },
  { Lock: AdoptsFirstNode, scenario: replyToCreateIsLost, breaks: 'justified grant' },
  { Lock: LeaksItsNode, scenario: lastWaiterAborts, breaks: 'leaked node' },
  { Lock: IgnoresFailedDelete, scenario: deleteRequestIsLost, breaks: 'leaked node' },
  { Lock: UsesSequenceAsToken, scenario: twoHoldInTurn, breaks: 'token order' },
  { Lock: LeavesItsWatch, scenario: holderReleasesBeforeTheWatch, breaks: 'left watches' },
  { Lock: MissesTheDelete, scenario: holderReleasesBeforeTheWatch, breaks: 'lost wake-up' },
  { Lock: IgnoresItsLoss, scenario: holderIsDisconnected, breaks: 'belief overlap' },
]

describe('the rules for histories', () => {
  async function brokenRules(scenario: Mutation['scenario'], make: ScenarioLock['make']): Promise<string[]> {
    const { violations, leftWatches } = await runScenario({ kind: kinds.queue, make }, scenario)
    return [...violations.map(({ rule }) => rule), ...(leftWatches === 0 ? [] : ['left watches'])]
  }

  for (const { Lock: Mutant, scenario, breaks } of mutations)
    it(`report “${breaks}” for the mutant ${Mutant.name} in the scenario ${scenario.name}`, async () => {
      expect(await brokenRules(scenario, (client, path) => new Mutant(client, path))).to.include(breaks)
    })

  for (const scenario of new Set(mutations.map(each => each.scenario)))
    for (const lookAhead of [true, false])
      it(`report nothing for a correct lock in the scenario ${scenario.name}, lookAhead: ${lookAhead}`, async () => {
        const make: ScenarioLock['make'] = (client, path) =>
          new Mutex(client, path, { dialect: sequenceOnly, lookAhead })
        expect(await brokenRules(scenario, make)).to.deep.equal([])
      })
})
