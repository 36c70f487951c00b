import { expect } from 'chai'
import { HerdMutex, LockError, Mutex, ReentrantMutex, type Held } from '../../src/recipes/index.ts'
import type { ObservedFrame } from '../../src/index.ts'
import { opcodes, RequestHeader } from '../../src/protocol/index.ts'
import { failureOf } from '../support/outcome.ts'
import { expireSession } from '../support/shared-server.ts'
import { until } from '../support/until.ts'
import { Ground } from './ground.ts'

describe('ReentrantMutex', () => {
  const ground = Ground.lay('reentrant')

  it('lets the same owner in again, with the same token, until each entry is released', async () => {
    const lock = new ReentrantMutex(await ground.open(), ground.path)
    const first = await lock.acquire({ owner: 'me' })
    const second = await lock.acquire({ owner: 'me' })
    expect(second.token).to.equal(first.token)
    expect(await ground.nodes()).to.have.length(1)
    await first.release()
    expect(first.validFor()).to.equal(0)
    expect(second.validFor()).to.be.greaterThan(0)
    expect(await ground.nodes()).to.have.length(1)
    await second.release()
    expect(await ground.nodes()).to.deep.equal([])
  })

  it('counts an entry once, however often it is released', async () => {
    const lock = new ReentrantMutex(await ground.open(), ground.path)
    const first = await lock.acquire({ owner: 'me' })
    const second = await lock.acquire({ owner: 'me' })
    await Promise.all([second.release(), second.release()])
    expect(await ground.nodes()).to.have.length(1)
    await first.release()
  })

  it('keeps other owners, and those who name none, out until then', async () => {
    const lock = new ReentrantMutex(await ground.open(), ground.path)
    const held = await lock.acquire({ owner: 'me' })
    expect(await lock.tryAcquire({ owner: 'you' })).to.equal(null)
    expect(await lock.tryAcquire()).to.equal(null)
    expect(await failureOf(lock.acquire({ timeout: 20 }))).to.have.property('code', 'TIMEOUT')
    const next = lock.acquire({ owner: 'you' })
    await held.release()
    await (await next).release()
  })

  it('costs one node and one watch for a thousand who wait in this process, and lets them in as they came', async () => {
    const [client, other] = [await ground.open(), await ground.open()]
    const elsewhere = await new Mutex(other, ground.path).acquire()
    const watchesBefore = await ground.server.watchCount()
    const order: number[] = []
    const tokens: bigint[] = []
    const waiting = Array.from({ length: 1000 }, (_, i) =>
      new ReentrantMutex(client, ground.path).use(
        held => {
          order.push(i)
          tokens.push(held.token)
        },
        { watchOwnNode: false },
      ),
    )
    await until(async () => (await ground.nodes()).length === 2)
    await until(async () => (await ground.server.watchCount()) === watchesBefore + 1)
    expect(await ground.nodes()).to.have.length(2)
    await elsewhere.release()
    await Promise.all(waiting)
    expect(order).to.deep.equal(Array.from({ length: 1000 }, (_, i) => i))
    expect(tokens).to.deep.equal([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)))
  })

  it('gives the lock back at the server before the next one here asks for it, so that other processes get their turn', async () => {
    const [client, other] = [await ground.open(), await ground.open()]
    const lock = new ReentrantMutex(client, ground.path)
    const order: string[] = []
    const first = await lock.acquire()
    const here = lock.use(() => order.push('here'))
    const elsewhere = new Mutex(other, ground.path).use(() => order.push('elsewhere'))
    await until(async () => (await ground.nodes()).length === 2)
    await first.release()
    await Promise.all([here, elsewhere])
    expect(order).to.deep.equal(['elsewhere', 'here'])
  })

  it('is one queue for all views of a session, by the path at the server', async () => {
    const client = await ground.open()
    await client.ensurePath(ground.path)
    const view = client.chroot(ground.path)
    const held = await new ReentrantMutex(view, '/lock').acquire({ owner: 'me' })
    const again = await new ReentrantMutex(client, `${ground.path}/lock`).acquire({ owner: 'me' })
    expect(again.token).to.equal(held.token)
    await held.release()
    await again.release()
  })

  it('asks the server for nothing while one here holds the lock', async () => {
    const sent: number[] = []
    const client = await ground.open({
      observe: ({ from, first, bytes }: ObservedFrame) => {
        if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
      },
    })
    const lock = new ReentrantMutex(client, ground.path)
    const held = await lock.acquire({ owner: 'me' })
    sent.length = 0
    const again = await lock.acquire({ owner: 'me' })
    expect(await lock.tryAcquire()).to.equal(null)
    const giveUp = new AbortController()
    const waiting = failureOf(lock.acquire({ signal: giveUp.signal }))
    giveUp.abort(new Error('given up'))
    expect(await waiting).to.have.property('message', 'given up')
    await again.release()
    expect(sent.filter(type => type !== opcodes.ping)).to.deep.equal([])
    await held.release()
  })

  it('passes over those who gave up while they waited here', async () => {
    const lock = new ReentrantMutex(await ground.open(), ground.path)
    const held = await lock.acquire()
    const giveUp = new AbortController()
    const given = failureOf(lock.acquire({ signal: giveUp.signal }))
    const next = lock.acquire()
    giveUp.abort(new Error('given up'))
    await given
    await held.release()
    await (await next).release()
  })

  it('lets the next one here in when the one before gave up in the queue at the server', async () => {
    const [client, other] = [await ground.open(), await ground.open()]
    const elsewhere = await new HerdMutex(other, ground.path).acquire()
    const lock = new ReentrantMutex(client, ground.path)
    const first = failureOf(lock.acquire({ timeout: 50 }))
    const second = lock.acquire()
    expect(await first)
      .to.be.instanceOf(LockError)
      .with.property('code', 'TIMEOUT')
    await elsewhere.release()
    await (await second).release()
  })

  it('fails everybody here with SESSIONEXPIRED when the session expires', async () => {
    const client = await ground.open()
    const lock = new ReentrantMutex(client, ground.path)
    const held = await lock.acquire()
    const waiting = [failureOf(lock.acquire()), failureOf(lock.acquire())]
    await expireSession(ground.server, client.sessionId, client.sessionPassword)
    await until(() => held.signal.aborted)
    await held.release()
    for (const error of await Promise.all(waiting)) expect(error).to.have.property('code', 'SESSIONEXPIRED')
  })

  describe('by context', () => {
    it('lets a function that runs under the lock take it again, however deep', async () => {
      const lock = new ReentrantMutex(await ground.open(), ground.path, { byContext: true })
      const deeper = async (depth: number): Promise<bigint[]> =>
        lock.use(async ({ token }) => [token, ...(depth > 0 ? await deeper(depth - 1) : [])])
      const tokens = await deeper(3)
      expect(tokens).to.have.length(4)
      expect(new Set(tokens).size).to.equal(1)
    })

    it('keeps functions apart that were started beside each other', async () => {
      const lock = new ReentrantMutex(await ground.open(), ground.path)
      let inside = 0
      const task = () =>
        lock.use(
          async () => {
            expect(++inside).to.equal(1)
            await ground.observer.exists('/')
            inside--
          },
          { byContext: true },
        )
      await Promise.all([task(), task(), task()])
    })

    it('takes parallel branches of the holder for the holder', async () => {
      const lock = new ReentrantMutex(await ground.open(), ground.path, { byContext: true })
      await lock.use(async () => {
        const both = await Promise.all([lock.acquire(), lock.acquire()])
        expect(both[0].token).to.equal(both[1].token)
        await Promise.all(both.map(held => held.release()))
      })
    })

    it('has a context queue like anybody else whose hold has ended', async () => {
      const lock = new ReentrantMutex(await ground.open(), ground.path, { byContext: true })
      let open!: () => void
      const gate = new Promise<void>(resolve => (open = resolve))
      let queued!: Promise<Held>
      await lock.use(() => {
        queued = gate.then(() => lock.acquire())
      })
      const other = await lock.acquire({ owner: 'other' })
      open()
      expect(await Promise.race([queued, ground.observer.exists('/').then(() => 'waits')])).to.equal('waits')
      await other.release()
      await (await queued).release()
    })

    it('makes the caller of acquire the holder, so that what he calls next is let in', async () => {
      const lock = new ReentrantMutex(await ground.open(), ground.path, { byContext: true })
      const inner = async () => {
        const held = await lock.acquire()
        await held.release()
        return held.token
      }
      const held = await lock.acquire()
      expect(await inner()).to.equal(held.token)
      await held.release()
    })
  })
})
