// The digest of the tree is the one of Apache's server, which records it at each 128th zxid.
import { expect } from 'chai'
import { writeFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Client } from '../../src/index.ts'
import { operations } from '../../src/protocol/index.ts'
import { Server } from '../../src/server/index.ts'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { WireSession } from '../support/wire-session.ts'

const INTERVAL = 128n

/** Makes nodes of several kinds, and then changes until the last zxid is a multiple of the interval. */
async function fill(zk: Client): Promise<bigint> {
  await zk.create('/a', 'größe')
  await zk.create('/a/s-', '', { mode: 'persistentSequential' })
  await zk.create('/c', null, { mode: 'container' })
  await zk.create('/t', 'x', { mode: 'persistentTTL', ttl: 1_000_000 })
  await zk.create('/a/gone')
  await zk.delete('/a/gone')
  await zk.setACL('/a', [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }])
  for (;;) {
    const { mzxid } = await zk.setData('/a', 'changed')
    if (mzxid % INTERVAL === 0n) return mzxid
  }
}

describe('the four-letter word hash', () => {
  it('prints the digest that Apache ZooKeeper prints for the same nodes', async () => {
    await using apache = await startApacheZooKeeper({ jvm: ['-Dzookeeper.extendedTypesEnabled=true'] })
    await using zk = await connect(apache.connectString)
    const zxid = await fill(zk)
    const session = await WireSession.open(apache)
    const stats = async (path: string) => (await session.request(operations.getData, { path, watch: false })).stat
    const hex = (value: bigint) => `0x${value.toString(16)}`
    const special: Record<string, object> = { '/c': { container: true }, '/t': { ttl: 1_000_000 } }
    const nodes = []
    for (const path of ['/', '/zookeeper', '/a', '/a/s-0000000000', '/c', '/t']) {
      const { data } = await zk.getData(path)
      const { czxid, mzxid, pzxid, ctime, mtime, version, aversion, cversion, numChildren } = await stats(path)
      nodes.push({
        ...{ path, data: data?.toString() ?? null, version, aversion, created: (cversion + numChildren) / 2 },
        ...{ czxid: hex(czxid), mzxid: hex(mzxid), pzxid: hex(pzxid), ctime, mtime, ...special[path] },
      })
    }
    session.drop()
    const dataFile = join(tmpdir(), `digest-${process.pid}.json`)
    await writeFile(dataFile, JSON.stringify({ format: 'zkwire-server-1', nodes }))
    const embedded = await Server.start({ dataFile })
    const answer = await fourLetterWord(embedded.host, embedded.port, 'hash')
    await embedded.close()
    await rm(dataFile)
    expect(answer).to.match(new RegExp(`^${zxid.toString(16)}: -?\\d+\n$`))
    expect(await apache.command('hash')).to.equal(answer)
  })
})
