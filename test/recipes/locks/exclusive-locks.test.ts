// The common behaviour of the exclusive locks.
import { expect } from 'chai'
import { getEventListeners, once } from 'node:events'
import { aclOf, openACL, type Client, type ObservedFrame } from '../../../src/index.ts'
import { CreateRequest, opcodes, parentOf, perms, RequestHeader } from '../../../src/protocol/index.ts'
import { RecipeError, revoke, type AcquireOptions } from '../../../src/recipes/index.ts'
import { Held } from '../../../src/recipes/locks/held.ts'
import { has } from '../../../environment/server-version.ts'
import { failureOf } from '../../support/settled.ts'
import { onRequest, opcodesInto } from '../../support/sent-opcodes.ts'
import { kinds } from './exclusive-kinds.ts'
import { onBothServers } from '../fixture.ts'

for (const {
  Lock,
  nodeName,
  isQueue,
  hasUniqueNames,
  acquireRequests,
  tryRequests,
  directoryRequest,
  releaseSteps,
  prepare = (client: Client, at: string) => client.ensurePath(isQueue ? at : parentOf(at)),
  watchesOf = (waiters: number) => waiters,
} of kinds) {
  onBothServers(Lock.name, (fixture, { itInVirtualTime, itEverywhere }) => {
    let directory: string
    let path: string

    beforeEach(() => {
      directory = `${fixture.path}/above`
      path = `${directory}/lock`
    })

    /** Resolves when `count` sessions wait, and the holder has removed the watches of its own wait. */
    const untilWaiting = async (count: number, holder: Client) => {
      await holder.settled()
      await fixture.waitForWatches(watchesOf(count))
    }

    itEverywhere('grants one contender at a time, in the order of the queue, with increasing tokens', async () => {
      const clients = await fixture.openMany(20)
      let inside = 0
      const tokens: bigint[] = []
      const acquireThreeTimes = async (client: Client) => {
        for (let i = 0; i < 3; i++)
          await new Lock(client, path).use(async held => {
            expect(++inside).to.equal(1)
            tokens.push(held.token)
            await client.exists('/')
            inside--
          })
      }
      await Promise.all(clients.map(acquireThreeTimes))
      expect(tokens).to.have.length(60)
      expect(tokens).to.deep.equal([...tokens].sort((a, b) => (a < b ? -1 : 1)))
    })

    itInVirtualTime('excludes contenders of one session from each other', async () => {
      const client = await fixture.open()
      const first = await new Lock(client, path).acquire()
      const second = new Lock(client, path).acquire()
      expect((await new Lock(client, path).contenders()).length).to.be.at.least(1)
      await first.release()
      await (await second).release()
    })

    itEverywhere('is acquired in one round trip when it is free', async () => {
      const frames: ObservedFrame[] = []
      const client = await fixture.open({ onFrame: (frame: ObservedFrame) => frames.push(frame) })
      await prepare(client, path)
      frames.length = 0
      const held = await new Lock(client, path).acquire()
      // With later frames, HerdMutex removes its watch.
      const order = frames.slice(0, 2 * acquireRequests.length).map(({ from }) => from)
      expect(order).to.deep.equal([...acquireRequests.map(() => 'client'), ...acquireRequests.map(() => 'server')])
      const requests = frames.slice(0, acquireRequests.length).map(({ bytes }) => RequestHeader.decode(bytes).type)
      expect(requests).to.deep.equal(acquireRequests)
      await held.release()
    })

    itInVirtualTime('creates the missing parents of its node', async () => {
      const created: string[] = []
      const client = await fixture.open({
        onFrame: onRequest(directoryRequest, ({ body }) => created.push(CreateRequest.decode(body).path)),
      })
      const held = await new Lock(client, path).acquire()
      expect(held.path).to.match(nodeName)
      expect(created).to.include(directory)
      expect(isQueue).to.equal((await client.exists(path))?.ephemeralOwner === 0n)
      await held.release()
    })

    itInVirtualTime('has the node’s czxid as its token, and stores the id in the node', async () => {
      const client = await fixture.open()
      const held = await new Lock(client, path, { id: 'me' }).acquire()
      expect(held.token).to.equal((await client.exists(held.path))?.czxid)
      expect(held.validFor()).to.be.within(1, client.sessionTimeout)
      const [contender] = await new Lock(client, path).contenders()
      const { token } = held
      expect(contender).to.deep.include({ path: held.path, id: 'me', session: client.sessionId, token })
      expect(contender?.since).to.equal((await client.exists(held.path))?.ctime)
      await held.release()
      expect(held.validFor()).to.equal(0)
      expect(held.signal.aborted).to.equal(false)
    })

    itInVirtualTime('returns an empty id from contenders() if its options have none', async () => {
      const held = await new Lock(await fixture.open(), path).acquire()
      const [contender] = await new Lock(fixture.observer, path).contenders()
      expect(contender?.id).to.equal('')
      await held.release()
    })

    itInVirtualTime('sends one delete however often release() is called', async () => {
      const client = await fixture.open()
      const held = await new Lock(client, path).acquire()
      const { faults } = fixture.embedded
      // Two faults without effect (delays by 0 ms). Each is over when the server has received the first or second
      // delete.
      const request = releaseSteps.at(-1)?.opcode === opcodes.multi ? 'multi' : 'delete'
      const deletes = [1, 2].map(nth => faults.delay(request, 0, { nth, session: client.sessionId }))
      await Promise.all([held.release(), held.release()])
      await held.release()
      await client.sync('/')
      expect(deletes.map(({ isOver }) => isOver)).to.deep.equal([true, false])
    })

    itInVirtualTime('returns the value of use()’s callback, and is released when the callback throws', async () => {
      const client = await fixture.open()
      const lock = new Lock(client, path)
      expect(await lock.use(() => 42)).to.equal(42)
      const error = await failureOf(lock.use(() => Promise.reject(new Error('mine'))))
      expect(error).to.have.property('message', 'mine')
      expect(await lock.contenders()).to.deep.equal([])
    })

    itInVirtualTime('makes tryAcquire() resolve with null without writing while another session holds it', async () => {
      const holder = await fixture.open()
      const sent: number[] = []
      const other = await fixture.open({ onFrame: opcodesInto(sent) })
      await prepare(other, path)
      const held = await new Lock(holder, path).acquire()
      sent.length = 0
      expect(await new Lock(other, path).tryAcquire()).to.equal(null)
      expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal(tryRequests)
      await held.release()
      const got = await new Lock(other, path).tryAcquire()
      expect(got).to.be.instanceOf(Held)
      await got?.release()
    })

    itInVirtualTime('is granted to at most one of several simultaneous tryAcquire() calls', async () => {
      const clients = await fixture.openMany(8)
      const tries = await Promise.all(clients.map(client => new Lock(client, path).tryAcquire()))
      const got = tries.filter(held => held !== null)
      expect(got.length).to.be.at.most(1)
      await Promise.all(got.map(held => held.release()))
    })

    itInVirtualTime('leaves no timer if it is acquired within its timeout', async () => {
      const client = await fixture.open()
      const timersBefore = fixture.timerCount()
      const held = await new Lock(client, path).acquire({ timeout: 60_000 })
      expect(fixture.timerCount()).to.equal(timersBefore)
      await held.release()
    })

    itInVirtualTime('has no watch while it is held', async () => {
      const client = await fixture.open()
      const held = await new Lock(client, path).acquire()
      await client.settled()
      expect(await fixture.watchCount()).to.equal(fixture.watchesBefore)
      await held.release()
    })

    itInVirtualTime('waits without a limit if its timeout is longer than a timer can be', async () => {
      const held = await new Lock(await fixture.open(), path).acquire()
      const client = await fixture.open()
      const timersBefore = fixture.timerCount()
      const acquiring = new Lock(client, path).acquire({ timeout: 2 ** 31 })
      await fixture.waitForWatches(1)
      expect(fixture.timerCount()).to.equal(timersBefore)
      await held.release()
      await (await acquiring).release()
    })

    itInVirtualTime('rejects with the signal’s reason at once, and the next waiter still gets the lock', async () => {
      const [holder, cancelled, other] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire()
      const abort = new AbortController()
      const cancelling = failureOf(new Lock(cancelled, path).acquire({ signal: abort.signal }))
      await untilWaiting(1, holder)
      const next = new Lock(other, path).acquire()
      await untilWaiting(2, holder)
      const reason = new Error('cancelled')
      abort.abort(reason)
      expect(await cancelling).to.equal(reason)
      await held.release()
      await (await next).release()
    })

    itInVirtualTime('sends nothing if its signal aborts while the client is disconnected', async () => {
      const sent: number[] = []
      const { faultyDial, client } = await fixture.openWithFaults({ onFrame: opcodesInto(sent) })
      faultyDial.refuse()
      await fixture.until(() => client.state === 'suspended')
      const abort = new AbortController()
      const reason = new Error('cancelled')
      const failing = failureOf(new Lock(client, path).acquire({ signal: abort.signal }))
      abort.abort(reason)
      expect(await failing).to.equal(reason)
      faultyDial.accept()
      await client.whenConnected()
      await client.settled()
      expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal([])
    })

    itInVirtualTime('causes no MaxListenersExceededWarning when many acquire() calls share one signal', async () => {
      const warnings: Error[] = []
      const onWarning = (warning: Error) => void warnings.push(warning)
      process.on('warning', onWarning)
      const client = await fixture.open()
      const { signal } = new AbortController()
      const paths = Array.from({ length: 12 }, (_, i) => `${path}/${i}`)
      const all = await Promise.all(paths.map(each => new Lock(client, each).acquire({ signal, watchOwnNode: true })))
      await Promise.all(all.map(held => held.release()))
      await new Promise(setImmediate)
      process.off('warning', onWarning)
      expect(warnings).to.deep.equal([])
      expect(getEventListeners(signal, 'abort')).to.deep.equal([])
      await client.settled()
      await client.deleteRecursive(path)
    })

    itInVirtualTime('sends nothing if its signal has already aborted', async () => {
      const client = await fixture.open()
      const reason = new Error('cancelled')
      expect(await failureOf(new Lock(client, path).acquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await failureOf(new Lock(client, path).tryAcquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await client.exists(path)).to.equal(null)
    })

    if (isQueue)
      itInVirtualTime('ignores foreign names in its directory', async () => {
        const client = await fixture.open()
        await client.ensurePath(path)
        for (const name of ['foreign', 'foreign-0000000000', 'foreign__lock__0000000000'])
          await client.create(`${path}/${name}`)
        const lock = new Lock(client, path)
        await (await lock.acquire()).release()
        expect(await lock.contenders()).to.deep.equal([])
      })

    itEverywhere(
      'aborts the holder’s signal with LOST when the session expires, and grants the next waiter',
      async () => {
        const [holder, other] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire()
        const acquiring = new Lock(other, path).acquire()
        await untilWaiting(1, holder)
        const lost = once(held.signal, 'abort')
        await fixture.expire(holder)
        await lost
        expect(held.signal.reason).to.be.instanceOf(RecipeError).with.property('code', 'LOST')
        expect(held.validFor()).to.equal(0)
        await held.release()
        const next = await acquiring
        expect(next.token > held.token).to.equal(true)
        await next.release()
      },
    )

    if (hasUniqueNames)
      itEverywhere('rejects guarded writes with NONODE after another session has deleted its node', async () => {
        const [holder, other] = [await fixture.open(), await fixture.open()]
        await other.ensurePath(directory)
        const held = await new Lock(holder, path).acquire()
        await held.guard().setData(directory, 'under the lock').commit()
        await other.delete(held.path)
        const late = held.guard().setData(directory, 'too late').commit()
        expect(await failureOf(late)).to.have.property('code', 'NONODE')
        expect((await other.getData(directory)).data?.toString()).to.equal('under the lock')
        await held.release()
      })
    else {
      itInVirtualTime('throws UNSUPPORTED from guard() because a later node may have the same name', async () => {
        const held = await new Lock(await fixture.open(), path).acquire()
        expect(() => held.guard())
          .to.throw(RecipeError)
          .with.property('code', 'UNSUPPORTED')
        await held.release()
      })

      itInVirtualTime(
        'aborts the signal of a holder with watchOwnNode when its node is replaced, and does not delete the new node',
        async () => {
          const [holder, other] = [await fixture.open(), await fixture.open()]
          const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
          const lost = once(held.signal, 'abort')
          await other.multi([{ delete: held.path }, { create: held.path, mode: 'ephemeral' }])
          await lost
          await holder.settled()
          expect(await other.getEphemerals()).to.deep.equal([held.path])
          await other.delete(held.path)
        },
      )

      itEverywhere(
        'aborts the signal of a holder with watchOwnNode when its node was replaced while it was disconnected',
        async () => {
          const { faultyDial, client: holder } = await fixture.openWithFaults()
          const other = await fixture.open()
          const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
          await holder.settled()
          const lost = once(held.signal, 'abort')
          faultyDial.refuse()
          await fixture.until(() => holder.state === 'suspended')
          await other.multi([{ delete: held.path }, { create: held.path, mode: 'ephemeral' }])
          faultyDial.accept()
          // The event after the reconnect reports a change of the data, and no deletion.
          await lost
          expect(held.signal.reason).to.have.property('code', 'LOST')
          await holder.settled()
          expect(await other.getEphemerals()).to.deep.equal([held.path])
          await other.delete(held.path)
        },
      )
    }

    describe('if the release is rejected with NOAUTH', () => {
      const noDelete = [aclOf('world', 'anyone', perms.all & ~perms.delete)]

      /** Acquires the lock; the first release is rejected, later ones are permitted. */
      async function acquireAndFailRelease(options: AcquireOptions) {
        const [holder, other] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire(options)
        await other.setACL(parentOf(held.path), noDelete)
        expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
        await other.setACL(parentOf(held.path), openACL)
        expect(held.validFor()).to.be.greaterThan(0)
        return { holder, other, held }
      }

      itEverywhere('is still held, and can be released when that is permitted', async () => {
        const { held, other } = await acquireAndFailRelease({ watchOwnNode: true })
        await held.release()
        expect(held.signal.aborted).to.equal(false)
        expect(await other.exists(held.path)).to.equal(null)
      })

      itInVirtualTime(
        'rejects use() with that error, or with an AggregateError if the callback threw too',
        async () => {
          const [holder, other] = [await fixture.open(), await fixture.open()]
          const failureUnder = async (end: () => void): Promise<unknown> => {
            let held!: Held
            const failure = await failureOf(
              new Lock(holder, path).use(async taken => {
                held = taken
                await other.setACL(parentOf(held.path), noDelete)
                end()
              }),
            )
            await other.setACL(parentOf(held.path), openACL)
            await held.release()
            return failure
          }
          const thrown = new Error('thrown by the callback')
          expect(await failureUnder(() => undefined)).to.have.property('code', 'NOAUTH')
          const both = await failureUnder(() => {
            throw thrown
          })
          expect(both).to.be.instanceOf(AggregateError)
          const [first, second] = (both as AggregateError).errors as unknown[]
          expect(first).to.equal(thrown)
          expect(second).to.have.property('code', 'NOAUTH')
        },
      )

      itInVirtualTime('aborts the signal when the session expires', async () => {
        const { holder, held } = await acquireAndFailRelease({})
        const lost = once(held.signal, 'abort')
        await fixture.expire(holder)
        await lost
        expect(held.signal.reason).to.have.property('code', 'LOST')
      })

      itInVirtualTime('aborts the signal when another session deletes the node', async () => {
        const { other, held } = await acquireAndFailRelease({ watchOwnNode: true })
        const lost = once(held.signal, 'abort')
        await other.delete(held.path)
        await lost
        expect(held.validFor()).to.equal(0)
      })
    })

    itEverywhere('is held although its session may not read the node and so receives no events', async () => {
      const [holder, other] = [await fixture.open(), await fixture.open()]
      await prepare(other, path)
      const acl = [aclOf('world', 'anyone', perms.all & ~perms.read)]
      const held = await new Lock(holder, path, { acl }).acquire({ watchOwnNode: true })
      // Otherwise the server might delete the node before it reads the request for the watch of another connection.
      await holder.sync(path)
      await revoke(other, held.path)
      await other.delete(held.path)
      await holder.sync(path)
      // Before CVE-2024-23944, servers send events even to a session that may not read the node.
      if (has(await fixture.server.version(), 'CVE-2024-23944'))
        expect([held.signal.aborted, held.revoked.aborted]).to.deep.equal([false, false])
      await held.release()
    })

    itInVirtualTime('is not asked for by a revoke() that is cancelled while there is no connection', async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      const held = await new Lock(await fixture.open(), path).acquire()
      faultyDial.refuse()
      await fixture.until(() => client.state === 'suspended')
      const abort = new AbortController()
      const revoking = failureOf(revoke(client, held.path, { signal: abort.signal }))
      abort.abort(new Error('cancelled'))
      expect(await revoking).to.equal(abort.signal.reason)
      faultyDial.accept()
      await client.whenConnected()
      await client.sync('/')
      expect((await fixture.observer.exists(held.path))?.version).to.equal(0)
      await held.release()
    })

    itInVirtualTime(
      'aborts only the revoked signal of a holder with watchOwnNode when revoke() is called',
      async () => {
        const [holder, other] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
        const revoked = once(held.revoked, 'abort')
        await other.setData(held.path, 'not a request')
        await fixture.sleep(1)
        expect(held.revoked.aborted).to.equal(false)
        expect(await revoke(other, held.path)).to.equal(true)
        await revoked
        expect(held.signal.aborted).to.equal(false)
        expect(held.validFor()).to.be.above(0)
        await held.release()
        expect(await revoke(other, held.path)).to.equal(false)
      },
    )
  })
}
