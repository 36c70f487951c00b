// GSSAPI with the KDC of MIT, the npm package kerberos, and Apache's server with a keytab.
import { expect } from 'chai'
import { writeFile } from 'node:fs/promises'
import { aclOf, connect, ZooKeeperError, type Client, type ConnectOptions } from '../../src/index.ts'
import { gssapi, SaslError, type KerberosModule, type Mechanism } from '../../src/sasl/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { until } from '../../environment/until.ts'
import { installKerberos, KerberosRealm, REALM } from './kerberos-realm.ts'

describe('Kerberos, with a real KDC and server,', function () {
  this.timeout(60_000)
  let kerberos: KerberosModule
  let realm: KerberosRealm
  let server: ApacheZooKeeper
  let keytab: string
  let servers: string

  before(async function () {
    this.timeout(600_000)
    kerberos = await installKerberos()
    realm = await KerberosRealm.start()
    keytab = await realm.keytabOf('ann')
    const principal = `zookeeper/localhost@${REALM}`
    const jaas = realm.file('jaas.conf')
    const login = [
      'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true useTicketCache=false',
      `keyTab="${await realm.keytabOf('zookeeper/localhost')}" principal="${principal}"`,
    ]
    await writeFile(jaas, `Server { ${login.join(' ')}; };`)
    server = await startApacheZooKeeper({
      config: { 'authProvider.1': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider' },
      jvm: [`-Djava.security.auth.login.config=${jaas}`, `-Djava.security.krb5.conf=${realm.file('krb5.conf')}`],
    })
    servers = `localhost:${server.port}`
  })
  after(async () => {
    await server.close()
    await realm.close()
  })
  beforeEach(() => realm.kinit('ann', keytab))

  const open = (sasl: Mechanism, options: ConnectOptions = {}): Promise<Client> =>
    connect(servers, { sessionTimeout: 10_000, ...options, sasl })
  const failureOf = async (sasl: Mechanism): Promise<ZooKeeperError> => {
    const error: unknown = await open(sasl).then(
      zk => zk.close().then(() => 'it connected'),
      (e: unknown) => e,
    )
    if (!(error instanceof ZooKeeperError)) expect.fail(String(error))
    expect(error.code, error.message).to.equal('AUTHFAILED')
    return error
  }
  /** The error of the mechanism in the chain of causes. */
  const saslErrorIn = (error: unknown): SaslError => {
    for (let each = error; each instanceof Error; each = each.cause) if (each instanceof SaslError) return each
    return expect.fail('there is no SaslError in the chain of causes')
  }

  it('authenticates the principal of the ticket, which ACLs then know', async () => {
    const zk = await open(gssapi({ kerberos }))
    const identities = await zk.whoAmI()
    expect(identities).to.deep.include({ authScheme: 'sasl', user: `ann@${REALM}` })
    await zk.create('/anns', 'mine', { acl: [aclOf('sasl', `ann@${REALM}`)] })
    const stranger = await connect(servers)
    expect(await stranger.getData('/anns').catch((error: unknown) => error)).to.include({ code: 'NOAUTH' })
    await stranger.close()
    await zk.delete('/anns')
    await zk.close()
  })

  it('believes no server that does not prove that it has the key', async () => {
    const mechanism = gssapi({ kerberos })
    for (const forge of [
      () => Buffer.alloc(0),
      (token: Buffer) => Buffer.from(token.map((byte, i) => byte ^ +(i > 40))),
    ]) {
      let challenges = 0
      const forged: Mechanism = {
        name: 'GSSAPI',
        start(context) {
          const exchange = mechanism.start(context)
          return {
            step(challenge) {
              if (challenge !== null) challenges++
              return exchange.step(challenge === null ? null : forge(challenge))
            },
          }
        },
      }
      expect(saslErrorIn(await failureOf(forged))).to.be.an.instanceOf(SaslError)
      expect(challenges).to.equal(1)
    }
  })

  it('keeps a session whose ticket has expired, rejects a new one, and accepts it with a new ticket', async () => {
    await realm.kinit('ann', keytab, '-l', '3s')
    const zk = await open(gssapi({ kerberos }))
    await until(async () => !(await realm.hasTicket()))
    expect(await zk.exists('/')).not.to.equal(null)
    expect(saslErrorIn(await failureOf(gssapi({ kerberos }))).message).to.match(
      /expired.*; get a new ticket with kinit$/i,
    )
    await realm.kinit('ann', keytab)
    const next = await open(gssapi({ kerberos }))
    await next.close()
    await zk.close()
  })

  it('says that there is no ticket', async () => {
    await realm.destroyTicket()
    expect(saslErrorIn(await failureOf(gssapi({ kerberos }))).message).to.contain('get a ticket with kinit')
  })

  it("says that the realm does not know the server's principal", async () => {
    for (const [options, target] of [
      [{ service: 'hbase' }, 'hbase@localhost'],
      [{ host: 'elsewhere' }, 'zookeeper@elsewhere'],
    ] as const)
      expect(saslErrorIn(await failureOf(gssapi({ kerberos, ...options }))).message).to.contain(
        `no principal fits ${target}; check the options service and host`,
      )
  })

  it('says that the cache has no ticket of the principal', async () => {
    expect(saslErrorIn(await failureOf(gssapi({ kerberos, principal: `bob@${REALM}` }))).message).to.match(/kinit/)
  })

  it('says that the clocks differ', async () => {
    // The ticket for the server is not in the cache yet, so the KDC sees the time of this machine.
    await realm.startKdc(1200)
    const { message } = saslErrorIn(await failureOf(gssapi({ kerberos })))
    await realm.startKdc()
    expect(message).to.match(/skew.*; set the clocks of this machine, of the server and of the KDC$/i)
  })

  it('says that the server refused the ticket, if its keytab lacks the current key', async () => {
    await realm.administer('cpw -randkey zookeeper/localhost')
    const { message } = await failureOf(gssapi({ kerberos }))
    expect(message).to.contain('GSSAPI: the server refused it; check that its keytab has the current key')
  })
})
