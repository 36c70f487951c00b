// The less common operations, on a real server.
import { expect } from 'chai'
import { connect, ZooKeeperError, type ACL, type Client } from '../../src/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { sharedServer } from '../support/shared-server.ts'
import { failureOf } from '../support/settled.ts'

describe('on a real server', () => {
  let server: ApacheZooKeeper
  let zk: Client

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    zk = await connect(server.connectString)
    await zk.create('/operations')
  })
  afterEach(async () => {
    await zk.deleteRecursive('/operations')
    await zk.close()
  })

  it('getACL and setACL use the version of the ACL', async () => {
    expect(await zk.getACL('/operations')).to.deep.include({
      acl: [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }],
    })
    const acl: ACL[] = [{ perms: 31, id: { scheme: 'ip', id: '127.0.0.1' } }]
    const stat = await zk.setACL('/operations', acl, { version: 0 })
    expect(stat.aversion).to.equal(1)
    expect((await zk.getACL('/operations')).acl).to.deep.equal(acl)
    expect(await failureOf(zk.setACL('/operations', acl, { version: 0 }))).to.have.property('code', 'BADVERSION')
  })

  it('getEphemerals returns the nodes of this session below a prefix, relative to the chroot', async () => {
    await zk.create('/operationsX', '', { mode: 'ephemeral' })
    await zk.create('/operations/a', '', { mode: 'ephemeral' })
    await zk.create('/operations/b')
    expect(await zk.getEphemerals()).to.have.members(['/operations/a', '/operationsX'])
    expect(await zk.getEphemerals('/operations/a')).to.deep.equal(['/operations/a'])
    expect(await zk.chroot('/operations').getEphemerals()).to.deep.equal(['/a'])
    expect(await zk.chroot('/operations').getEphemerals('/b')).to.deep.equal([])
  })

  it('getAllChildrenNumber counts nodes at every depth', async () => {
    await zk.ensurePath('/operations/a/b/c')
    expect(await zk.getAllChildrenNumber('/operations')).to.equal(3)
    expect(await failureOf(zk.getAllChildrenNumber('/nothing'))).to.have.property('code', 'NONODE')
  })

  it('whoAmI returns the address and each added identity', async () => {
    expect(await zk.whoAmI()).to.deep.equal([{ authScheme: 'ip', user: '127.0.0.1' }])
    await zk.addAuth('digest', 'ann:secret')
    expect(await zk.whoAmI()).to.deep.include({ authScheme: 'digest', user: 'ann' })
  })

  it('multiRead reads a consistent state and returns one result or error for each operation', async () => {
    await zk.create('/operations/a', 'x')
    const [data, none, children] = await zk.multiRead([
      { getData: '/operations/a' },
      { getData: '/nothing' },
      { getChildren: '/operations' },
    ])
    expect(data).to.have.property('data').that.deep.equals(Buffer.from('x'))
    expect(none).to.be.instanceOf(ZooKeeperError).and.include({ code: 'NONODE', path: '/nothing', op: 'getData' })
    expect(children).to.deep.equal({ children: ['a'] })
    expect(await zk.multiRead([])).to.deep.equal([])
  })

  it('checkWatches resolves if the server has the watch, and rejects with NOWATCHER otherwise', async () => {
    expect(await failureOf(zk.checkWatches('/operations'))).to.have.property('code', 'NOWATCHER')
    await zk.getChildren('/operations', { watch: () => undefined })
    await zk.checkWatches('/operations', 'children')
    expect(await failureOf(zk.checkWatches('/operations', 'data'))).to.have.property('code', 'NOWATCHER')
    await zk.removeWatches('/operations')
  })

  it('getConfig reads the configuration, with any chroot', async () => {
    const { data, servers, stat } = await zk.chroot('/operations').getConfig()
    expect(data).to.be.instanceOf(Buffer)
    expect(servers).to.deep.equal([])
    expect(stat.version).to.be.a('number')
  })

  it('reconfig is rejected if it is not enabled', async () => {
    const error = await failureOf(zk.reconfig({ joining: ['server.2=127.0.0.1:2888:3888;2181'] }))
    expect(error).to.deep.include({ code: 'RECONFIGDISABLED', op: 'reconfig', fate: 'refused' })
  })
})
