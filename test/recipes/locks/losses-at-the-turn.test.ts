// A lock whose acquire is slow at one of its requests while others come and go, and that then loses a request or reply.
import { expect } from 'chai'
import type { Client } from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import type { Held, Lock, RecipeError } from '../../../src/recipes/index.ts'
import type { FaultyDial } from '../../support/faulty-dial.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'
import { kinds, kindsUnderFaults } from './exclusive-kinds.ts'

onBothServers('An acquire that loses its connection at its turn', (fixture, { itInVirtualTime }) => {
  /** Enters the queue of a lock, and leaves it soon, also if the lock was free. */
  async function visit(lock: Lock): Promise<void> {
    const soon = new AbortController()
    const acquiring = lock.acquire({ signal: soon.signal }).catch(() => undefined)
    await fixture.sleep(10)
    soon.abort()
    await (await acquiring)?.release()
    await fixture.sleep(10)
  }

  /** Plans a fault. Returns a function that tells whether it has happened. */
  function plan(faultyDial: FaultyDial, fault: 'holdRequest' | 'holdReply' | 'dropRequest' | 'dropReply', nth: number) {
    return trackSettled(faultyDial[fault]('any', nth))
  }

  for (const kind of kinds)
    for (const fault of ['dropRequest', 'dropReply'] as const)
      for (const visitors of [0, 1, 2])
        for (const isTaken of [false, true]) {
          const when = `after ${visitors} others came and went${isTaken ? ', when its holder has released it' : ''}`
          itInVirtualTime(`gets the ${kind.Lock.name} with each ${fault} ${when}`, async () => {
            const other = await fixture.open()
            let count = 0
            for (let [slow, isSlow] = [1, true]; isSlow; slow++)
              for (let [nth, hasLost] = [0, true]; hasLost && isSlow; nth++) {
                const path = `${fixture.path}/lock-${slow}-${nth}`
                await new kind.Lock(other, path).use(() => undefined)
                const { faultyDial, client } = await fixture.openWithFaults()
                const holder = isTaken ? await new kind.Lock(other, path).acquire() : undefined
                const acquiring = isTaken ? new kind.Lock(client, path).acquire() : undefined
                await fixture.sleep(50)
                const slows = plan(faultyDial, 'holdRequest', slow)
                const granted = acquiring ?? new kind.Lock(client, path).acquire()
                const isGranted = trackSettled(granted)
                await holder?.release()
                await fixture.until(() => slows() || isGranted())
                isSlow = slows()
                if (isSlow) for (let i = 0; i < visitors; i++) await visit(new kind.Lock(other, path))
                const loses = nth === 0 ? undefined : plan(faultyDial, fault, nth)
                // First loses the request that was slow, then one of those that follow it.
                if (loses === undefined) faultyDial.cut()
                else faultyDial.deliver()
                const held = await granted
                hasLost = loses?.() ?? true
                expect(held.signal.aborted, `slow ${slow}, lost ${nth}`).to.equal(false)
                expect(await new kind.Lock(other, path).tryAcquire(), 'excludes others').to.equal(null)
                count++
                faultyDial.heal()
                await held.release()
                await client.settled()
                await client.close()
                await (await new kind.Lock(other, path).tryAcquire())?.release()
              }
            expect(count).to.be.at.least(1)
          })
        }

  // So long that the leader must confirm the session before it can hold anything.
  const LONG = 60_000

  /** What happens when a request or reply of the call is on its way, and how the call ends. */
  interface Loss {
    holds: 'holdRequest' | 'holdReply'
    happens: (at: { client: Client; faultyDial: FaultyDial; path: string; cancel: () => void }) => unknown
    /** True if the node of the call is deleted, and a rival gets the lock if it is free. */
    isDeleted?: true
    /** The code of the error. Default: the call gets the lock. */
    rejects?: string
  }

  async function outliveLease({ faultyDial }: { faultyDial: FaultyDial }): Promise<void> {
    faultyDial.refuse()
    await fixture.embedded.stop()
    await fixture.sleep(LONG)
    await fixture.embedded.start()
  }

  const refuse = ({ faultyDial }: { faultyDial: FaultyDial }) => faultyDial.refuse()
  const losses: Readonly<Record<string, Loss>> = {
    'loses a request': { holds: 'holdRequest', happens: refuse },
    'loses a reply': { holds: 'holdReply', happens: refuse },
    'loses a reply, and that to its next read': {
      holds: 'holdReply',
      happens({ faultyDial }) {
        faultyDial.cut()
        for (const read of [opcodes.getChildren2, opcodes.exists, opcodes.getData]) void faultyDial.dropReply(read)
      },
    },
    'loses a request, and its node is deleted': { holds: 'holdRequest', happens: refuse, isDeleted: true },
    'loses a reply until its lease is over': { holds: 'holdReply', happens: outliveLease },
    'loses a reply, and its session expires': {
      holds: 'holdReply',
      happens: ({ client, faultyDial }) => (faultyDial.refuse(), fixture.embedded.expireSession(client.sessionId)),
      rejects: 'SESSIONEXPIRED',
    },
    'is cancelled at a reply': { holds: 'holdReply', happens: ({ cancel }) => cancel(), rejects: 'ABORT_ERR' },
  }

  const calls = {
    'acquire() that has waited for long behind two': { op: 'acquire', others: 2 },
    'tryAcquire() in a session that was idle for long': { op: 'tryAcquire', others: 0 },
  } as const

  /** Lets others hold and await a lock. Returns a function that lets them leave. */
  async function occupy(Rival: (typeof kinds)[number]['Lock'], client: Client, path: string, others: number) {
    const leaves = new AbortController()
    const acquiring: Promise<Held>[] = []
    for (let i = 0; i < others; i++) {
      acquiring.push(new Rival(client, path).acquire({ signal: leaves.signal }))
      await fixture.sleep(50)
    }
    return async () => {
      leaves.abort()
      for (const each of acquiring) await each.then(held => held.release()).catch(() => undefined)
    }
  }

  for (const { Lock, Rival = Lock } of kindsUnderFaults)
    for (const [call, { op, others }] of Object.entries(calls))
      for (const [what, { holds, happens, isDeleted, rejects }] of Object.entries(losses))
        itInVirtualTime(
          `${call} of ${Lock.name}, which ${what} at its turn, ends as it must, and leaves nothing`,
          async () => {
            const other = await fixture.open()
            for (let [nth, hasLost] = [1, true]; hasLost; nth++) {
              const message = `lost ${nth}`
              const path = `${fixture.path}/lock-${nth}`
              await new Rival(other, path).use(() => undefined)
              const sent: number[] = []
              const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
              const leave = await occupy(Rival, other, path, others)
              const stop = new AbortController()
              const lock = new Lock(client, path)
              const waiting = others > 0 ? lock.acquire({ signal: stop.signal }) : undefined
              await fixture.sleep(LONG)
              const loses = plan(faultyDial, holds, nth)
              const calling: Promise<Held | null> = waiting ?? lock[op]({ signal: stop.signal })
              const isSettled = trackSettled(calling)
              const outcome = outcomeOf(calling)
              await leave()
              await fixture.until(() => loses() || isSettled())
              await fixture.sleep(1)
              // What the holder sends after its turn is not meant.
              hasLost = loses() && !isSettled()
              expect(hasLost || nth > 1, 'a request is lost').to.equal(true)
              let rival: Held | null = null
              if (hasLost) {
                await happens({ client, faultyDial, path, cancel: () => stop.abort() })
                if (isDeleted) {
                  for (const node of nodesOf(client)) await other.delete(node)
                  rival = await new Rival(other, path).tryAcquire()
                }
              }
              faultyDial.accept()
              faultyDial.deliver()
              await fixture.sleep(5000)
              faultyDial.heal()
              const waits = op === 'acquire' && rival !== null
              expect(isSettled(), message).to.equal(!waits)
              await rival?.release()
              const held = (await outcome) as (Held & { code?: unknown }) | null
              if (hasLost && rejects !== undefined)
                expect(held?.code, message).to.equal(rejects === 'ABORT_ERR' ? 20 : rejects)
              else if (op === 'tryAcquire' && rival !== null) expect(held, message).to.equal(null)
              else {
                expect(held?.signal.aborted, message).to.equal(false)
                expect(await new Rival(other, path).tryAcquire(), 'excludes others').to.equal(null)
                await held?.release()
              }
              await client.settled()
              expect(nodesOf(client), message).to.deep.equal([])
              if (hasLost && rejects === 'ABORT_ERR') {
                await fixture.sleep(LONG)
                sent.length = 0
                await fixture.sleep(LONG)
                expect([...new Set(sent)], 'sent after the end').to.deep.equal([opcodes.ping])
              }
              await (await new Rival(other, path).acquire()).release()
              await client.close()
            }
          },
        )

  for (const { Lock } of kinds)
    itInVirtualTime(
      `${Lock.name} blames no other contender for a TIMEOUT if the lock is free and the leader does not answer`,
      async () => {
        const [other, client] = [await fixture.open(), await fixture.open()]
        const path = `${fixture.path}/lock`
        const leave = await occupy(Lock, other, path, 2)
        const calling = outcomeOf(new Lock(client, path).acquire({ timeout: LONG + 1000 }))
        await fixture.sleep(LONG)
        const unanswered = { session: client.sessionId, times: Infinity }
        for (const kind of ['sync', 'multi'] as const) fixture.embedded.faults.hold(kind, unanswered)
        await leave()
        const error = (await calling) as RecipeError
        expect(error.code).to.equal('TIMEOUT')
        expect(error.message).not.to.contain('contender')
        fixture.embedded.faults.clear()
      },
    )

  /** The nodes of a session. */
  function nodesOf({ sessionId }: Client): readonly string[] {
    return fixture.embedded.snapshot().sessions.find(({ id }) => id === sessionId)?.ephemerals ?? []
  }
})
