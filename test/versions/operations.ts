// Reads and writes, and calls that a version lacks beside calls that it has.
import { expect } from 'chai'
import { ZooKeeperError } from '../../src/index.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import type { Subject } from './subject.ts'

const PERSISTENT_WATCHES = 'persistent watches, multiRead, getEphemerals, getAllChildrenNumber'
const STAT = 'creates with a Stat, containers, removal of watches, TLS'

export function operationsSuite(subject: Subject): void {
  it('creates, reads, changes and deletes nodes', async () => {
    const { client, path } = subject
    const { path: created, stat } = await client.create(`${path}/a`, 'one')
    expect([created, stat.version, stat.dataLength]).to.deep.equal([`${path}/a`, 0, 3])
    expect(String((await client.getData(created)).data)).to.equal('one')
    expect((await client.setData(created, 'two', { version: 0 })).version).to.equal(1)
    expect(await failureOf(client.setData(created, 'three', { version: 0 }))).to.have.property('code', 'BADVERSION')
    expect((await client.getChildren(path)).children).to.deep.equal(['a'])
    expect((await client.getACL(created)).acl).to.have.length(1)
    const sequential = await client.create(`${path}/s-`, '', { mode: 'ephemeralSequential' })
    expect(sequential.path).to.match(/s-\d{10}$/)
    expect(sequential.stat.ephemeralOwner).to.equal(client.sessionId)
    await client.sync(path)
    await client.delete(created, { version: 1 })
    expect(await client.exists(created)).to.equal(null)
  })

  it('executes multis, and none of their operations if one fails', async () => {
    const { client, path } = subject
    const [created, set] = await client.multi([{ create: `${path}/a` }, { setData: path, data: 'x' }])
    expect(created.path).to.equal(`${path}/a`)
    expect(created.stat !== null).to.equal(subject.has('ZOOKEEPER-4026'))
    expect(set.version).to.equal(1)
    const failed = client.multi([{ delete: `${path}/a` }, { check: path, version: 9 }])
    expect(await failureOf(failed)).to.include({ code: 'BADVERSION', op: 'check' })
    expect(await client.exists(`${path}/a`)).to.not.equal(null)
  })

  it('creates a container, for which 3.4 gets a persistent node', async () => {
    const { client, path } = subject
    const { stat } = await client.create(`${path}/c`, 'x', { mode: 'container' })
    expect(await client.exists(`${path}/c`)).to.deep.equal(stat)
  })

  it('has the calls of its version, and rejects the others with UNIMPLEMENTED', async () => {
    const { client, path } = subject
    await subject.expectIf(PERSISTENT_WATCHES, () => client.getEphemerals())
    await subject.expectIf(PERSISTENT_WATCHES, () => client.getAllChildrenNumber(path))
    await subject.expectIf(PERSISTENT_WATCHES, () => client.multiRead([{ getData: path }, { getChildren: path }]))
    await subject.expectIf('whoAmI', () => client.whoAmI())
    const config = await outcomeOf(client.getConfig())
    expect(config instanceof ZooKeeperError && config.code).to.equal(subject.has(STAT) ? false : 'NONODE')
    // A node with a TTL needs a configuration that this server does not have.
    const ttl = client.create(`${path}/t`, '', { mode: 'persistentTTL', ttl: 1000 })
    expect(await failureOf(ttl)).to.have.property('code', 'UNIMPLEMENTED')
  })

  it('loses no call beside one that it lacks, and no connection after that', async () => {
    const { path } = subject
    for (let session = 0; session < 5; session++) {
      const client = await subject.sessions.open(subject.server.connectString)
      const calls: Promise<unknown>[] = [failureOf(client.create(path)), outcomeOf(client.whoAmI())]
      for (let i = 0; i < 20; i++) {
        const node = `${path}/${session}-${i}`
        calls.push(client.create(node), client.exists(node), client.setData(node, 'x'), client.getChildren(path))
      }
      calls.push(outcomeOf(client.getEphemerals()), client.setData(path, 'x'))
      await Promise.all(calls)
      expect((await client.getChildren(path)).children).to.have.length(20 * (session + 1))
      const { connects } = client.stats
      expect(connects).to.be.at.most(3)
      await Promise.all([client.create(`${path}/last-${session}`), outcomeOf(client.whoAmI())])
      await client.delete(`${path}/last-${session}`)
      expect(client.stats.connects).to.equal(connects)
    }
  })
}
