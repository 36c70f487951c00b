// What the exclusive locks promise alike.
import { expect } from 'chai'
import { once } from 'node:events'
import { aclOf, creatorAllACL, openACL, type Client, type ObservedFrame } from '../../../src/index.ts'
import { CreateRequest, opcodes, parentOf, perms, RequestHeader } from '../../../src/protocol/index.ts'
import { Held, LockError, revoke, type AcquireOptions } from '../../../src/recipes/index.ts'
import { failureOf } from '../../support/settled.ts'
import { kinds } from './exclusive-kinds.ts'
import { onBothServers } from '../fixture.ts'

for (const { Lock, nodeName, isQueue, hasUniqueNames, acquireRequests, tryRequests, directoryRequest } of kinds) {
  onBothServers(Lock.name, (fixture, { it, itEverywhere }) => {
    let directory: string
    let path: string

    beforeEach(() => {
      directory = `${fixture.path}/above`
      path = `${directory}/lock`
    })

    /** Those of so many sessions wait; each has a watch then, and a holder may have others. */
    const waiting = async (count: number, holder: Client, watches = 0) => {
      await holder.settled()
      await fixture.waitForWatches(watches + count)
    }

    itEverywhere('lets one in at a time, in the order of the queue, with tokens that grow', async () => {
      const clients = await fixture.openMany(20)
      let inside = 0
      const tokens: bigint[] = []
      const work = async (client: Client) => {
        for (let i = 0; i < 3; i++)
          await new Lock(client, path).use(async held => {
            expect(++inside).to.equal(1)
            tokens.push(held.token)
            await client.exists('/')
            inside--
          })
      }
      await Promise.all(clients.map(work))
      expect(tokens).to.have.length(60)
      expect(tokens).to.deep.equal([...tokens].sort((a, b) => (a < b ? -1 : 1)))
    })

    it('keeps contenders of one session apart', async () => {
      const client = await fixture.open()
      const first = await new Lock(client, path).acquire()
      const second = new Lock(client, path).acquire()
      expect((await new Lock(client, path).contenders()).length).to.be.at.least(1)
      await first.release()
      await (await second).release()
    })

    itEverywhere('takes one round trip when it is free', async () => {
      const frames: ObservedFrame[] = []
      const client = await fixture.open({ onFrame: (frame: ObservedFrame) => frames.push(frame) })
      await client.ensurePath(isQueue ? path : directory)
      frames.length = 0
      const held = await new Lock(client, path).acquire()
      // What comes behind is the herd taking its watch back.
      const order = frames.slice(0, 2 * acquireRequests.length).map(({ from }) => from)
      expect(order).to.deep.equal([...acquireRequests.map(() => 'client'), ...acquireRequests.map(() => 'server')])
      const asked = frames.slice(0, acquireRequests.length).map(({ bytes }) => RequestHeader.decode(bytes).type)
      expect(asked).to.deep.equal(acquireRequests)
      await held.release()
    })

    it('makes what is missing above its node', async () => {
      const made: string[] = []
      const client = await fixture.open({
        onFrame: ({ from, first, bytes }: ObservedFrame) => {
          if (from === 'server' || first || RequestHeader.decode(bytes).type !== directoryRequest) return
          made.push(CreateRequest.decode(bytes.subarray(8)).path)
        },
      })
      const held = await new Lock(client, path).acquire()
      expect(held.path).to.match(nodeName)
      expect(made).to.include.members(isQueue ? [directory, path] : [directory])
      await held.release()
    })

    itEverywhere('gives its ACL to its node and its directory, and not to what is missing above that', async () => {
      const owner = await fixture.open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
      const above = `${directory}/team/locks`
      const held = await new Lock(owner, `${above}/mine/lock`, { acl: creatorAllACL }).acquire()
      const other = await fixture.open()
      const mayCreate = async (at: string) => {
        const { path: made } = await other.create(`${at}/theirs`, '', { mode: 'ephemeral' })
        await other.delete(made)
      }
      await mayCreate(`${directory}/team`)
      await mayCreate(above)
      expect(await failureOf(mayCreate(parentOf(held.path)))).to.have.property('code', 'NOAUTH')
      expect(await failureOf(other.getData(held.path))).to.have.property('code', 'NOAUTH')
      await held.release()
      await owner.deleteRecursive(`${above}/mine`)
    })

    it('holds the node’s czxid as its token, and the data it was given', async () => {
      const client = await fixture.open()
      const held = await new Lock(client, path, { data: 'me' }).acquire()
      expect(held.token).to.equal((await client.exists(held.path))?.czxid)
      expect(held.validFor()).to.be.within(1, client.sessionTimeout)
      const [contender] = await new Lock(client, path).contenders()
      expect(contender).to.deep.include({ path: held.path, data: Buffer.from('me'), session: client.sessionId })
      await held.release()
      expect(held.validFor()).to.equal(0)
      expect(held.signal.aborted).to.equal(false)
    })

    it('releases once, however often it is asked', async () => {
      const client = await fixture.open()
      const held = await new Lock(client, path).acquire()
      await Promise.all([held.release(), held.release()])
      await held.release()
    })

    it('is released at the end of its scope', async () => {
      const client = await fixture.open()
      {
        await using held = await new Lock(client, path).acquire()
        expect(held).to.be.instanceOf(Held)
      }
      expect(await new Lock(client, path).contenders()).to.deep.equal([])
    })

    it('gives what the function under it gives, and is released when that throws', async () => {
      const client = await fixture.open()
      const lock = new Lock(client, path)
      expect(await lock.use(() => 42)).to.equal(42)
      const error = await failureOf(lock.use(() => Promise.reject(new Error('mine'))))
      expect(error).to.have.property('message', 'mine')
      expect(await lock.contenders()).to.deep.equal([])
    })

    it('is not there for a second one who only tries, who writes nothing', async () => {
      const holder = await fixture.open()
      const sent: number[] = []
      const other = await fixture.open({
        onFrame: ({ from, first, bytes }: ObservedFrame) => {
          if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
        },
      })
      const held = await new Lock(holder, path).acquire()
      expect(await new Lock(other, path).tryAcquire()).to.equal(null)
      expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal(tryRequests)
      await held.release()
      const got = await new Lock(other, path).tryAcquire()
      expect(got).to.be.instanceOf(Held)
      await got?.release()
    })

    it('goes to no more than one of many who only try at once', async () => {
      const clients = await fixture.openMany(8)
      const tries = await Promise.all(clients.map(client => new Lock(client, path).tryAcquire()))
      const got = tries.filter(held => held !== null)
      expect(got.length).to.be.at.most(1)
      await Promise.all(got.map(held => held.release()))
    })

    it('rejects when the whole call takes longer than its timeout', async () => {
      const [holder, other] = [await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire()
      const error = await failureOf(new Lock(other, path).acquire({ timeout: 50 }))
      expect(error).to.be.instanceOf(LockError).with.property('code', 'TIMEOUT')
      await other.settled()
      expect(await new Lock(holder, path).contenders()).to.have.length(1)
      await held.release()
    })

    it('leaves no timer behind when it comes within its timeout', async () => {
      const client = await fixture.open()
      const timersBefore = fixture.timerCount()
      const held = await new Lock(client, path).acquire({ timeout: 60_000 })
      expect(fixture.timerCount()).to.equal(timersBefore)
      await held.release()
    })

    it('refuses a timeout, options and a signal that are none, and takes no place', async () => {
      const client = await fixture.open()
      for (const timeout of [-1, NaN, 'soon', '50', null, 5n] as never[])
        expect(await failureOf(new Lock(client, path).acquire({ timeout }))).to.include({ code: 'BADARGUMENTS', path })
      for (const options of [50, null, () => 0, { signal: new AbortController() }] as never[]) {
        expect(await failureOf(new Lock(client, path).acquire(options))).to.include({ code: 'BADARGUMENTS', path })
        const used = new Lock(client, path).use(() => expect.fail('it was taken'), options)
        expect(await failureOf(used)).to.include({ code: 'BADARGUMENTS', path })
      }
      expect(await client.exists(path)).to.equal(null)
    })

    it('rejects with the signal’s reason, at once, and another waiter takes the place', async () => {
      const [holder, quitter, other] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire()
      const abort = new AbortController()
      const quitting = failureOf(new Lock(quitter, path).acquire({ signal: abort.signal }))
      await waiting(1, holder)
      const next = new Lock(other, path).acquire()
      await waiting(2, holder)
      const reason = new Error('enough')
      abort.abort(reason)
      expect(await quitting).to.equal(reason)
      await held.release()
      await (await next).release()
    })

    it('sends nothing for one who gave up before there was a connection', async () => {
      const asked: number[] = []
      const { faultyDial, client } = await fixture.openWithFaults({
        onFrame: ({ from, first, bytes }: ObservedFrame) => {
          if (from === 'client' && !first) asked.push(RequestHeader.decode(bytes).type)
        },
      })
      faultyDial.refuse()
      await fixture.until(() => client.state === 'suspended')
      const abort = new AbortController()
      const reason = new Error('given up')
      const failing = failureOf(new Lock(client, path).acquire({ signal: abort.signal }))
      abort.abort(reason)
      expect(await failing).to.equal(reason)
      faultyDial.accept()
      await client.whenConnected()
      await client.settled()
      expect(asked.filter(type => type !== opcodes.ping)).to.deep.equal([])
    })

    it('may be asked for by many under one signal, without a warning of a leak', async () => {
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
      await client.settled()
      await client.deleteRecursive(path)
    })

    it('sends nothing for a signal that has aborted already', async () => {
      const client = await fixture.open()
      const reason = new Error('before')
      expect(await failureOf(new Lock(client, path).acquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await failureOf(new Lock(client, path).tryAcquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await client.exists(path)).to.equal(null)
    })

    if (isQueue)
      it('passes over foreign names in its directory', async () => {
        const client = await fixture.open()
        await client.ensurePath(path)
        for (const name of ['foreign', 'foreign-0000000000', 'foreign__lock__0000000000'])
          await client.create(`${path}/${name}`)
        const lock = new Lock(client, path)
        await (await lock.acquire()).release()
        expect(await lock.contenders()).to.deep.equal([])
      })

    itEverywhere('tells a holder whose session has expired, and lets the next one in', async () => {
      const [holder, other] = [await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire()
      const acquiring = new Lock(other, path).acquire()
      await waiting(1, holder)
      const lost = once(held.signal, 'abort')
      await fixture.expire(holder)
      await lost
      expect(held.signal.reason).to.be.instanceOf(LockError).with.property('code', 'LOST')
      expect(held.validFor()).to.equal(0)
      await held.release()
      const next = await acquiring
      expect(next.token > held.token).to.equal(true)
      await next.release()
    })

    it('fails a waiter whose session has expired, and others go on', async () => {
      const [holder, dead, other] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire()
      const failing = failureOf(new Lock(dead, path).acquire())
      await waiting(1, holder)
      const next = new Lock(other, path).acquire()
      await waiting(2, holder)
      await fixture.expire(dead)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held.release()
      await (await next).release()
    })

    itEverywhere('tells a holder that watches its own node when an outsider deletes that', async () => {
      const [holder, outsider] = [await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
      const lost = once(held.signal, 'abort')
      await outsider.setData(held.path, 'only changed')
      await outsider.delete(held.path)
      await lost
      expect(held.signal.reason).to.have.property('code', 'LOST')
      expect(held.validFor()).to.equal(0)
    })

    if (hasUniqueNames)
      itEverywhere('guards what is written under it: nothing is when an outsider has deleted its node', async () => {
        const [holder, outsider] = [await fixture.open(), await fixture.open()]
        await outsider.ensurePath(directory)
        const held = await new Lock(holder, path).acquire()
        await held.guard().setData(directory, 'under the lock').commit()
        await outsider.delete(held.path)
        const late = held.guard().setData(directory, 'too late').commit()
        expect(await failureOf(late)).to.have.property('code', 'NONODE')
        expect((await outsider.getData(directory)).data?.toString()).to.equal('under the lock')
        await held.release()
      })
    else {
      it('has no guard, since another node may come to have its name', async () => {
        const held = await new Lock(await fixture.open(), path).acquire()
        expect(() => held.guard())
          .to.throw(LockError)
          .with.property('code', 'UNSUPPORTED')
        await held.release()
      })

      it('tells a holder that watches its own node when another has come to bear its name, and leaves that alone', async () => {
        const [holder, outsider] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
        const lost = once(held.signal, 'abort')
        await outsider.multi([{ delete: held.path }, { create: held.path, mode: 'ephemeral' }])
        await lost
        await holder.settled()
        expect(await outsider.getEphemerals()).to.deep.equal([held.path])
        await outsider.delete(held.path)
      })
    }

    describe('whose release is refused', () => {
      const noDelete = [aclOf('world', 'anyone', perms.all & ~perms.delete)]

      /** Refused once, and permitted now. */
      async function refused(options: AcquireOptions) {
        const [holder, outsider] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire(options)
        await outsider.setACL(parentOf(held.path), noDelete)
        expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
        await outsider.setACL(parentOf(held.path), openACL)
        expect(held.validFor()).to.be.greaterThan(0)
        return { holder, outsider, held }
      }

      itEverywhere('is held as before, and released when that is permitted', async () => {
        const { held, outsider } = await refused({ watchOwnNode: true })
        await held.release()
        expect(held.signal.aborted).to.equal(false)
        expect(await outsider.exists(held.path)).to.equal(null)
      })

      it('is told by use(), alone or beside what the function threw that ran under it', async () => {
        const [holder, outsider] = [await fixture.open(), await fixture.open()]
        const failureUnder = async (end: () => void): Promise<unknown> => {
          let held!: Held
          const failure = await failureOf(
            new Lock(holder, path).use(async taken => {
              held = taken
              await outsider.setACL(parentOf(held.path), noDelete)
              end()
            }),
          )
          await outsider.setACL(parentOf(held.path), openACL)
          await held.release()
          return failure
        }
        const own = new Error('its own')
        expect(await failureUnder(() => undefined)).to.have.property('code', 'NOAUTH')
        const both = await failureUnder(() => {
          throw own
        })
        expect(both).to.be.instanceOf(AggregateError)
        const [first, second] = (both as AggregateError).errors as unknown[]
        expect(first).to.equal(own)
        expect(second).to.have.property('code', 'NOAUTH')
      })

      it('tells of the end of its session', async () => {
        const { holder, held } = await refused({})
        const lost = once(held.signal, 'abort')
        await fixture.expire(holder)
        await lost
        expect(held.signal.reason).to.have.property('code', 'LOST')
      })

      it('tells when an outsider deletes its node', async () => {
        const { outsider, held } = await refused({ watchOwnNode: true })
        const lost = once(held.signal, 'abort')
        await outsider.delete(held.path)
        await lost
        expect(held.validFor()).to.equal(0)
      })
    })

    itEverywhere(
      'holds a lock whose node it may not read, though the server tells it nothing of that node',
      async () => {
        const [holder, outsider] = [await fixture.open(), await fixture.open()]
        await outsider.ensurePath(isQueue ? path : directory)
        const acl = [aclOf('world', 'anyone', perms.all & ~perms.read)]
        const held = await new Lock(holder, path, { acl }).acquire({ watchOwnNode: true })
        await revoke(outsider, held.path)
        await outsider.delete(held.path)
        await holder.sync(path)
        // Servers since CVE-2024-23944 keep events from those who may not read the node.
        expect([held.signal.aborted, held.revoked.aborted]).to.deep.equal([false, false])
        await held.release()
      },
    )

    it('tells a holder that watches its own node when it is asked for the lock, and keeps it', async () => {
      const [holder, outsider] = [await fixture.open(), await fixture.open()]
      const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
      const asked = once(held.revoked, 'abort')
      expect(await revoke(outsider, held.path)).to.equal(true)
      await asked
      expect(held.signal.aborted).to.equal(false)
      expect(held.validFor()).to.be.above(0)
      await held.release()
      expect(await revoke(outsider, held.path)).to.equal(false)
    })

    if (isQueue)
      itEverywhere('has a waiter whose node was deleted by an outsider queue again', async () => {
        const [holder, waiter] = [await fixture.open(), await fixture.open()]
        const held = await new Lock(holder, path).acquire()
        const acquiring = new Lock(waiter, path).acquire()
        const others = async () => (await new Lock(holder, path).contenders()).filter(each => each.path !== held.path)
        await fixture.until(async () => (await others()).length >= 1)
        const [victim] = await others()
        await holder.delete(victim?.path ?? '')
        await held.release()
        const next = await acquiring
        expect(next.path).not.to.equal(victim?.path)
        expect(await new Lock(holder, path).contenders()).to.have.length(1)
        await next.release()
      })

    itEverywhere('is made anew when its whole directory is deleted under the waiters', async () => {
      const [holder, ...waiters] = await fixture.openMany(4)
      if (holder === undefined) throw new Error('no session')
      const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
      const passing = waiters.map(client => new Lock(client, path).use(() => client.sessionId))
      await waiting(3, holder, 1)
      await holder.deleteRecursive(path)
      expect(await Promise.all(passing)).to.have.members(waiters.map(client => client.sessionId))
      await held.release()
    })
  })
}
