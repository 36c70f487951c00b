// The rules are to be believed only if they find bugs: locks with one each, in the story that shows it. The same story with a lock that
// is right shows nothing.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import type { ExclusiveLock } from '../../src/recipes/locks/queue-lock.ts'
import type { Violation } from './invariants.ts'
import {
  AdoptsWhatItFinds,
  KeepsItsWatch,
  LeavesItsNode,
  NeverLoses,
  plain,
  ReleasesOnLoss,
  SleepsThroughIt,
  TokenIsTheNumber,
  WakeUpMeansGranted,
} from './mutants.ts'
import { kinds } from './tenures.ts'
import { PATIENCE, trial, type Enter, type Suspect } from './scenario.ts'

/** Somebody in the middle of the queue gives up. */
async function waiterGivesUp(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  const [next, last] = [await enter(), await enter()]
  await next.begin().waits()
  await last.begin().waits()
  await next.giveUp()
  await next.client.settled()
  await last.keepsUp()
  await holder.go()
  await last.go()
}

/** The last in the queue gives up. */
async function lastGivesUp(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  const last = await enter()
  await last.begin().waits()
  await last.giveUp()
  await holder.go()
}

/** The answer to a waiter's create is lost. */
async function createIsLost(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  const waiter = await enter()
  const lost = waiter.faultyDial.dropReply(opcodes.create2)
  waiter.begin()
  await lost
  await waiter.keepsUp()
  await holder.go()
  await waiter.go()
}

/** The request to release is lost. */
async function deleteIsLost(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  const lost = holder.faultyDial.dropRequest(opcodes.delete)
  await Promise.all([lost, holder.go()])
}

/** One after the other. */
async function twoPass(enter: Enter): Promise<void> {
  for (let i = 0; i < 2; i++) await (await (await enter()).hold()).go()
}

/** The holder goes while a waiter is just about to watch it. */
async function holderGoesUnwatched(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  const waiter = await enter()
  const listed = waiter.faultyDial.holdReply(opcodes.getChildren2)
  waiter.begin()
  await listed
  await holder.go()
  waiter.faultyDial.deliver()
  const isOver = new Promise<void>(resolve => void waiter.clock.setTimeout(resolve, PATIENCE + 300))
  await Promise.race([waiter.go(), isOver])
  await waiter.giveUp()
}

/** The holder is cut off for longer than its session lives. */
async function holderIsCutOff(enter: Enter): Promise<void> {
  const holder = await (await enter()).hold()
  holder.faultyDial.refuse()
  const next = await (await enter()).hold()
  holder.faultyDial.accept()
  await Promise.all([next.go(), holder.go()])
}

interface Plant {
  bug: new (client: Client, path: string) => ExclusiveLock
  story: (enter: Enter) => Promise<void>
  breaks: Violation['rule'] | 'left watches'
}

const plants: Plant[] = [
  { bug: WakeUpMeansGranted, story: waiterGivesUp, breaks: 'justified grant' },
  { bug: WakeUpMeansGranted, story: waiterGivesUp, breaks: 'belief overlap' },
  { bug: AdoptsWhatItFinds, story: createIsLost, breaks: 'justified grant' },
  { bug: LeavesItsNode, story: lastGivesUp, breaks: 'leaked node' },
  { bug: ReleasesOnLoss, story: deleteIsLost, breaks: 'leaked node' },
  { bug: TokenIsTheNumber, story: twoPass, breaks: 'token order' },
  { bug: KeepsItsWatch, story: holderGoesUnwatched, breaks: 'left watches' },
  { bug: SleepsThroughIt, story: holderGoesUnwatched, breaks: 'lost wake-up' },
  { bug: NeverLoses, story: holderIsCutOff, breaks: 'belief overlap' },
]

describe('the rules of a history', () => {
  async function broken(story: Plant['story'], make: Suspect['make']): Promise<string[]> {
    const { violations, leftWatches } = await trial({ kind: kinds.queue, make }, story)
    return [...violations.map(({ rule }) => rule), ...(leftWatches === 0 ? [] : ['left watches'])]
  }

  for (const { bug: Bug, story, breaks } of plants)
    it(`give away a lock that ${Bug.name} in the story “${story.name}”: ${breaks}`, async () => {
      expect(await broken(story, (client, path) => new Bug(client, path))).to.include(breaks)
    })

  for (const story of new Set(plants.map(each => each.story)))
    it(`find nothing in a lock that is right, in the story “${story.name}”`, async () => {
      expect(await broken(story, (client, path) => new Mutex(client, path, { dialect: plain }))).to.deep.equal([])
    })
})
