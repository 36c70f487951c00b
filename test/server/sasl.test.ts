// SASL on the embedded server, compared with Apache's.
import { expect } from 'chai'
import { aclOf, connect, creatorAllACL } from '../../src/index.ts'
import { errnos, operations } from '../../src/protocol/index.ts'
import { digestMd5 } from '../../src/sasl/index.ts'
import { Server } from '../../src/server/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { startSaslZooKeeper } from '../support/sasl-zookeeper.ts'
import { failureOf } from '../support/settled.ts'
import { WireSession } from '../support/wire-session.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const saslUsers = { super: 'mighty', bob: 'secret', ann: 'other', zoë: 'grüße "\\', 日本: '秘密' }

const kinds: Record<string, (requireSasl: boolean) => Promise<Server | ApacheZooKeeper>> = {
  'the embedded server': requireSasl => Server.start({ tickTime: 500, saslUsers, requireSasl }),
  'Apache ZooKeeper': requireSasl =>
    startSaslZooKeeper(saslUsers, requireSasl ? ['-Dzookeeper.sessionRequireClientSASLAuth=true'] : []),
}

for (const [name, start] of Object.entries(kinds))
  describe(`SASL with ${name}`, function () {
    this.timeout(60_000)
    let server: Server | ApacheZooKeeper
    let demanding: Server | ApacheZooKeeper

    before(async () => {
      ;[server, demanding] = await Promise.all([start(false), start(true)])
    })
    after(() => Promise.all([server.close(), demanding.close()]))

    const as = (username: string, password: string, { connectString } = server) =>
      connect(connectString, { sasl: digestMd5({ username, password }) })

    for (const [username, password] of Object.entries(saslUsers))
      it(`accepts ${username}, who proves its password and receives the server's proof`, async () => {
        const zk = await as(username, password)
        expect(await zk.whoAmI()).to.have.deep.members([
          { authScheme: 'ip', user: '127.0.0.1' },
          { authScheme: 'sasl', user: username },
        ])
        await zk.close()
      })

    it('rejects a wrong password and an unknown user, and closes their connections', async () => {
      for (const [username, password] of [
        ['bob', 'other'],
        // Not the password of another user: 3.8.0 accepts an unknown name with that of the user before.
        ['nobody', 'unknown'],
        ['constructor', 'unknown'],
      ] as const)
        expect(await failureOf(as(username, password)), username).to.have.property('code', 'AUTHFAILED')
      const session = await WireSession.open(server)
      await session.request(operations.sasl, { token: '' })
      const { err } = await session.requestReply(operations.sasl, { token: 'nonsense' })
      expect(err).to.equal(errnos.AUTHFAILED)
      await session.whenClosed()
    })

    it('knows the scheme sasl in an ACL, and lets only its users in', async () => {
      const bob = await as('bob', 'secret')
      const ann = await as('ann', 'other')
      await bob.create('/bobs', 'mine', { acl: [aclOf('sasl', 'bob')] })
      expect(await failureOf(ann.getData('/bobs'))).to.have.property('code', 'NOAUTH')
      await bob.create('/auth', '', { acl: creatorAllACL })
      expect((await bob.getACL('/auth')).acl).to.deep.equal([aclOf('sasl', 'bob')])
      const ids = ['host/x', 'bob@REALM', 'host/x@REALM', 'a/b/c', 'a@b@c', 'a/b/c@d', '@', '']
      const outcomes = []
      for (const id of ids) {
        const error: unknown = await bob.create('/ids', '', { acl: [aclOf('sasl', id)] }).catch((e: unknown) => e)
        outcomes.push(`${id} ${error instanceof Error ? 'is refused' : 'is stored'}`)
        if (!(error instanceof Error)) await bob.delete('/ids')
      }
      expect(outcomes).to.deep.equal([
        ...['host/x is stored', 'bob@REALM is stored', 'host/x@REALM is stored', 'a/b/c is stored'],
        ...['a@b@c is refused', 'a/b/c@d is refused', '@ is stored', ' is stored'],
      ])
      const superuser = await as('super', 'mighty')
      expect(String((await superuser.getData('/bobs')).data), 'of the user super').to.equal('mine')
      await superuser.close()
      await bob.delete('/bobs')
      await bob.delete('/auth')
      await Promise.all([bob.close(), ann.close()])
    })

    it('serves a client without SASL, unless SASL is required', async () => {
      const zk = await connect(server.connectString)
      expect(await zk.exists('/zookeeper')).not.to.equal(null)
      await zk.close()
      const allowed = await as('bob', 'secret', demanding)
      expect(await allowed.exists('/zookeeper')).not.to.equal(null)
      await allowed.close()
      const session = await WireSession.open(demanding)
      // Credentials of another scheme do not count.
      await session.request(operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' })
      const { err } = await session.requestReply(operations.exists, { path: '/', watch: false })
      expect(err).to.equal(errnos.SESSIONCLOSEDREQUIRESASLAUTH)
      await session.whenClosed()
      const other = await WireSession.open(demanding)
      await other.request(operations.sasl, { token: '' })
      const failed = await other.requestReply(operations.sasl, { token: 'nonsense' })
      expect(failed.err).to.equal(errnos.SESSIONCLOSEDREQUIRESASLAUTH)
      await other.whenClosed()
    })
  })

describe('SASL with the embedded server', () => {
  it('rejects an unknown user with the password of another one', async () => {
    await using server = await Server.start({ saslUsers })
    for (const username of ['bob', 'nobody']) {
      const connecting = connect(server.connectString, { sasl: digestMd5({ username, password: 'secret' }) })
      if (username === 'bob') await (await connecting).close()
      else expect(await failureOf(connecting)).to.have.property('code', 'AUTHFAILED')
    }
  })

  it('works in virtual time, with a nonce of the option random', async () => {
    await using virtual = await VirtualServer.start({ saslUsers, random: () => 0.5 })
    const zk = await virtual.connect({ sasl: digestMd5({ username: 'bob', password: 'secret' }) })
    expect(await zk.whoAmI()).to.deep.include({ authScheme: 'sasl', user: 'bob' })
  })
})
