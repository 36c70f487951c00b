// zkwire's locks and Apache Curator's contend on the same path.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { LeaderElection, Mutex, ReadWriteLock, revoke, Semaphore } from '../../src/recipes/index.ts'
import { until } from '../../environment/until.ts'
import { ours, type Contender } from './contender.ts'
import { expectSharedBarrier, expectSharedDoubleBarrier } from './barriers.ts'
import { describeInterop, SHORT } from './fixture.ts'
import { curators } from './peers.ts'

const first = (contenders: readonly Contender[]) => contenders[0] as Contender
const last = (contenders: readonly Contender[]) => contenders.at(-1) as Contender

describeInterop('locks with', curators, all => {
  const sides = (client: Client) => new ReadWriteLock(client, all.path)

  it('InterProcessMutex and Mutex have one holder at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path)), ...all.theirs('mutex')]))

  it('contenders() lists Curator’s holder, and our waiter gets the lock when that holder is killed', async () => {
    const victim = await all.start(all.connectString, SHORT)
    const node = await victim.ask('acquire', 'mutex', all.path)
    const session = BigInt(await victim.ask('session'))
    const mutex = new Mutex(all.client, all.path)
    const [holder, ...others] = await mutex.contenders()
    expect(holder).to.include({ path: node, session })
    expect(others).to.deep.equal([])
    expect(await mutex.tryAcquire()).to.equal(null)
    const acquiring = mutex.acquire()
    await victim.kill()
    await (await acquiring).release()
  })

  it('Curator’s acquire times out while our contender holds the lock, and leaves no node in the queue', async () => {
    const mutex = new Mutex(all.client, all.path)
    const held = await mutex.acquire()
    expect(await all.peer.ask('acquire', 'mutex', all.path, '100')).to.equal('taken')
    await until(async () => (await mutex.contenders()).length === 1)
    await held.release()
  })

  it('Curator’s Revoker aborts the `revoked` signal of our holder', async () => {
    const held = await new Mutex(all.client, all.path).acquire({ watchOwnNode: true })
    await all.peer.ask('revoke', '', held.path)
    await until(() => held.revoked.aborted)
    expect(held.signal.aborted).to.equal(false)
    await held.release()
  })

  it('our revoke() notifies Curator’s revocable holder', async () => {
    await all.peer.ask('revocable', 'mutex', all.path)
    const node = await all.peer.ask('acquire', 'mutex', all.path)
    expect(await revoke(all.client, node)).to.equal(true)
    expect(await all.peer.ask('revoked')).to.equal('true')
    await all.peer.ask('release', 'mutex', all.path)
  })

  it('InterProcessReadWriteLock and ReadWriteLock exclude writers from readers and from each other', () => {
    const [our, their] = [all.ours(client => sides(client).writeLock), all.theirs('write')]
    const [ourReader, theirReader] = [all.ours(client => sides(client).readLock), all.theirs('read')]
    return all.expectNoTornRead([first(our), first(their)], [last(ourReader), last(theirReader)])
  })

  it('readers of both libraries share the lock, and a writer waits for all of them', async () => {
    const { readLock, writeLock } = sides(all.client)
    const held = await readLock.acquire()
    await all.peer.ask('acquire', 'read', all.path)
    const writing = writeLock.acquire()
    await until(async () => (await writeLock.contenders()).length === 3)
    await held.release()
    expect(await sides(all.client).writeLock.tryAcquire()).to.equal(null)
    await all.peer.ask('release', 'read', all.path)
    await (await writing).release()
  })

  it('after our writer downgrades, Curator’s readers get the lock and its writers do not', async () => {
    const write = await sides(all.client).writeLock.acquire()
    const read = await write.downgrade()
    expect(await all.peer.ask('acquire', 'read', all.path, '5000')).to.match(/__READ__\d{10}$/)
    await all.peer.ask('release', 'read', all.path)
    expect(await all.peer.ask('acquire', 'write', all.path, '100')).to.equal('taken')
    await read.release()
    expect(await all.peer.ask('acquire', 'write', all.path, '5000')).to.match(/__WRIT__\d{10}$/)
    await all.peer.ask('release', 'write', all.path)
  })

  // No writer waits in this test, because Curator 5.4 queues the downgraded reader after waiting writers, and grants
  // the first of them the lock too (CURATOR-621).
  it('after Curator’s writer downgrades, our readers get the lock and our writers do not', async () => {
    const { readLock, writeLock } = sides(all.client)
    await all.peer.ask('acquire', 'write', all.path)
    const node = await all.peer.ask('acquire', 'read', all.path)
    await all.peer.ask('release', 'write', all.path)
    expect((await readLock.contenders()).map(({ path }) => path)).to.deep.equal([node])
    await (await readLock.acquire({ timeout: 5000 })).release()
    expect(await writeLock.tryAcquire()).to.equal(null)
    await all.peer.ask('release', 'read', all.path)
    await (await writeLock.acquire()).release()
  })

  it('InterProcessSemaphoreMutex and a Semaphore with one permit have one holder at a time', () =>
    all.expectNoLostUpdate([
      ...all.ours(client => new Semaphore(client, all.path, 1)),
      ...all.theirs('semaphoreMutex'),
    ]))

  it('InterProcessSemaphoreV2 and Semaphore have as many holders as there are permits', async () => {
    const contenders = [...all.ours(client => new Semaphore(client, all.path, 2)), ...all.theirs('semaphore:2')]
    let inside = 0
    let most = 0
    const each = async (contender: Contender) => {
      for (let round = 0; round < 30; round++) {
        await contender.acquire()
        most = Math.max(most, ++inside)
        // On a busy machine, two holders might otherwise never overlap.
        if (round === 0) await until(() => most === 2)
        await contender.read(all.counter)
        inside--
        await contender.release()
      }
    }
    await Promise.all(contenders.map(each))
    expect(most, 'concurrent holders').to.equal(2)
    expect(await new Semaphore(all.client, all.path, 2).available()).to.equal(2)
  })

  it('InterProcessSemaphoreV2 counts each permit of a call that takes several', async () => {
    const [semaphore, kind] = [new Semaphore(all.client, all.path, 3), 'semaphore:3']
    const two = await semaphore.acquire({ permits: 2 })
    const node = await all.peer.ask('acquire', kind, all.path, '5000')
    expect((await semaphore.contenders()).map(({ path }) => path)).to.include.members([two.path, node])
    const [, other] = all.peers
    expect(await other?.ask('acquire', kind, all.path, '100')).to.equal('taken')
    const three = semaphore.acquire({ permits: 3 })
    await two.release()
    // The lease of the peer is the fourth node, until it is returned.
    await until(async () => (await semaphore.contenders()).length === 4)
    await all.peer.ask('release', kind, all.path)
    await (await three).release()
    expect(await semaphore.available()).to.equal(3)
  })

  it('LeaderLatch and LeaderElection have one leader at a time', async () => {
    const candidate = (client: Client) => {
      const election = new LeaderElection(client, all.path)
      return { acquire: () => election.campaign({ watchOwnNode: false }) }
    }
    await all.expectNoLostUpdate([...all.ours(candidate), ...all.theirs('latch')])
  })

  it('LeaderLatch and LeaderElection report the same leader', async () => {
    const election = new LeaderElection(all.client, all.path, { id: 'ours' })
    const held = await election.campaign()
    expect(await all.peer.ask('leader', '', all.path)).to.equal('ours')
    const following = all.peer.ask('acquire', 'latch', all.path)
    await until(async () => (await election.participants()).length === 2)
    await held.release()
    await following
    expect(await election.leader()).to.include({ id: 'curator', isLeader: true })
    await all.peer.ask('release', 'latch', all.path)
  })

  it('LeaderSelector and a Mutex have one holder at a time, because LeaderSelector uses InterProcessMutex', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path)), ...all.theirs('selector')]))

  it('waiters of DistributedBarrier and of Barrier wait for either', () => expectSharedBarrier(all))

  it('members of DistributedDoubleBarrier and of DoubleBarrier enter and leave together', () =>
    expectSharedDoubleBarrier(all))

  it('a lock with another dialect reports foreign contenders but does not exclude them, so an increment is lost', async () => {
    const reports: (readonly string[])[] = []
    const onForeignContenders = (names: readonly string[]) => void reports.push(names)
    const mutex = new Mutex(all.client, all.path, { dialect: 'kazoo', onForeignContenders })
    await all.expectLostUpdate(ours('ours', all.client, mutex), all.peer.contender('theirs', 'mutex', all.path))
    expect(reports).to.have.length(1)
    expect(reports[0]?.[0]).to.match(/^_c_.*-lock-\d{10}$/)
  })
})

describeInterop('ZooKeeper’s own recipes, beside', curators, all => {
  it('WriteLock and Mutex have one holder at a time', () =>
    all.expectNoLostUpdate([
      ...all.ours(client => new Mutex(client, all.path, { dialect: 'zookeeper' })),
      ...all.theirs('zookeeper'),
    ]))
})
