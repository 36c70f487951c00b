// What Mutex and HerdMutex promise alike, on a real server.
import { expect } from 'chai'
import { once } from 'node:events'
import { connect, type Client, type ObservedFrame } from '../../src/index.ts'
import { CreateRequest, opcodes, RequestHeader } from '../../src/protocol/index.ts'
import { Held, HerdMutex, LockError, Mutex } from '../../src/recipes/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Sessions } from './sessions.ts'
import { failureOf } from '../support/outcome.ts'

for (const Lock of [Mutex, HerdMutex]) {
  describe(Lock.name, () => {
    const sessions = new Sessions()
    let server: ApacheZooKeeper
    let path: string
    let watchesBefore: number
    let run = 0

    before(async () => {
      server = await sharedServer()
    })
    beforeEach(async () => {
      path = `/${Lock.name}/${++run}`
      watchesBefore = await server.watchCount()
    })
    afterEach(async () => {
      await sessions.settled()
      expect(await server.watchCount(), 'watches left behind').to.equal(watchesBefore)
      const observer = await connect(server.connectString)
      const left = (await observer.exists(path)) ? (await observer.getChildren(path)).children : []
      await observer.deleteRecursive(`/${Lock.name}`)
      await observer.close()
      await sessions.close()
      expect(
        left.filter(name => !name.startsWith('foreign')),
        'nodes left behind',
      ).to.deep.equal([])
    })

    const open = (options = {}): Promise<Client> => sessions.open(server.connectString, options)

    it('lets one in at a time, in the order of the queue, with tokens that grow', async () => {
      const clients = await sessions.many(20, server.connectString)
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
      const client = await open()
      const first = await new Lock(client, path).acquire()
      const second = new Lock(client, path).acquire()
      expect((await new Lock(client, path).contenders()).length).to.be.at.least(1)
      await first.release()
      await (await second).release()
    })

    it('takes one round trip when it is free', async () => {
      const frames: ObservedFrame[] = []
      const client = await open({ observe: (frame: ObservedFrame) => frames.push(frame) })
      await client.ensurePath(path)
      frames.length = 0
      const held = await new Lock(client, path).acquire()
      // What comes behind is the herd taking its watch back.
      const order = frames.slice(0, 4).map(({ from }) => from)
      expect(order).to.deep.equal(['client', 'client', 'server', 'server'])
      const [create, list] = frames.map(({ bytes }) => RequestHeader.decode(bytes).type)
      expect([create, list]).to.deep.equal([opcodes.create2, opcodes.getChildren2])
      await held.release()
    })

    it('makes a directory that is missing, of containers, as Curator does', async () => {
      const made: string[] = []
      const client = await open({
        observe: ({ from, first, bytes }: ObservedFrame) => {
          if (from === 'server' || first || RequestHeader.decode(bytes).type !== opcodes.createContainer) return
          made.push(CreateRequest.decode(bytes.subarray(8)).path)
        },
      })
      const held = await new Lock(client, `${path}/er`).acquire()
      expect(held.path).to.match(/\/er\/_c_[\da-f-]{36}-lock-\d{10}$/)
      expect(made).to.include.members([path, `${path}/er`])
      await held.release()
      await client.deleteRecursive(path)
    })

    it('holds the node’s czxid as its token, and the data it was given', async () => {
      const client = await open()
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
      const client = await open()
      const held = await new Lock(client, path).acquire()
      await Promise.all([held.release(), held.release()])
      await held.release()
    })

    it('is released at the end of its scope', async () => {
      const client = await open()
      {
        await using held = await new Lock(client, path).acquire()
        expect(held).to.be.instanceOf(Held)
      }
      expect(await new Lock(client, path).contenders()).to.deep.equal([])
    })

    it('gives what the function under it gives, and is released when that throws', async () => {
      const client = await open()
      const lock = new Lock(client, path)
      expect(await lock.use(() => 42)).to.equal(42)
      const error = await failureOf(lock.use(() => Promise.reject(new Error('mine'))))
      expect(error).to.have.property('message', 'mine')
      expect(await lock.contenders()).to.deep.equal([])
    })

    it('is not there for a second one who only tries, who writes nothing', async () => {
      const holder = await open()
      const sent: number[] = []
      const other = await open({
        observe: ({ from, first, bytes }: ObservedFrame) => {
          if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
        },
      })
      const held = await new Lock(holder, path).acquire()
      expect(await new Lock(other, path).tryAcquire()).to.equal(null)
      expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal([opcodes.getChildren2])
      await held.release()
      const got = await new Lock(other, path).tryAcquire()
      expect(got).to.be.instanceOf(Held)
      await got?.release()
    })

    it('goes to no more than one of many who only try at once', async () => {
      const clients = await sessions.many(8, server.connectString)
      const tries = await Promise.all(clients.map(client => new Lock(client, path).tryAcquire()))
      const got = tries.filter(held => held !== null)
      expect(got.length).to.be.at.most(1)
      await Promise.all(got.map(held => held.release()))
    })

    it('rejects when the whole call takes longer than its timeout', async () => {
      const [holder, other] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const error = await failureOf(new Lock(other, path).acquire({ timeout: 50 }))
      expect(error).to.be.instanceOf(LockError).with.property('code', 'TIMEOUT')
      await other.settled()
      expect(await new Lock(holder, path).contenders()).to.have.length(1)
      await held.release()
    })

    it('rejects with the signal’s reason, at once, and another waiter takes the place', async () => {
      const [holder, quitter, other] = [await open(), await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const abort = new AbortController()
      const quitting = failureOf(new Lock(quitter, path).acquire({ signal: abort.signal }))
      await until(async () => (await new Lock(holder, path).contenders()).length >= 2)
      const waiting = new Lock(other, path).acquire()
      await until(async () => (await new Lock(holder, path).contenders()).length >= 3)
      const reason = new Error('enough')
      abort.abort(reason)
      expect(await quitting).to.equal(reason)
      await held.release()
      await (await waiting).release()
    })

    it('may be asked for by many under one signal, without a warning of a leak', async () => {
      const warnings: Error[] = []
      const onWarning = (warning: Error) => void warnings.push(warning)
      process.on('warning', onWarning)
      const client = await open()
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
      const client = await open()
      const reason = new Error('before')
      expect(await failureOf(new Lock(client, path).acquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await failureOf(new Lock(client, path).tryAcquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
      expect(await client.exists(path)).to.equal(null)
    })

    it('passes over foreign names in its directory', async () => {
      const client = await open()
      await client.ensurePath(path)
      for (const name of ['foreign', 'foreign-0000000000', 'foreign__lock__0000000000'])
        await client.create(`${path}/${name}`)
      const lock = new Lock(client, path)
      await (await lock.acquire()).release()
      expect(await lock.contenders()).to.deep.equal([])
    })

    it('tells a holder whose session has expired, and lets the next one in', async () => {
      const [holder, other] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const waiting = new Lock(other, path).acquire()
      await until(async () => (await new Lock(other, path).contenders()).length >= 2)
      const lost = once(held.signal, 'abort')
      await expireSession(server, holder.sessionId, holder.sessionPassword)
      await lost
      expect(held.signal.reason).to.be.instanceOf(LockError).with.property('code', 'LOST')
      expect(held.validFor()).to.equal(0)
      await held.release()
      const next = await waiting
      expect(next.token > held.token).to.equal(true)
      await next.release()
    })

    it('fails a waiter whose session has expired, and others go on', async () => {
      const [holder, dead, other] = [await open(), await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const failing = failureOf(new Lock(dead, path).acquire())
      await until(async () => (await new Lock(holder, path).contenders()).length >= 2)
      const waiting = new Lock(other, path).acquire()
      await until(async () => (await new Lock(holder, path).contenders()).length >= 3)
      await expireSession(server, dead.sessionId, dead.sessionPassword)
      expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
      await held.release()
      await (await waiting).release()
    })

    it('tells a holder that watches its own node when an outsider deletes that', async () => {
      const [holder, outsider] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
      const lost = once(held.signal, 'abort')
      await outsider.setData(held.path, 'only changed')
      await outsider.delete(held.path)
      await lost
      expect(held.signal.reason).to.have.property('code', 'LOST')
      expect(await failureOf(held.guard().setData('/', '').commit())).to.have.property('code', 'NONODE')
    })

    it('has a waiter whose node was deleted by an outsider queue again', async () => {
      const [holder, waiter] = [await open(), await open()]
      const held = await new Lock(holder, path).acquire()
      const waiting = new Lock(waiter, path).acquire()
      const others = async () => (await new Lock(holder, path).contenders()).filter(each => each.path !== held.path)
      await until(async () => (await others()).length >= 1)
      const [victim] = await others()
      await holder.delete(victim?.path ?? '')
      await held.release()
      const next = await waiting
      expect(next.path).not.to.equal(victim?.path)
      expect(await new Lock(holder, path).contenders()).to.have.length(1)
      await next.release()
    })

    it('is made anew when its whole directory is deleted under the waiters', async () => {
      const [holder, ...waiters] = await sessions.many(4, server.connectString)
      if (holder === undefined) throw new Error('no session')
      const held = await new Lock(holder, path).acquire({ watchOwnNode: true })
      const waiting = waiters.map(client => new Lock(client, path).use(() => client.sessionId))
      await until(async () => (await new Lock(holder, path).contenders()).length >= 4)
      await holder.deleteRecursive(path)
      expect(await Promise.all(waiting)).to.have.members(waiters.map(client => client.sessionId))
      await held.release()
    })
  })
}
