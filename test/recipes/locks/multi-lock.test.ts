import { expect } from 'chai'
import { getEventListeners } from 'node:events'
import { aclOf, openACL, perms } from '../../../src/index.ts'
import { EphemeralMutex, MultiLock, Mutex, TicketMutex, type AcquireOptions } from '../../../src/recipes/index.ts'
import { failureOf, outcomeOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('MultiLock', (fixture, { itInVirtualTime, itEverywhere }) => {
  const at = (name: string) => `${fixture.path}/${name}`

  itEverywhere('holds all of its locks, and releases them in reverse order', async () => {
    const client = await fixture.open()
    const locks = ['c', 'a', 'b'].map(name => new Mutex(client, at(name)))
    const held = await new MultiLock(locks).acquire()
    expect(held.held.map(({ path }) => path.slice(fixture.path.length + 1, fixture.path.length + 2))).to.deep.equal([
      'a',
      'b',
      'c',
    ])
    expect(held.validFor()).to.be.greaterThan(0)
    const deleted: string[] = []
    for (const each of held.held) await fixture.observer.exists(each.path, { watch: ({ path }) => deleted.push(path) })
    await held.release()
    await fixture.observer.sync('/')
    expect(deleted).to.deep.equal(held.held.map(({ path }) => path).reverse())
    expect(held.validFor()).to.equal(0)
  })

  itEverywhere('never deadlocks, even if clients list the locks in different orders', async () => {
    const clients = await fixture.openMany(6)
    let inside = 0
    const acquireRepeatedly = async (client: (typeof clients)[number], i: number) => {
      const locks = ['x', 'y', 'z'].map(name => new Mutex(client, at(name)))
      if (i % 2 === 1) locks.reverse()
      for (let n = 0; n < 10; n++)
        await new MultiLock(locks).use(async () => {
          expect(++inside).to.equal(1)
          await client.exists('/')
          inside--
        })
    }
    await Promise.all(clients.map(acquireRepeatedly))
  })

  itInVirtualTime('gives a lock of the caller a real AbortSignal, which no listener of the call outlives', async () => {
    const signals: unknown[] = []
    class Recorded extends Mutex {
      override acquire(options?: AcquireOptions) {
        signals.push(options?.signal)
        return super.acquire(options)
      }
    }
    const client = await fixture.open()
    const held = await new MultiLock(['a', 'b'].map(name => new Recorded(client, at(name)))).acquire()
    expect(signals).to.have.length(2)
    for (const signal of signals) expect(signal).to.be.an.instanceof(AbortSignal)
    expect(held.held.map(({ signal }) => getEventListeners(signal, 'abort').length)).to.deep.equal([1, 1])
    await held.release()
  })

  itInVirtualTime('acquires locks of different views in the order of their paths at the server', async () => {
    const client = await fixture.open()
    await client.ensurePath(at('z'))
    const inView = new Mutex(client.chroot(at('z')), '/0')
    const held = await new MultiLock([inView, new Mutex(client, at('m'))]).acquire()
    expect(held.held[0]?.path).to.match(/\/m\//)
    await held.release()
  })

  itInVirtualTime('acquires the locks of a nested MultiLock one by one, in the order of all paths', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const [a, b, c] = ['a', 'b', 'c'].map(name => new Mutex(client, at(name))) as [Mutex, Mutex, Mutex]
    const nested = new MultiLock([new MultiLock([a, c]), b])
    const taken = await new Mutex(other, at('b')).acquire()
    const acquiring = nested.acquire()
    await fixture.until(async () => (await fixture.childPaths('/b')).length === 2)
    expect(await fixture.childPaths('/c')).to.deep.equal([])
    await taken.release()
    const held = await acquiring
    expect(held.held).to.have.length(3)
    await held.release()
    expect(() => new MultiLock([nested, b]))
      .to.throw()
      .with.property('code', 'BADARGUMENTS')
  })

  itInVirtualTime('makes tryAcquire() resolve with null and hold none if one lock is held', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const taken = await new Mutex(other, at('b')).acquire()
    const multi = new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))])
    expect(await multi.tryAcquire()).to.equal(null)
    await client.settled()
    expect(await fixture.ephemeralNodes()).to.deep.equal([taken.path])
    await taken.release()
    const held = await multi.tryAcquire()
    await held?.release()
    expect(held).to.not.equal(null)
  })

  itInVirtualTime('aborts its signal when one lock is lost, and holds the others until it is released', async () => {
    const client = await fixture.open()
    const multi = new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))])
    const held = await multi.acquire({ watchOwnNode: true })
    await fixture.observer.delete(held.held[0]?.path ?? '')
    await fixture.until(() => held.signal.aborted)
    expect(held.signal.reason).to.have.property('code', 'LOST')
    expect(held.validFor()).to.equal(0)
    expect(await fixture.ephemeralNodes()).to.deep.equal([held.held[1]?.path])
    await held.release()
  })

  itInVirtualTime('releases all locks and starts again if one is lost while it waits for another', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const taken = await new Mutex(other, at('c')).acquire()
    const multi = new MultiLock(['a', 'b', 'c'].map(name => new Mutex(client, at(name))))
    const acquiring = multi.acquire({ watchOwnNode: true })
    const queues = async () =>
      Promise.all(['/a', '/b', '/c'].map(async name => (await fixture.childPaths(name)).length))
    const untilQueues = (...lengths: number[]) =>
      fixture.until(async () => (await queues()).every((length, i) => length === lengths[i]))
    await untilQueues(1, 1, 2)
    const [first = ''] = await fixture.childPaths('/a')
    await fixture.observer.delete(first)
    const rival = await new Mutex(other, at('a')).acquire()
    const isGranted = trackSettled(acquiring)
    // It leaves the queue of the third lock, releases the second one, and queues for the first one after the rival.
    await untilQueues(2, 0, 1)
    await taken.release()
    await rival.release()
    const held = await acquiring
    expect([isGranted(), held.signal.aborted, held.validFor() > 0]).to.deep.equal([true, false, true])
    expect(await fixture.ephemeralNodes()).to.have.members(held.held.map(({ path }) => path))
    await held.release()
  })

  itInVirtualTime(
    'rejects if one is lost while it waits for another, and a server refuses to delete a third',
    async () => {
      const [client, other] = [await fixture.open(), await fixture.open()]
      const taken = await new Mutex(other, at('c')).acquire()
      const multi = new MultiLock(['a', 'b', 'c'].map(name => new Mutex(client, at(name))))
      const acquiring = outcomeOf(multi.acquire({ watchOwnNode: true }))
      await fixture.until(async () => (await fixture.childPaths('/c')).length === 2)
      await fixture.observer.setACL(at('b'), [aclOf('world', 'anyone', perms.all & ~perms.delete)])
      const [first = ''] = await fixture.childPaths('/a')
      await fixture.observer.delete(first)
      expect(await acquiring).to.have.property('code', 'NOAUTH')
      expect(await fixture.childPaths('/b')).to.have.length(1)
      await taken.release()
      await fixture.observer.setACL(at('b'), openACL)
      await client.close()
    },
  )

  itInVirtualTime('is not granted with a lock that was lost while it waited for another', async () => {
    const [client, other] = [await fixture.open(), await fixture.open()]
    const taken = await new Mutex(other, at('b')).acquire()
    const acquiring = new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))]).acquire({
      watchOwnNode: true,
    })
    await fixture.until(async () => (await fixture.childPaths('/b')).length === 2)
    const [first = ''] = await fixture.childPaths('/a')
    await Promise.all([fixture.observer.delete(first), taken.release()])
    const held = await acquiring
    expect(held.signal.aborted).to.equal(false)
    expect(await fixture.ephemeralNodes()).to.have.members(held.held.map(({ path }) => path))
    await held.release()
  })

  itInVirtualTime(
    'releases the other locks if the release of one is rejected, and rejects with that error',
    async () => {
      const client = await fixture.open()
      const multi = new MultiLock(['a', 'b', 'c'].map(name => new Mutex(client, at(name))))
      const held = await multi.acquire()
      await fixture.observer.setACL(at('b'), [aclOf('world', 'anyone', perms.all & ~perms.delete)])
      expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
      expect(await fixture.ephemeralNodes()).to.deep.equal([held.held[1]?.path])
      await fixture.observer.setACL(at('b'), openACL)
      await held.release()
    },
  )

  itInVirtualTime('aborts its signal when a lock is lost after a rejected release', async () => {
    const client = await fixture.open()
    const multi = new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))])
    const held = await multi.acquire({ watchOwnNode: true })
    await fixture.observer.setACL(at('a'), [aclOf('world', 'anyone', perms.all & ~perms.delete)])
    expect(await failureOf(held.release())).to.have.property('code', 'NOAUTH')
    await fixture.observer.setACL(at('a'), openACL)
    await fixture.observer.delete(held.held[0]?.path ?? '')
    await fixture.until(() => held.signal.aborted)
    await held.release()
  })

  itEverywhere('guards writes with the nodes of all locks', async () => {
    const client = await fixture.open()
    await client.create('/guarded', '')
    const held = await new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))]).acquire()
    await held.guard().setData('/guarded', '1').commit()
    await fixture.observer.delete(held.held[1]?.path ?? '')
    expect(await failureOf(held.guard().setData('/guarded', '2').commit())).to.have.property('code', 'NONODE')
    expect(String((await client.getData('/guarded')).data)).to.equal('1')
    await held.release()
    await client.delete('/guarded')
  })

  itInVirtualTime('throws UNSUPPORTED from guard() if a lock has no guard or the chroots differ', async () => {
    const client = await fixture.open()
    await client.ensurePath(fixture.path)
    const mutex = new Mutex(client, at('a'))
    for (const other of [new EphemeralMutex(client, at('b')), new Mutex(client.chroot(fixture.path), '/c')]) {
      const held = await new MultiLock([mutex, other]).acquire()
      expect(() => held.guard())
        .to.throw()
        .with.property('code', 'UNSUPPORTED')
      await held.release()
    }
  })

  itInVirtualTime('accepts locks of different kinds', async () => {
    const client = await fixture.open()
    const multi = new MultiLock([new TicketMutex(client, at('a')), new Mutex(client, at('b'))])
    await multi.use(held => expect(held.held).to.have.length(2))
  })

  itInVirtualTime('listens to the signals of its locks only until it is released', async () => {
    const client = await fixture.open()
    const held = await new MultiLock([new Mutex(client, at('a')), new Mutex(client, at('b'))]).acquire()
    const listeners = () =>
      held.held.flatMap(({ signal, revoked }) => [signal, revoked].map(each => getEventListeners(each, 'abort').length))
    expect(listeners()).to.deep.equal([1, 1, 1, 1])
    await held.release()
    expect(listeners()).to.deep.equal([0, 0, 0, 0])
  })
})
