// Our locks and those of kazoo, on one path, contending at once.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Mutex, ReadWriteLock, type MutexOptions } from '../../src/recipes/index.ts'
import { until } from '../support/until.ts'
import { describeInterop } from './fixture.ts'
import { ours } from './contender.ts'
import { kazoo, Peer } from './peers.ts'

const options: MutexOptions = { dialect: 'kazoo', data: 'ours' }

describeInterop('with kazoo', kazoo, all => {
  const sides = (client: Client) => new ReadWriteLock(client, all.path, { dialect: 'kazoo' })

  it('Lock and Mutex let one in at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path, options)), ...all.theirs('lock')]))

  it('a holder of kazoo’s is seen among the contenders, and makes way for ours when it is killed', async () => {
    const doomed = Peer.kazoo(all.connectString)
    const node = await doomed.ask('acquire', 'lock', all.path)
    const session = BigInt(await doomed.ask('session'))
    const mutex = new Mutex(all.client, all.path, options)
    const [holder] = await mutex.contenders()
    expect(holder).to.include({ path: node, session })
    expect(holder?.data?.toString()).to.equal('kazoo')
    expect(await mutex.tryAcquire()).to.equal(null)
    const acquiring = mutex.acquire()
    await doomed.kill()
    await (await acquiring).release()
  })

  it('kazoo sees ours among the contenders, does not wait where it was told not to, and leaves nothing in our way', async () => {
    const mutex = new Mutex(all.client, all.path, options)
    const held = await mutex.acquire()
    expect(await all.peer.ask('contenders', 'lock', all.path)).to.equal('ours')
    expect(await all.peer.ask('acquire', 'lock', all.path, 'at once')).to.equal('taken')
    expect(await mutex.contenders()).to.have.length(1)
    await held.release()
  })

  it('WriteLock and ReadWriteLock let writers in alone, and our readers among themselves', () =>
    all.expectNoTornRead(
      [...all.ours(client => sides(client).writeLock), ...all.theirs('write')],
      all.ours(client => sides(client).readLock),
    ))

  // Step by step, and no writer behind a reader of kazoo's who waits: kazoo 2.8 has such a reader wait for the writer, who waits for him
  // (issue 649 of kazoo, mended in 2.9).
  it('ReadLock and ReadWriteLock keep readers from a writer and a writer from readers, who share', async () => {
    const { readLock, writeLock } = sides(all.client)
    const write = await writeLock.acquire()
    const theirs = all.peer.ask('acquire', 'read', all.path)
    const ours = readLock.acquire()
    await until(async () => (await readLock.contenders()).length === 3)
    expect((await readLock.contenders()).map(({ path }) => /__r?lock__/.exec(path)?.[0]).sort()).to.deep.equal([
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

  it('a lock of another dialect lets a second one in, which is reported, and a count is lost', async () => {
    const reports: (readonly string[])[] = []
    const onForeignContenders = (names: readonly string[]) => void reports.push(names)
    const mutex = new Mutex(all.client, all.path, { onForeignContenders })
    await all.expectLostUpdate(ours('ours', all.client, mutex), all.peer.contender('theirs', 'lock', all.path))
    expect(reports).to.have.length(1)
    expect(reports[0]?.[0]).to.match(/^[0-9a-f]{32}__lock__\d{10}$/)
  })
})
