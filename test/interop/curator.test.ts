// Our locks and those of Apache Curator, on one path, contending at once.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { LeaderElection, Mutex, ReadWriteLock, revoke, Semaphore } from '../../src/recipes/index.ts'
import { until } from '../support/until.ts'
import { ours, type Contender } from './contender.ts'
import { describeInterop } from './fixture.ts'
import { curator, Peer } from './peers.ts'

const first = (contenders: readonly Contender[]) => contenders[0] as Contender
const last = (contenders: readonly Contender[]) => contenders.at(-1) as Contender

describeInterop('with Curator', curator, all => {
  const sides = (client: Client) => new ReadWriteLock(client, all.path)

  it('InterProcessMutex and Mutex let one in at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path)), ...all.theirs('mutex')]))

  it('a holder of Curator’s is seen among the contenders, and makes way for ours when it is killed', async () => {
    const doomed = await Peer.curator(all.connectString)
    const node = await doomed.ask('acquire', 'mutex', all.path)
    const session = BigInt(await doomed.ask('session'))
    const mutex = new Mutex(all.client, all.path)
    const [holder, ...others] = await mutex.contenders()
    expect(holder).to.include({ path: node, session })
    expect(others).to.deep.equal([])
    expect(await mutex.tryAcquire()).to.equal(null)
    const acquiring = mutex.acquire()
    await doomed.kill()
    await (await acquiring).release()
  })

  it('Curator gives up in time behind ours, and leaves nothing in our way', async () => {
    const mutex = new Mutex(all.client, all.path)
    const held = await mutex.acquire()
    expect(await all.peer.ask('acquire', 'mutex', all.path, '100')).to.equal('taken')
    await until(async () => (await mutex.contenders()).length === 1)
    await held.release()
  })

  it('Curator’s Revoker asks our holder for the lock, who hears it', async () => {
    const held = await new Mutex(all.client, all.path).acquire({ watchOwnNode: true })
    await all.peer.ask('revoke', '', held.path)
    await until(() => held.revoked.aborted)
    expect(held.signal.aborted).to.equal(false)
    await held.release()
  })

  it('our revoke() asks Curator’s revocable holder, which hears it', async () => {
    await all.peer.ask('revocable', 'mutex', all.path)
    const node = await all.peer.ask('acquire', 'mutex', all.path)
    expect(await revoke(all.client, node)).to.equal(true)
    expect(await all.peer.ask('revoked')).to.equal('true')
    await all.peer.ask('release', 'mutex', all.path)
  })

  it('InterProcessReadWriteLock and ReadWriteLock let writers in alone, and readers among themselves', () => {
    const [our, their] = [all.ours(client => sides(client).writeLock), all.theirs('write')]
    const [ourReader, theirReader] = [all.ours(client => sides(client).readLock), all.theirs('read')]
    return all.expectNoTornRead([first(our), first(their)], [last(ourReader), last(theirReader)])
  })

  it('readers of both share, and a writer waits for all of them', async () => {
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

  it('a writer of ours that becomes a reader lets Curator’s readers in, and no writer', async () => {
    const write = await sides(all.client).writeLock.acquire()
    const read = await write.downgrade()
    expect(await all.peer.ask('acquire', 'read', all.path, '5000')).to.match(/__READ__\d{10}$/)
    await all.peer.ask('release', 'read', all.path)
    expect(await all.peer.ask('acquire', 'write', all.path, '100')).to.equal('taken')
    await read.release()
    expect(await all.peer.ask('acquire', 'write', all.path, '5000')).to.match(/__WRIT__\d{10}$/)
    await all.peer.ask('release', 'write', all.path)
  })

  // Where no writer waits: Curator 5.4 puts such a reader behind them, and lets the first in beside him (CURATOR-621).
  it('a writer of Curator’s that becomes a reader lets our readers in, and no writer', async () => {
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

  it('InterProcessSemaphoreMutex and Semaphore of one lease let one in at a time', () =>
    all.expectNoLostUpdate([
      ...all.ours(client => new Semaphore(client, all.path, 1)),
      ...all.theirs('semaphoreMutex'),
    ]))

  it('InterProcessSemaphoreV2 and Semaphore let in as many as there are leases', async () => {
    const contenders = [...all.ours(client => new Semaphore(client, all.path, 2)), ...all.theirs('semaphore:2')]
    let inside = 0
    let most = 0
    const each = async (contender: Contender) => {
      for (let round = 0; round < 30; round++) {
        await contender.acquire()
        most = Math.max(most, ++inside)
        // On a busy machine no two might ever meet, by chance.
        if (round === 0) await until(() => most === 2)
        await contender.read(all.counter)
        inside--
        await contender.release()
      }
    }
    await Promise.all(contenders.map(each))
    expect(most, 'inside at a time').to.equal(2)
    expect(await new Semaphore(all.client, all.path, 2).available()).to.equal(2)
  })

  it('LeaderLatch and LeaderElection have one leader at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new LeaderElection(client, all.path)), ...all.theirs('latch')]))

  it('LeaderLatch and LeaderElection name the same leader', async () => {
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

  it('a lock of another dialect lets a second one in, which is reported, and a count is lost', async () => {
    const reports: (readonly string[])[] = []
    const onForeignContenders = (names: readonly string[]) => void reports.push(names)
    const mutex = new Mutex(all.client, all.path, { dialect: 'kazoo', onForeignContenders })
    await all.expectLostUpdate(ours('ours', all.client, mutex), all.peer.contender('theirs', 'mutex', all.path))
    expect(reports).to.have.length(1)
    expect(reports[0]?.[0]).to.match(/^_c_.*-lock-\d{10}$/)
  })
})

describeInterop('with the recipes that come with ZooKeeper', curator, all => {
  it('WriteLock and Mutex let one in at a time', () =>
    all.expectNoLostUpdate([
      ...all.ours(client => new Mutex(client, all.path, { dialect: 'zookeeper' })),
      ...all.theirs('zookeeper'),
    ]))
})
