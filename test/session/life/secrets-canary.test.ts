// Canary secrets must not appear in any text that a program could log, on every error path.
import { expect } from 'chai'
import { inspect } from 'node:util'
import { connect, explain, type Client, type ConnectOptions, type ObservedFrame } from '../../../src/index.ts'
import { digestMd5, type Mechanism } from '../../../src/sasl/index.ts'
import { CertificateAuthority } from '../../support/certificates.ts'
import type { ApacheZooKeeper } from '../../../environment/apache-zookeeper.ts'
import { startSaslZooKeeper } from '../../support/sasl-zookeeper.ts'
import { startSecureZooKeeper, type SecureZooKeeper } from '../../support/secure-zookeeper.ts'
import { sharedServer } from '../../support/shared-server.ts'

const CANARY = 'canary-7f3a'
const forms = (secret: Uint8Array | string) => {
  const bytes = Buffer.from(secret as string)
  return [bytes.toString('latin1'), bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')].concat(
    bytes.toString('hex').replace(/(..)(?=.)/g, '$1 '),
  )
}

/** Returns all text that printing or serializing a value can produce. */
function textOf(value: unknown): string {
  const json = (each: unknown) => {
    try {
      return JSON.stringify(each, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v))
    } catch {
      return ''
    }
  }
  const own: string[] = []
  for (let each = value; each instanceof Error; each = each.cause)
    own.push(each.message, String(each.stack), json(Object.entries(each)))
  return [inspect(value, { depth: 9, showHidden: true, getters: false }), json(value), String(value), ...own].join('\n')
}

function expectNoSecrets(value: unknown, ...secrets: (Uint8Array | string)[]): void {
  const text = textOf(value)
  for (const secret of [CANARY, ...secrets])
    for (const form of forms(secret)) expect(text.includes(form), `${form} is in ${text}`).to.equal(false)
}

describe('secrets are not shown', function () {
  this.timeout(60_000)
  let plain: ApacheZooKeeper
  let withSasl: ApacheZooKeeper
  let secure: SecureZooKeeper
  let ca: CertificateAuthority
  before(async () => {
    ca = await CertificateAuthority.start('test')
    const certificate = await ca.issue('server', 'DNS:elsewhere')
    ;[plain, withSasl, secure] = await Promise.all([
      sharedServer(),
      startSaslZooKeeper({ bob: CANARY }),
      startSecureZooKeeper(certificate, ca, 'need'),
    ])
  })
  after(() => Promise.all([withSasl.close(), secure.server.close(), ca.close()]))

  const frames: ObservedFrame[] = []
  const options: ConnectOptions = { sessionTimeout: 10_000, onFrame: frame => frames.push(frame) }
  const failure = async (servers: string, more: ConnectOptions): Promise<unknown> => {
    const error: unknown = await connect(servers, { ...options, ...more }).then(
      zk => zk.close().then(() => expect.fail('connect() resolved')),
      (e: unknown) => e,
    )
    expect(error).to.be.an.instanceOf(Error)
    return error
  }

  /** Returns the explanations of the observed frames, with and without their context. */
  const explained = () => frames.splice(0).flatMap(frame => [explain(frame.bytes, frame), explain(frame.bytes)])

  it('by a client, its views and its calls', async () => {
    const auth = [{ scheme: 'digest', auth: `ann:${CANARY}` }]
    const zk: Client = await connect(plain.connectString, { ...options, auth })
    const { sessionPassword } = zk
    await zk.addAuth('digest', Buffer.from(`eve:${CANARY}`))
    for (const value of [zk, zk.chroot('/zookeeper'), zk.leaseSignal]) expectNoSecrets(value, sessionPassword)
    const failed = zk.addAuth('nonsense', CANARY).catch((error: unknown) => error)
    const pending = zk.getData('/').catch((error: unknown) => error)
    for (const error of [await failed, await pending]) expectNoSecrets(error, sessionPassword)
    expectNoSecrets(zk, sessionPassword)
    expectNoSecrets(await zk.getData('/').catch((error: unknown) => error), sessionPassword)
    expectNoSecrets(explained(), sessionPassword)
  })

  it('by the error for an expired session of the option `session`', async () => {
    const password = Buffer.from(CANARY.padEnd(16, '!'))
    expectNoSecrets(await failure(plain.connectString, { session: { id: 77n, password } }), password)
    expectNoSecrets(explained(), password)
  })

  it('by SASL: right or wrong password, a server without SASL, a mechanism that fails', async () => {
    const bob = digestMd5({ username: 'bob', password: CANARY })
    expectNoSecrets(bob)
    expectNoSecrets(bob.start({ host: 'zk', port: 1, random: Math.random }))
    const zk = await connect(withSasl.connectString, { ...options, sasl: bob })
    expectNoSecrets(zk)
    await zk.close()
    expectNoSecrets(
      await failure(withSasl.connectString, { sasl: digestMd5({ username: 'bob', password: `${CANARY}!` }) }),
    )
    expectNoSecrets(await failure(plain.connectString, { sasl: bob }))
    const broken: Mechanism = { name: 'X', start: () => ({ step: () => Promise.reject(new Error('broken')) }) }
    expectNoSecrets(await failure(withSasl.connectString, { sasl: broken }))
    expect(() => digestMd5({ username: 'bob', password: `${CANARY}\0` }))
      .to.throw('BADARGUMENTS')
      .and.satisfy((e: unknown) => {
        expectNoSecrets(e)
        return true
      })
    const all = explained()
    expect(all.filter(({ op }) => op === 'sasl')).not.to.have.length(0)
    expectNoSecrets(all)
    expect(textOf(all)).not.to.contain('rspauth=').and.not.to.contain('response=')
  })

  it('by TLS: valid and invalid keys and passphrases', async () => {
    const address = `127.0.0.1:${secure.securePort}`
    const { cert, key } = await ca.issue('client', 'DNS:client')
    const line = key.split('\n')[1] ?? expect.fail('no key')
    const ok = { ca: ca.cert, cert, key, passphrase: CANARY }
    expectNoSecrets(await failure(address, { tls: ok }), line)
    expectNoSecrets(await failure(address, { tls: { ca: ca.cert, rejectUnauthorized: false } }), line)
    expectNoSecrets(await failure(plain.connectString, { tls: ok }), line)
    expectNoSecrets(await failure(address, { tls: { ...ok, key: CANARY } }), line)
    expectNoSecrets(await failure(address, { tls: { ...ok, key: key.replace(line, CANARY) } }), line)
    for (const [name, value] of Object.entries({ passphrase: 73_914_552, key: { pem: 73_914_552 } }))
      expectNoSecrets(await failure(address, { tls: { ...ok, [name]: value } }), line, '73914552')
    const zk = await connect(address, { ...options, tls: { ...ok, checkServerIdentity: () => undefined } })
    expectNoSecrets(zk, line)
    await zk.close()
  })
})
