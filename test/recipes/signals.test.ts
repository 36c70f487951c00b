// The caller's signal and timeout, in every call of the recipes that takes one.
import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import type { Dial, ObservedFrame } from '../../src/index.ts'
import { opcodes, operations, RequestHeader } from '../../src/protocol/index.ts'
import type { OperationName } from '../../src/server/control/faults.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { opcodesInto } from '../support/sent-opcodes.ts'
import { publicCallsWith } from '../support/public-names.ts'
import { failureOf, outcomeOf, trackSettled } from '../support/settled.ts'
import { turns } from '../support/turns.ts'
import { declarationsOf, end, publicCalls, Stage, type PublicCall } from './public-calls.ts'

/** What decides when the signal aborts. */
interface Moment {
  onFrame?: () => void
  through?: (dial: Dial) => Dial
  begin(): void
  /** Called when the call has settled after the abort, or has ended without one. */
  end(): void
}

/** The moments at which the nth signal of a call aborts. */
const moments: Readonly<Record<string, (nth: number, abort: () => void) => Moment>> = {
  'at any frame': (nth, abort) => {
    let left = Infinity
    const onFrame = () => {
      if (--left === 0) abort()
    }
    return { onFrame, begin: () => (left = nth), end: () => (left = Infinity) }
  },
  'while any of its replies is missing, which is then lost': (nth, abort) => {
    let faultyDial!: FaultyDial
    return {
      through: dial => (faultyDial = new FaultyDial(dial)).dial,
      begin: () => void faultyDial.holdReply('any', nth).then(abort),
      end: () => {
        faultyDial.cut()
        faultyDial.heal()
      },
    }
  },
}

/** The operations that an overloaded server may refuse, by their opcodes. Not the removal of watches, which is not repeated. */
const refusable = new Map(
  Object.entries(operations)
    .filter(([name]) => !/^(ping|closeSession|auth|setWatches|removeWatches)/.test(name))
    .map(([name, { opcode }]) => [opcode, name as OperationName]),
)

/**
 * Plays the scene of a call, and aborts its signal at a moment. From then on, the server refuses each request of the client
 * once. Returns false if the call has ended before that moment.
 */
async function play(
  { before, call, finish, runsUntilAborted, keepsWatches }: PublicCall,
  momentOf: (abort: () => void) => Moment,
): Promise<boolean> {
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('cancelled')
  let refused: Set<string> | undefined
  let hasEnded = () => false
  const moment = momentOf(() => {
    if (hasEnded()) return
    refused = new Set()
    controller.abort(reason)
  })
  const refuse = ({ from, first, bytes }: ObservedFrame) => {
    if (refused === undefined || from === 'server' || first) return
    const name = refusable.get(RequestHeader.decode(bytes).type)
    // Without the xid, which is another one when the request is repeated.
    const request = Buffer.from(bytes).toString('latin1', 4)
    if (name === undefined || refused.has(request)) return
    refused.add(request)
    server.faults.replace(name, 'THROTTLEDOP', { session: scene.client.sessionId })
  }
  const onFrame = (frame: ObservedFrame) => {
    refuse(frame)
    moment.onFrame?.()
  }
  const stage = await Stage.open({ onFrame }, moment.through)
  const { clock, scene, server } = stage
  await clock.until(Promise.resolve(before?.(scene)))
  await clock.until(scene.client.settled())
  const ownedBefore = stage.owned

  moment.begin()
  const outcome = outcomeOf(call(scene, { signal }))
  hasEnded = trackSettled(outcome)
  void outcome.then(result => {
    if (result instanceof Error) return
    refused = undefined
    server.faults.clear()
  })
  await turns()
  const finished = Promise.resolve(signal.aborted ? undefined : finish?.(scene))
  // What the other process does may wait for the call. After an abort it ends with the session, and may reject.
  void outcomeOf(finished)
  await turns()
  const ended = runsUntilAborted !== true && (await clock.until(outcome, { within: 60_000 }))
  const wasAborted = signal.aborted
  moment.end()
  if (runsUntilAborted === true) {
    controller.abort(reason)
    expect(await clock.until(outcome), 'the call resolves').to.equal(undefined)
  } else if (wasAborted && ended instanceof Error) {
    expect(ended).to.equal(reason)
    await clock.until(scene.client.settled())
    const { watches, nodes } = stage.owned
    expect(ownedBefore.nodes, 'nodes').to.include.members([...nodes])
    if (keepsWatches !== true) expect(ownedBefore.watches, 'watches').to.include.members(watches)
  } else {
    // What the other process does may wait for the end.
    await clock.until(Promise.all([finished, end(ended)]))
  }
  await turns()
  expect(getEventListeners(signal, 'abort'), 'listeners').to.deep.equal([])
  await stage.close()
  return wasAborted
}

