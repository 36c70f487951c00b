// The steps of GSSAPI around a security context, without a KDC: test/interop/kerberos.test.ts has a real one.
import { expect } from 'chai'
import { gssapi, SaslError, type GssapiOptions, type KerberosModule } from '../../src/sasl/index.ts'

const CONTEXT = { host: 'zk1.example.org', port: 2181, random: Math.random }

/** A context that needs one reply of the server, and then gets this offer of security layers. */
function kerberosOf(offer: readonly number[]) {
  const calls: unknown[] = []
  const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64')
  const kerberos: KerberosModule = {
    initializeClient(...args) {
      calls.push(args)
      const client = {
        contextComplete: false,
        step(challenge: string) {
          calls.push(['step', challenge])
          client.contextComplete = challenge !== ''
          return Promise.resolve(challenge === '' ? base64(1) : null)
        },
        unwrap: () => Promise.resolve(base64(...offer)),
        wrap(message: string) {
          calls.push(['wrap', Buffer.from(message, 'base64')])
          return Promise.resolve(base64(9))
        },
      }
      return Promise.resolve(client)
    },
  }
  return { kerberos, calls }
}

describe('GSSAPI', () => {
  it('sends its first token unasked, then an empty one, and chooses no security layer of those that are offered', async () => {
    const { kerberos, calls } = kerberosOf([7, 0, 255, 255])
    const exchange = gssapi({ kerberos, principal: 'ann' }).start(CONTEXT)
    expect(await exchange.step(null)).to.deep.equal({ token: Buffer.of(1) })
    expect(await exchange.step(Buffer.of(2))).to.deep.equal({ token: Buffer.alloc(0) })
    expect(await exchange.step(Buffer.of(3))).to.deep.equal({ token: Buffer.of(9), complete: true })
    expect(calls).to.deep.equal([
      ['zookeeper@zk1.example.org', { principal: 'ann' }],
      ['step', ''],
      ['step', 'Ag=='],
      ['wrap', Buffer.of(1, 0, 0, 0)],
    ])
  })

  it('has a context of its own for each connection, for the principal that the options say', async () => {
    const { kerberos, calls } = kerberosOf([1, 0, 0, 0])
    const mechanism = gssapi({ kerberos, service: 'zk', host: 'alias' })
    for (const exchange of [mechanism.start(CONTEXT), mechanism.start(CONTEXT)]) await exchange.step(null)
    expect(calls.filter(each => Array.isArray(each) && each[0] === 'zk@alias')).to.have.length(2)
  })

  for (const [offer, message] of [
    [[6, 0, 255, 255], 'the server requires a security layer of SASL; use TLS and allow qop auth at the server'],
    [[1, 0, 0], "the server's offer of security layers is malformed"],
  ] as const)
    it(`rejects the offer ${offer.join(' ')}`, async () => {
      const exchange = gssapi({ kerberos: kerberosOf(offer).kerberos }).start(CONTEXT)
      await exchange.step(null)
      await exchange.step(Buffer.of(2))
      const error = await Promise.resolve(exchange.step(Buffer.of(3))).catch((e: unknown) => e)
      expect(error).to.be.an.instanceOf(SaslError).and.include({ message }).and.not.have.property('cause')
    })

  it('rejects with a SaslError that keeps the error of the package as its cause', async () => {
    const cause = new Error('Unspecified GSS failure: Cannot contact any KDC for realm X')
    const exchange = gssapi({ kerberos: { initializeClient: () => Promise.reject(cause) } }).start(CONTEXT)
    const error = await Promise.resolve(exchange.step(null)).catch((e: unknown) => e)
    expect(error).to.be.an.instanceOf(SaslError).and.include({ cause })
    expect((error as SaslError).message).to.equal(`${cause.message}; check the KDC of the realm in krb5.conf`)
  })

  for (const [options, problem] of [
    [undefined, 'kerberos'],
    [{}, 'kerberos'],
    [{ kerberos: {} }, 'kerberos'],
    [{ kerberos: kerberosOf([]).kerberos, service: '' }, 'service'],
    [{ kerberos: kerberosOf([]).kerberos, principal: 7 }, 'principal'],
  ] as const)
    it(`refuses ${JSON.stringify(options)}, and names ${problem}`, () => {
      expect(() => gssapi(options as unknown as GssapiOptions))
        .to.throw(`the option ${problem} must be`)
        .with.property('code', 'BADARGUMENTS')
    })
})
