// RFC 2831 by its own example, by its grammar, and by bytes that nobody would send.
import { expect } from 'chai'
import fc from 'fast-check'
import { digestMd5, SaslError } from '../../src/sasl/index.ts'
import { exchange, parseChallenge } from '../../src/sasl/digest-md5.ts'
import { parseDirectives, quoted } from '../../src/sasl/directives.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'

const bytes = (text: string, encoding: BufferEncoding = 'latin1') => Buffer.from(text, encoding)
const CHALLENGE = 'realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess'

/** What is said to a challenge. */
async function response(challenge: string, username = 'bob', password = 'secret'): Promise<string> {
  const { token } = await exchange({ username, password }, 'cnonce').step(bytes(challenge))
  return Buffer.from(token ?? []).toString('latin1')
}

const refusal = async (challenge: string, username?: string) => {
  const error: unknown = await response(challenge, username).catch((e: unknown) => e)
  expect(error, challenge).to.be.an.instanceOf(SaslError)
  return (error as Error).message
}

describe('DIGEST-MD5', () => {
  it('says what RFC 2831 says in its example (section 4), and believes its server', async () => {
    const credentials = { username: 'chris', password: 'secret' }
    const talk = exchange(credentials, 'OA6MHXh6VqTrRk', 'imap/elwood.innosoft.com')
    expect(await talk.step(null)).to.deep.equal({ token: Buffer.alloc(0) })
    const challenge = 'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'
    const { token, complete } = await talk.step(bytes(challenge))
    expect(complete).to.equal(undefined)
    expect(String(token)).to.equal(
      'charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",nc=00000001,' +
        'cnonce="OA6MHXh6VqTrRk",digest-uri="imap/elwood.innosoft.com",' +
        'response=d388dad90d4bbd760a152321f2143af7,qop=auth',
    )
    expect(await talk.step(bytes('rspauth=ea40f60335c427b5527b84dbabcdfffd'))).to.deep.equal({ complete: true })
  })

  for (const [what, last] of [
    ['that is wrong', 'rspauth=ea40f60335c427b5527b84dbabcdfffe'],
    ['that is cut', 'rspauth=ea40f60335c427b5527b84dbabcdfff'],
    ['that is missing', ''],
    ['under another name', 'response=ea40f60335c427b5527b84dbabcdfffd'],
    ['twice', 'rspauth=ea40f60335c427b5527b84dbabcdfffd,rspauth=ea40f60335c427b5527b84dbabcdfffd'],
  ] as const) {
    it(`does not believe a server with a proof ${what}`, async () => {
      const talk = exchange({ username: 'chris', password: 'secret' }, 'OA6MHXh6VqTrRk', 'imap/elwood.innosoft.com')
      await talk.step(
        bytes('realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'),
      )
      const end = async () => talk.step(bytes(last))
      expect(await end().catch((error: unknown) => error)).to.be.an.instanceOf(SaslError)
    })
  }

  it('takes another 128 bits of chance for each connection', async () => {
    const draws = [0, 0.5, 0.25, 0.999, 0.1, 0.2, 0.3, 0.4]
    const mechanism = digestMd5({ username: 'bob', password: 'secret' })
    const nonces: (string | undefined)[] = []
    for (let i = 0; i < 2; i++) {
      const talk = mechanism.start({
        host: 'zk',
        port: 2181,
        random: () => draws.shift() ?? expect.fail('too many'),
      })
      const { token } = await talk.step(bytes(CHALLENGE))
      nonces.push(/cnonce="([\da-f]{32})"/.exec(String(token))?.[1])
    }
    expect(nonces[0]).to.equal('00000000' + '80000000' + '40000000' + 'ffbe76c8')
    expect(nonces[1]).to.match(/^[\da-f]{32}$/)
    expect(draws).to.deep.equal([])
  })

  it('reads a challenge as the grammar allows it: spaces, empty elements, capitals, unknown words', () => {
    const text =
      ' , nonce = "a\\"b\\\\c" ,,Algorithm=MD5-Sess,\r\n\tcharset=UTF-8, stale=true,maxbuf=1,foo="bar, baz",qop="auth-int, auth",'
    expect(parseChallenge(bytes(text))).to.deep.equal({ realm: undefined, nonce: 'a"b\\c', isUtf8: true })
  })

  it('quotes again what it gives back', async () => {
    const said = await response('realm="a\\"b",nonce="c\\\\d",algorithm=md5-sess', 'e"f\\')
    expect(said).to.contain('username="e\\"f\\\\",realm="a\\"b",nonce="c\\\\d",')
    expect(said).not.to.contain('charset')
  })

  it('leaves the realm out where there is none', async () => {
    expect(await response('nonce=x,algorithm=md5-sess')).not.to.contain('realm')
  })

  for (const [challenge, said] of [
    ['', /no nonce/],
    ['algorithm=md5-sess', /no nonce/],
    ['nonce="",algorithm=md5-sess', /no nonce/],
    ['nonce=x', /not md5-sess/],
    ['nonce=x,algorithm=md5', /not md5-sess/],
    ['nonce=x,algorithm=md5-sess,qop="auth-int,auth-conf"', /qop auth/],
    ['nonce=x,algorithm=md5-sess,qop="author"', /qop auth/],
    ['nonce=x,algorithm=md5-sess,charset=latin-1', /utf-8/],
    ['nonce=x,nonce=x,algorithm=md5-sess', /nonce twice/],
    ['realm=a,REALM=b,nonce=x,algorithm=md5-sess', /realm twice/],
    ['nonce="x,algorithm=md5-sess', /no directive/],
    ['nonce="x"y,algorithm=md5-sess', /no directive/],
    ['nonce=x;algorithm=md5-sess', /no directive/],
    ['nonce="x\0",algorithm=md5-sess', /no directive/],
    ['nonce=x,algorithm=md5-sess,foo="' + 'x'.repeat(2048) + '"', /2\d{3} bytes/],
  ] as const) {
    it(`refuses the challenge ${JSON.stringify(challenge.slice(0, 60))}`, async () =>
      expect(await refusal(challenge)).to.match(said))
  }

  it('refuses a name that the server has no charset for', async () => {
    expect(await refusal('nonce=x,algorithm=md5-sess', '日本')).to.match(/ISO 8859-1/)
    expect(await response('nonce=x,algorithm=md5-sess', 'zoë')).to.contain('username="zoë"')
  })

  it('refuses what no server can be told', () => {
    for (const text of ['', 'a', 'ë日🔒']) expect(() => digestMd5({ username: text, password: text })).not.to.throw()
    for (const text of ['a\0', 'a\nb', '\ud800', 7 as unknown as string]) {
      expect(() => digestMd5({ username: text, password: 'x' })).to.throw(TypeError, /username/)
      expect(() => digestMd5({ username: 'x', password: text })).to.throw(TypeError, /password/)
    }
  })

  describe('properties', () => {
    const text = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter(c => c !== 0x7f)
        .map(c => String.fromCharCode(c)),
    })
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'z', '-', '_'), minLength: 1 })

    it('any values, quoted, are read back', () =>
      fc.assert(
        fc.property(fc.dictionary(name, text), values => {
          const message = Object.entries(values).map(([key, value]) => `${key}=${quoted(value)}`)
          expect([...parseDirectives(bytes(message.join(', ')))]).to.deep.equal(Object.entries(values))
        }),
      ))

    it('any bytes are read, or refused with a SaslError, in linear time', () =>
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 300 }), garbage => {
          try {
            parseDirectives(garbage)
          } catch (error) {
            expect(error).to.be.an.instanceOf(SaslError)
          }
        }),
        { numRuns: 1000 },
      ))

    it('a challenge with bytes changed is answered, or refused with a SaslError', async () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(CHALLENGE.length - 1), fc.nat(255)), { maxLength: 3 }),
          async changes => {
            const challenge = bytes(CHALLENGE)
            for (const [at, byte] of changes) challenge[at] = byte
            const said: unknown = await response(challenge.toString('latin1')).catch((error: unknown) => error)
            if (typeof said !== 'string') expect(said).to.be.an.instanceOf(SaslError)
          },
        ),
        { numRuns: 500 },
      ))

    it('a message made to be read slowly is not', () => {
      for (const evil of [
        ' '.repeat(100_000) + '"',
        'a="' + '\\'.repeat(100_001),
        'a'.repeat(100_000),
        ','.repeat(100_000),
      ]) {
        const since = performance.now()
        try {
          parseDirectives(bytes(evil))
        } catch (error) {
          expect(error).to.be.an.instanceOf(SaslError)
        }
        expect(performance.now() - since).to.be.below(LOAD_ALLOWANCE)
      }
    })
  })
})
