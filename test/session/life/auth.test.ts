// Credentials on a real server: access by ACLs, and the end of the session if the server rejects the credentials.
import { expect } from 'chai'
import {
  aclOf,
  connect,
  creatorAllACL,
  digest,
  openACL,
  perms,
  readOnlyACL,
  type Client,
  type ConnectOptions,
} from '../../../src/index.ts'
import { opcodes } from '../../../src/protocol/index.ts'
import { type ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { FaultProxy } from '../../../environment/fault-proxy.ts'
import { sharedServer } from '../../support/shared-server.ts'
import { until } from '../../../environment/until.ts'

const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error)

describe('credentials', () => {
  let server: ApacheZooKeeper
  let root: Client
  before(async () => {
    server = await sharedServer()
    root = await open()
    await root.create('/auth')
  })
  after(async () => {
    await root.addAuth('digest', 'ann:secret')
    await root.deleteRecursive('/auth')
    await root.close()
  })

  const open = (options: ConnectOptions = {}, at = server.connectString) =>
    connect(at, { sessionTimeout: 10_000, ...options })

  it('give access to a node with a digest ACL, which is denied without them', async () => {
    const zk = await open()
    const path = '/auth/digest'
    await zk.create(path, 'x', { acl: [aclOf('digest', digest('ann', 'secret'))] })
    expect(await caught(zk.getData(path))).to.include({ code: 'NOAUTH', fate: 'refused', path })
    await zk.addAuth('digest', 'ann:wrong')
    expect(await caught(zk.getData(path))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', Buffer.from('ann:secret'))
    expect(String((await zk.getData(path)).data)).to.equal('x')
    expect((await zk.whoAmI()).filter(({ authScheme }) => authScheme === 'digest')).to.deep.equal([
      { authScheme: 'digest', user: 'ann' },
      { authScheme: 'digest', user: 'ann' },
    ])
    await zk.close()
  })

  it('are sent first when they are given to connect()', async () => {
    const zk = await open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    await zk.create('/auth/mine', '', { acl: creatorAllACL })
    expect((await zk.getACL('/auth/mine')).acl).to.deep.equal([aclOf('digest', digest('ann', 'secret'))])
    expect(await caught(root.getData('/auth/mine'))).to.include({ code: 'NOAUTH' })
    await zk.close()
  })

  it('are required by creatorAllACL', async () =>
    expect(await caught(root.create('/auth/nobodys', '', { acl: creatorAllACL }))).to.include({ code: 'INVALIDACL' }))

  it('are not required if the world may read', async () => {
    await root.create('/auth/read', 'x', { acl: readOnlyACL })
    expect(String((await root.getData('/auth/read')).data)).to.equal('x')
    expect(await caught(root.setData('/auth/read', 'y'))).to.include({ code: 'NOAUTH' })
    expect(openACL).to.deep.equal([{ perms: 31, id: { scheme: 'world', id: 'anyone' } }])
  })

  it('of several users combine their permissions', async () => {
    await root.create('/auth/two', 'x', {
      acl: [
        aclOf('digest', digest('reader', 'r'), perms.read),
        aclOf('digest', digest('writer', 'w'), perms.write),
        aclOf('digest', digest('ann', 'secret')),
      ],
    })
    const zk = await open({ auth: [{ scheme: 'digest', auth: 'reader:r' }] })
    expect(await caught(zk.setData('/auth/two', 'y'))).to.include({ code: 'NOAUTH' })
    await zk.addAuth('digest', 'writer:w')
    await zk.setData('/auth/two', 'y')
    expect(String((await zk.getData('/auth/two')).data)).to.equal('y')
    await zk.close()
  })

  it('are sent first and in order on each later connection, including those added meanwhile', async () => {
    const proxy = await FaultProxy.start(server)
    const zk = await open({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] }, proxy.connectString)
    await zk.addAuth('ip', '')
    await zk.getData('/auth/digest', { watch: () => undefined })
    const later: Promise<unknown>[] = []
    zk.on('state', state => {
      if (state === 'suspended') later.push(zk.getData('/auth/digest'), zk.addAuth('digest', 'late:x'))
    })
    proxy.resetAll()
    await until(() => later.length > 0)
    await Promise.all(later)
    const second = proxy.frames.filter(({ from, connection }) => from === 'client' && connection === 1)
    const { auth, setWatches, getData } = opcodes
    expect(second.map(({ opcode }) => opcode)).to.deep.equal([undefined, auth, auth, auth, setWatches, getData])
    expect(second.slice(1, 4).map(({ bytes }) => /digest|ip/.exec(bytes.toString('latin1'))?.[0])).to.deep.equal([
      'digest',
      'ip',
      'digest',
    ])
    await zk.close()
    await proxy.close()
  })

  it('with a scheme unknown to the server end the session and settle all pending calls', async () => {
    const zk = await open()
    const states: string[] = []
    zk.on('state', state => states.push(state))
    const adding = caught(zk.addAuth('nonsense', 'x'))
    const reading = caught(zk.getData('/'))
    expect(await adding).to.include({ code: 'AUTHFAILED', op: 'auth' })
    expect(await reading).to.satisfy((error: { code?: string }) => error.code === 'AUTHFAILED' || !error.code)
    expect(states).to.deep.equal(['authFailed'])
    expect(await caught(zk.getData('/'))).to.include({ code: 'AUTHFAILED', fate: 'notSent' })
    expect(await caught(zk.addAuth('digest', 'a:b'))).to.include({ code: 'AUTHFAILED', fate: 'notSent' })
    await zk.close()
  })

  it('that cannot be sent are rejected, and the error does not show them', async () => {
    for (const auth of [12345, null, undefined, 'canary\ud800'] as unknown as string[]) {
      const error = await caught(root.addAuth('digest', auth))
      expect(error).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
      expect(String(error)).not.to.match(/12345|canary/)
    }
    await root.exists('/')
  })

  it('get the same id from digest() as from the server', () => {
    // DigestAuthenticationProvider.generateDigest('super:test'), from ZooKeeper's documentation.
    expect(digest('super', 'test')).to.equal('super:D/InIHSb7yEEbrWz8b9l71RjZJU=')
    expect(digest('zoë', 'a:b')).to.match(/^zoë:[\w+/]{27}=$/)
    expect(() => digest('a:b', 'x')).to.throw('BADARGUMENTS')
    expect(() => digest('a', '\ud800')).to.throw('BADARGUMENTS')
  })
})
