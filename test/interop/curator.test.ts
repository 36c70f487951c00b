// Our locks and those of Apache Curator, on one path, contending at once.
import { expect } from 'chai'
import { Mutex, revoke } from '../../src/recipes/index.ts'
import { until } from '../support/until.ts'
import { ours } from './contender.ts'
import { inCompany } from './company.ts'
import { Peer, provideCurator } from './peers.ts'

describe('with Curator', () => {
  const all = inCompany(provideCurator, connectString => Peer.curator(connectString))

  it('InterProcessMutex and Mutex let one in at a time', () =>
    all.expectNothingLost([...all.ours(client => new Mutex(client, all.path)), ...all.theirs('mutex')]))

  it('a holder of Curator’s is seen among the contenders, and makes way for ours when it is killed', async () => {
    const doomed = await Peer.curator(all.server.connectString)
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

  it('a lock of another dialect lets a second one in, which is reported, and a count is lost', async () => {
    const reports: (readonly string[])[] = []
    const onStrangers = (names: readonly string[]) => void reports.push(names)
    const mutex = new Mutex(all.client, all.path, { dialect: 'kazoo', onStrangers })
    await all.expectCountLost(ours('ours', all.client, mutex), all.peer.contender('theirs', 'mutex', all.path))
    expect(reports).to.have.length(1)
    expect(reports[0]?.[0]).to.match(/^_c_.*-lock-\d{10}$/)
  })
})

describe('with the recipes that come with ZooKeeper', () => {
  const all = inCompany(provideCurator, connectString => Peer.curator(connectString))

  it('WriteLock and Mutex let one in at a time', () =>
    all.expectNothingLost([
      ...all.ours(client => new Mutex(client, all.path, { dialect: 'zookeeper' })),
      ...all.theirs('zookeeper'),
    ]))
})
