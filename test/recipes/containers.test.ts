// The server deletes empty containers at its periodic check. Each call of the recipes, with a check before each of its
// requests: the directories that the call needs exist at first, and are gone then.
import { expect } from 'chai'
import { CreateRequest, opcodes } from '../../src/protocol/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { onRequest } from '../support/sent-opcodes.ts'
import { outcomeOf } from '../support/settled.ts'
import { PersistentEphemeral, Services } from '../../src/recipes/index.ts'
import { end, keeps, PATH, publicCalls, Stage, type PublicCall } from './public-calls.ts'

/**
 * Plays the scene of a call, with the check of containers before its nth request.
 * @param containers those that exist at first and are empty
 * @returns whether the call had so many requests, and the containers that it has created or found
 */
async function play(
  { before, call, finish, runsUntilAborted }: PublicCall,
  nth: number,
  containers: readonly string[],
): Promise<{ isChecked: boolean; needed: string[] }> {
  let faultyDial!: FaultyDial
  const needed = new Set<string>()
  const onFrame = onRequest(opcodes.createContainer, ({ body }) => needed.add(CreateRequest.decode(body).path))
  const stage = await Stage.open({ onFrame }, dial => (faultyDial = new FaultyDial(dial)).dial)
  const { clock, server, scene } = stage
  const { other } = scene
  const empty = async (path: string) => {
    if ((await other.exists(path)) === null) await other.create(path, '', { mode: 'container', parents: true })
    // The server does not delete a container that never had a child.
    await other.create(`${path}/used`)
    await other.delete(`${path}/used`)
  }
  for (const path of containers) await clock.until(empty(path))
  await clock.until(Promise.resolve(before?.(scene)))
  await clock.until(scene.client.settled())

  let isChecked = false
  void faultyDial.holdRequest('any', nth).then(() => {
    isChecked = true
    // One check for each level, because it deletes no container that has a child.
    for (const _ of containers) server.runContainerCheck()
    faultyDial.deliver()
  })
  const controller = new AbortController()
  const calling = outcomeOf(call(scene, runsUntilAborted === true ? { signal: controller.signal } : {}))
  await clock.advance(1000)
  const finished = finish?.(scene)
  if (runsUntilAborted === true) controller.abort()
  const outcome = await clock.until(calling)
  faultyDial.heal()
  await clock.until(Promise.all([finished, end(outcome)]))
  await stage.close()
  if (outcome instanceof Error) throw outcome
  return { isChecked, needed: [...needed].sort() }
}

const calls: Readonly<Record<string, PublicCall>> = {
  ...Object.fromEntries(Object.entries(publicCalls).filter(([name]) => !/ behind two others$|\.use$/.test(name))),
  'PersistentEphemeral.start of a sequential node': {
    call: ({ client, closeLater }, options) =>
      closeLater(new PersistentEphemeral(`${PATH}/above/me-`, { mode: 'ephemeralSequential' })).start(client, options),
  },
  'Services.register of a sequential instance': keeps(
    ({ closeLater }) => closeLater(new Services(PATH)),
    (services, options) => services.register({ name: 'api', serviceType: 'DYNAMIC_SEQUENTIAL' }, options),
  ),
}

describe('a call of a recipe, if the server deletes its empty directories', () => {
  for (const [name, call] of Object.entries(calls))
    it(`${name} does the same before each of its requests`, async () => {
      const { needed } = await play(call, Infinity, [])
      if (needed.length === 0) return
      for (let [nth, isChecked] = [1, true]; isChecked; nth++) {
        const playing = play(call, nth, needed).catch((error: unknown) => {
          throw new Error(`request ${nth}: ${(error as Error).message}`, { cause: error })
        })
        ;({ isChecked } = await playing)
        expect(nth, 'requests').to.be.below(100)
      }
    })
})
