// Checks docs/operate.md: its code, its figures, and the names of the servers' figures. test/client/supervise.test.ts has
// the wiped servers, test/docs/connect.test.ts the outages.
import { expect } from 'chai'
import { startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { connect, digest, perms, aclOf, type ZooKeeperError } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { failureOf } from '../support/settled.ts'
import { sharedServer } from '../support/shared-server.ts'

const page = readDocument('docs/operate.md')
const codeOfFailure = async (call: Promise<unknown>) => ((await failureOf(call)) as ZooKeeperError).code

describe('docs/operate.md', () => {
  testCodeBlocks('docs/operate.md', [/^\[ 'orders:\S+' \]\n$/, /superDigest=super:\S{28}\n$/])

  it('names figures that the servers print', async () => {
    const named = [...page.matchAll(/`(zk_\w+)`/g)].map(([, name = '']) => name)
    await using ensemble = await Server.start({ servers: 3 })
    const { host, port } = ensemble.leader as { host: string; port: number }
    const printed = `${await (await sharedServer()).command('mntr')}\n${await fourLetterWord(host, port, 'mntr')}`
    expect(named).to.have.length.above(6)
    for (const name of named) expect(printed).to.match(new RegExp(`^${name}\\b`, 'm'))
  })

  it('says how many names of Curator’s locks fit into a reply', async () => {
    await using server = await Server.start()
    await using zk = await connect(server.connectString)
    await using reader = await connect(server.connectString, { maxReplyBytes: 59 * 100 + 100 })
    await zk.create('/many')
    const name = (i: number) => `_c_704f1dc2-ee86-4d85-8f6f-b4ff70ea8d1f-lock-${String(i).padStart(10, '0')}`
    expect(name(0)).to.have.length(55)
    await zk.multi(Array.from({ length: 100 }, (_, i) => ({ create: `/many/${name(i)}` })))
    expect((await reader.getChildren('/many')).children).to.have.length(100)
    await zk.create(`/many/${name(100)}`)
    expect(await codeOfFailure(reader.getChildren('/many'))).to.equal('REPLYTOOLARGE')
    const fit = Math.floor((16 * 1024 * 1024 - 100) / 59 / 1000)
    expect(page).to.contain(`| ${fit},000 with names of 55 characters`)
  })

  it('is right about the limits of connections, requests and session timeouts, and about a superuser', async () => {
    const jvm = [`-Dzookeeper.DigestAuthenticationProvider.superDigest=${digest('super', 'secret')}`]
    const config = { maxClientCnxns: 2, tickTime: 2000, minSessionTimeout: 4000, maxSessionTimeout: 40_000 }
    const server = await startApacheZooKeeper({ jvm, config })
    try {
      await using zk = await connect(server.connectString, { sessionTimeout: 1_000, maxRequestBytes: 2_000_000 })
      expect(zk.sessionTimeout).to.equal(4_000)
      await zk.create('/node', '', { acl: [aclOf('world', 'anyone', perms.read)] })
      expect(await codeOfFailure(zk.setData('/node', ''))).to.equal('NOAUTH')
      const auth = [{ scheme: 'digest', auth: 'super:secret' }]
      await using admin = await connect(server.connectString, { auth, sessionTimeout: 100_000 })
      expect(admin.sessionTimeout).to.equal(40_000)
      await admin.setData('/node', 'changed')

      const refused = (await failureOf(connect(server.connectString, { connectTimeout: 1_000 }))) as ZooKeeperError
      expect(refused.code).to.equal('CONNECTTIMEOUT')
      expect(await codeOfFailure(zk.create('/large', Buffer.alloc(1_100_000)))).to.equal('CONNECTIONLOSS')
      expect(await codeOfFailure(admin.create('/large', Buffer.alloc(1_048_575)))).to.equal('REQUESTTOOLARGE')
    } finally {
      await server.close()
    }
  })
})
