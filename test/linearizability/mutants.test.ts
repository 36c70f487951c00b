// The rules are to be believed only if they find bugs: locks with one each, in the scenario that shows it. The same scenario with a lock that
// is right shows nothing.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { ExclusiveLock } from '../../src/recipes/locks/queue-lock.ts'
import type { Violation } from './invariants.ts'
import {
  AdoptsFirstNode,
  LeavesItsWatch,
  LeaksItsNode,
  IgnoresItsLoss,
  sequenceOnly,
  IgnoresFailedDelete,
  MissesTheDelete,
  UsesSequenceAsToken,
  TakesWakeUpForGrant,
} from './mutants.ts'
import { kinds } from './tenures.ts'
import { PATIENCE, runScenario, type OpenActor, type ScenarioLock } from './scenario.ts'

/** Somebody in the middle of the queue gives up. */
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

/** The last in the queue gives up. */
async function lastWaiterAborts(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const last = await open()
  await last.startAcquire().queued()
  await last.abort()
  await holder.release()
}

/** The answer to a waiter's create is lost. */
async function replyToCreateIsLost(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const waiter = await open()
  const lost = waiter.saboteur.loseReply(opcodes.create2)
  waiter.startAcquire()
  await lost
  await waiter.catchUp()
  await holder.release()
  await waiter.release()
}

/** The request to release is lost. */
async function deleteRequestIsLost(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const lost = holder.saboteur.loseRequest(opcodes.delete)
  await Promise.all([lost, holder.release()])
}

/** One after the other. */
async function twoHoldInTurn(open: OpenActor): Promise<void> {
  for (let i = 0; i < 2; i++) await (await (await open()).hold()).release()
}

/** The holder goes while a waiter is just about to watch it. */
async function holderReleasesBeforeTheWatch(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  const waiter = await open()
  const listed = waiter.saboteur.holdReply(opcodes.getChildren2)
  waiter.startAcquire()
  await listed
  await holder.release()
  waiter.saboteur.deliver()
  const isOver = new Promise<void>(resolve => void waiter.clock.setTimeout(resolve, PATIENCE + 300))
  await Promise.race([waiter.release(), isOver])
  await waiter.abort()
}

/** The holder is cut off for longer than its session lives. */
async function holderIsDisconnected(open: OpenActor): Promise<void> {
  const holder = await (await open()).hold()
  holder.saboteur.refuse()
  const next = await (await open()).hold()
  holder.saboteur.accept()
  await Promise.all([next.release(), holder.release()])
}

interface Mutation {
  Lock: new (client: Client, path: string) => ExclusiveLock
  scenario: (open: OpenActor) => Promise<void>
  breaks: Violation['rule'] | 'left watches'
}

const mutations: Mutation[] = [
  { Lock: TakesWakeUpForGrant, scenario: waiterAborts, breaks: 'justified grant' },
  { Lock: TakesWakeUpForGrant, scenario: waiterAborts, breaks: 'belief overlap' },
  { Lock: AdoptsFirstNode, scenario: replyToCreateIsLost, breaks: 'justified grant' },
  { Lock: LeaksItsNode, scenario: lastWaiterAborts, breaks: 'leaked node' },
  { Lock: IgnoresFailedDelete, scenario: deleteRequestIsLost, breaks: 'leaked node' },
  { Lock: UsesSequenceAsToken, scenario: twoHoldInTurn, breaks: 'token order' },
  { Lock: LeavesItsWatch, scenario: holderReleasesBeforeTheWatch, breaks: 'left watches' },
  { Lock: MissesTheDelete, scenario: holderReleasesBeforeTheWatch, breaks: 'lost wake-up' },
  { Lock: IgnoresItsLoss, scenario: holderIsDisconnected, breaks: 'belief overlap' },
]

describe('the rules of a history', () => {
  async function brokenRules(scenario: Mutation['scenario'], make: ScenarioLock['make']): Promise<string[]> {
    const { violations, leftWatches } = await runScenario({ kind: kinds.queue, make }, scenario)
    return [...violations.map(({ rule }) => rule), ...(leftWatches === 0 ? [] : ['left watches'])]
  }

  for (const { Lock: Mutant, scenario, breaks } of mutations)
    it(`give away a lock that ${Mutant.name} in the scenario “${scenario.name}”: ${breaks}`, async () => {
      expect(await brokenRules(scenario, (client, path) => new Mutant(client, path))).to.include(breaks)
    })

  for (const scenario of new Set(mutations.map(each => each.scenario)))
    it(`find nothing in a lock that is right, in the scenario “${scenario.name}”`, async () => {
      expect(
        await brokenRules(scenario, (client, path) => new Mutex(client, path, { dialect: sequenceOnly })),
      ).to.deep.equal([])
    })
})
