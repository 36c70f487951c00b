// zkwire's locks and kazoo's contend on the same path.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Mutex, ReadWriteLock, type MutexOptions } from '../../src/recipes/index.ts'
import { until } from '../../environment/until.ts'
import { expectSharedBarrier, expectSharedDoubleBarrier } from './barriers.ts'
import { describeInterop, SHORT } from './fixture.ts'
import { ours } from './contender.ts'
import { kazoos } from './peers.ts'

const options: MutexOptions = { dialect: 'kazoo', id: 'ours' }

describeInterop('locks with', kazoos, all => {
  const sides = (client: Client) => new ReadWriteLock(client, all.path, { dialect: 'kazoo' })

  it('Lock and Mutex have one holder at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path, options)), ...all.theirs('lock')]))

  it('contenders() lists kazoo’s holder, and our waiter gets the lock when that holder is killed', async () => {
    const victim = await all.start(all.connectString, SHORT)
    const node = await victim.ask('acquire', 'lock', all.path)
    const session = BigInt(await victim.ask('session'))
    const mutex = new Mutex(all.client, all.path, options)
    const [holder] = await mutex.contenders()
    expect(holder).to.include({ path: node, session, id: 'kazoo' })
    expect(await mutex.tryAcquire()).to.equal(null)
    const acquiring = mutex.acquire()
    await victim.kill()
    await (await acquiring).release()
  })

  it('kazoo lists our holder, and its non-blocking acquire fails and leaves no node in the queue', async () => {
    const mutex = new Mutex(all.client, all.path, options)
    const held = await mutex.acquire()
    expect(await all.peer.ask('contenders', 'lock', all.path)).to.equal('ours')
    expect(await all.peer.ask('acquire', 'lock', all.path, 'at once')).to.equal('taken')
    expect(await mutex.contenders()).to.have.length(1)
    await held.release()
  })

  it('WriteLock and ReadWriteLock exclude writers from our readers and from each other', () =>
    all.expectNoTornRead(
      [...all.ours(client => sides(client).writeLock), ...all.theirs('write')],
      all.ours(client => sides(client).readLock),
    ))

  // The test proceeds step by step, so that no writer queues after a waiting reader of kazoo's. In kazoo 2.8 the two
  // would wait for each other (kazoo issue 649, fixed in 2.9).
  it('ReadLock and ReadWriteLock exclude readers from a writer and a writer from readers, and readers share', async () => {
    const { readLock, writeLock } = sides(all.client)
    const write = await writeLock.acquire()
    const theirs = all.peer.ask('acquire', 'read', all.path)
    const ours = readLock.acquire()
    await until(async () => (await readLock.contenders()).length === 3)
    expect((await readLock.contenders()).map(({ path }) => /__r?lock__/.exec(path)?.[0])).to.have.members([
      '__lock__',
      '__rlock__',
      '__rlock__',
    ])
    await write.release()
    const [, read] = await Promise.all([theirs, ours])
    const next = writeLock.acquire()
    await until(async () => (await writeLock.contenders()).length === 3)
    await read.release()
    expect(await writeLock.tryAcquire()).to.equal(null)
    await all.peer.ask('release', 'read', all.path)
    await (await next).release()
  })

  it('Election and a Mutex have one holder at a time, because Election uses Lock', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path, options)), ...all.theirs('election')]))

  it('waiters of Barrier wait for either library', () => expectSharedBarrier(all))

  it('members of DoubleBarrier of both libraries enter and leave together', () => expectSharedDoubleBarrier(all))

  it('a lock with another dialect reports foreign contenders but does not exclude them, so an increment is lost', async () => {
    const reports: (readonly string[])[] = []
    const onForeignContenders = (names: readonly string[]) => void reports.push(names)
    const mutex = new Mutex(all.client, all.path, { onForeignContenders })
    await all.expectLostUpdate(ours('ours', all.client, mutex), all.peer.contender('theirs', 'lock', all.path))
    expect(reports).to.have.length(1)
    expect(reports[0]?.[0]).to.match(/^[0-9a-f]{32}__lock__\d{10}$/)
  })
})