describe('the signal of a call of a recipe', () => {
  it('is tested here if the declaration of the call has one', () => {
    expect(declarationsOf(publicCalls)).to.have.members(publicCallsWith('signal', ['src/recipes/index.ts']))
  }).timeout(60_000)

  for (const [name, call] of Object.entries(publicCalls))
    for (const [when, momentOf] of Object.entries(moments))
      it(`${name} rejects with its reason if it aborts ${when}, and nothing of the call stays, even if the server refuses each request once`, async () => {
        let nth = 1
        for (let wasAborted = true; wasAborted; nth++) {
          wasAborted = await play(call, abort => momentOf(nth, abort)).catch((error: unknown) => {
            throw new Error(`frame ${nth}: ${(error as Error).message}`, { cause: error })
          })
          expect(nth, 'frames').to.be.below(100)
        }
        expect(nth, 'frames').to.be.above(2)
      })
})

/** What a session sends on a new connection, and while nobody uses it. */
const ofSession: readonly number[] = [opcodes.ping, opcodes.setWatches, opcodes.setWatches2, opcodes.addWatch]

/** These look later for what they may have left. */
const cleansUp = /^(DoubleBarrier\.leave|(PersistentEphemeral|Membership)\.start|Services\.(start|register))/

/** What these have been told is written later, because their object goes on. */
const goesOn = /^(PersistentEphemeral|Membership)\.setData|^Registration\.update|^Services\.start/

describe('the timeout of a call of a recipe', () => {
  const timed = Object.fromEntries(Object.entries(publicCalls).filter(([, { hasNoTimeout }]) => hasNoTimeout !== true))

  it('is tested here if the declaration of the call has one', () => {
    expect(declarationsOf(timed)).to.have.members(publicCallsWith('timeout', ['src/recipes/index.ts']))
  }).timeout(60_000)

  for (const [name, { before, call, keepsWatches }] of Object.entries(timed)) {
    it(`${name} rejects with TIMEOUT when it is over, and says that no server answers`, async () => {
      const stage = await Stage.open()
      const { clock, server, scene } = stage
      await clock.until(Promise.resolve(before?.(scene)))
      await clock.until(scene.client.settled())
      server.pause()
      const begun = clock.now()
      const error = await clock.until(failureOf(call(scene, { timeout: 100 })))
      expect(error).to.have.property('code', 'TIMEOUT')
      expect((error as Error).message).to.match(/ms, because no server answers the request of the call: /)
      expect((error as Error).cause).to.have.property('code', 'CONNECTIONLOSS')
      expect(clock.now() - begun).to.equal(100)
      server.resume()
      await stage.close()
    })

    it(`${name} says in its TIMEOUT that no server answers if there is no connection, and sends nothing later`, async () => {
      const sent: number[] = []
      const stage = await Stage.open({ onFrame: opcodesInto(sent) })
      const { clock, server, scene } = stage
      await clock.until(Promise.resolve(before?.(scene)))
      await clock.until(scene.client.settled())
      const written = () => [...server.snapshot().nodes].map(([path, { stat }]) => `${path} ${stat.mzxid}`)
      const known = written()
      await clock.until(server.stop())
      const error = await clock.until(failureOf(call(scene, { timeout: 100 })))
      expect((error as Error).message).to.match(/ms, because no server answers: the session is suspended: /)
      expect((error as Error).cause).to.have.property('code', 'CONNECTIONLOSS')
      sent.length = 0
      await clock.until(server.start())
      await clock.until(scene.client.whenConnected())
      await clock.until(scene.other.whenConnected())
      await clock.until(scene.client.settled())
      await turns()
      if (keepsWatches !== true && !cleansUp.test(name) && !goesOn.test(name))
        expect([...new Set(sent)], 'sent later').to.have.members(ofSession.filter(each => sent.includes(each)))
      // A node of the call itself may be deleted.
      if (!goesOn.test(name)) expect(known).to.include.members(written())
      await stage.close()
    })
  }

  const waiting = Object.entries(timed).filter(([, { finish }]) => finish !== undefined)
  for (const [name, { before, call, finish }] of waiting)
    it(`${name} says in its TIMEOUT what it waits for, if it waits for another client`, async () => {
      const stage = await Stage.open()
      const { clock, scene } = stage
      await clock.until(Promise.resolve(before?.(scene)))
      await clock.until(scene.client.settled())
      const outcome = await clock.until(outcomeOf(call(scene, { timeout: 100 })))
      const doesNotWait = !(outcome instanceof Error)
      if (!doesNotWait) {
        expect(outcome).to.have.property('code', 'TIMEOUT')
        expect(outcome.cause).to.equal(undefined)
        const others =
          /because (another contender holds|other contenders hold|the barrier is up|the queue has|not all members)/
        if (!name.startsWith('PersistentEphemeral')) expect(outcome.message).to.match(others)
      }
      await clock.until(end(outcome))
      void outcomeOf(Promise.resolve(finish?.(scene)))
      await clock.advance(1000)
      await stage.close()
    })
})
