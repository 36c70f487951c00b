// What a call of a recipe does if the server refuses one kind of its requests each time, as an ACL does.
import { expect } from 'chai'
import { openACL, perms } from '../../src/index.ts'
import type { OperationName } from '../../src/server/control/faults.ts'
import { outcomeOf } from '../support/settled.ts'
import { turns } from '../support/turns.ts'
import { end, openACLWithout, publicCalls, Stage, type PublicCall } from './public-calls.ts'

type Refuse = (stage: Stage) => unknown

const refused =
  (kind: OperationName): Refuse =>
  ({ server, scene: { client } }) =>
    server.faults.replace(kind, 'NOAUTH', { times: Infinity, session: client.sessionId })

/** What the server refuses. */
const refusals: Readonly<Record<string, Refuse>> = {
  'the creation of nodes at the root': ({ scene }) => scene.other.setACL('/', openACLWithout(perms.create)),
  ...Object.fromEntries(
    (['create', 'getData', 'getChildren', 'exists', 'multi', 'setData'] as const).map(kind => [kind, refused(kind)]),
  ),
}

/** Plays the scene of a call that the server refuses, and resolves when it has ended. */
async function play({ before, call, finish }: PublicCall, refuse: Refuse): Promise<void> {
  // What goes on after the call may be refused too.
  const stage = await Stage.open({ onUncaughtError: () => undefined })
  const { clock, scene, server } = stage
  await clock.until(Promise.resolve(before?.(scene)))
  await clock.until(scene.client.settled())
  await clock.until(Promise.resolve(refuse(stage)))
  const stop = new AbortController()
  const outcome = outcomeOf(call(scene, { signal: stop.signal }))
  await turns()
  await clock.advance(60_000)
  // It waits for another client if the server does not refuse what it needs.
  if (finish !== undefined) stop.abort(new Error('it waits'))
  const result = await clock.until(outcome, { within: 1 })
  if (result instanceof Error && result !== stop.signal.reason) expect(result).to.have.property('code', 'NOAUTH')
  server.faults.clear()
  await clock.until(scene.other.setACL('/', openACL))
  await clock.until(end(result))
  await stage.close()
}

describe('a call of which the server refuses each request of one kind', () => {
  for (const [name, call] of Object.entries(publicCalls))
    if (call.runsUntilAborted !== true)
      it(`${name} rejects with NOAUTH, or needs no such request, and leaves nothing`, async () => {
        for (const [what, refuse] of Object.entries(refusals))
          await play(call, refuse).catch((error: unknown) => {
            throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
          })
      })
})
