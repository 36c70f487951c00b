// DIGEST-MD5 (RFC 2831): the example of the RFC, its grammar, and random bytes.
import { expect } from 'chai'
import fc from 'fast-check'
import { ZooKeeperError } from '../../src/protocol/index.ts'
import { digestMd5, SaslError } from '../../src/sasl/index.ts'
import { exchange, parseChallenge } from '../../src/sasl/digest-md5.ts'
import { parseDirectives, quoted } from '../../src/sasl/directives.ts'
import { LOAD_ALLOWANCE } from '../support/load.ts'

const bytes = (text: string, encoding: BufferEncoding = 'latin1') => Buffer.from(text, encoding)
const CHALLENGE = 'realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess'

/** Returns the response to a challenge. */
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
  it('responds as in the example of RFC 2831 (section 4), and accepts the server’s proof', async () => {
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
    ['that is truncated', 'rspauth=ea40f60335c427b5527b84dbabcdfff'],
    ['that is missing', ''],
    ['under another name', 'response=ea40f60335c427b5527b84dbabcdfffd'],
    ['that occurs twice', 'rspauth=ea40f60335c427b5527b84dbabcdfffd,rspauth=ea40f60335c427b5527b84dbabcdfffd'],
  ] as const) {
    it(`rejects a server’s proof ${what}`, async () => {
      const talk = exchange({ username: 'chris', password: 'secret' }, 'OA6MHXh6VqTrRk', 'imap/elwood.innosoft.com')
      await talk.step(
        bytes('realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8'),
      )
      const end = async () => talk.step(bytes(last))
      expect(await end().catch((error: unknown) => error)).to.be.an.instanceOf(SaslError)
    })
  }

  it('uses 128 new random bits for each connection', async () => {
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

  it('parses all that the grammar of a challenge allows: spaces, empty elements, capitals, unknown names', () => {
    const text =
      ' , nonce = "a\\"b\\\\c" ,,Algorithm=MD5-Sess,\r\n\tcharset=UTF-8, stale=true,maxbuf=1,foo="bar, baz",qop="auth-int, auth",'
    expect(parseChallenge(bytes(text))).to.deep.equal({ realm: undefined, nonce: 'a"b\\c', isUtf8: true })
  })

  it('quotes the realm and the nonce again in its response', async () => {
    const reply = await response('realm="a\\"b",nonce="c\\\\d",algorithm=md5-sess', 'e"f\\')
    expect(reply).to.contain('username="e\\"f\\\\",realm="a\\"b",nonce="c\\\\d",')
    expect(reply).not.to.contain('charset')
  })

  it('omits the realm if the challenge has none', async () => {
    expect(await response('nonce=x,algorithm=md5-sess')).not.to.contain('realm')
  })

  for (const [challenge, message] of [
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
    it(`rejects the challenge ${JSON.stringify(challenge.slice(0, 60))}`, async () =>
      expect(await refusal(challenge)).to.match(message))
  }

  it('rejects a name that the server’s charset cannot express', async () => {
    expect(await refusal('nonce=x,algorithm=md5-sess', '日本')).to.match(/ISO 8859-1/)
    expect(await response('nonce=x,algorithm=md5-sess', 'zoë')).to.contain('username="zoë"')
  })

  it('sends a response of 4096 bytes, and none of more (RFC 2831, 2.1.2), after a challenge of 2048 at most', async () => {
    const longest = 'a'.repeat(4096 - (await response(CHALLENGE, '')).length)
    expect(await response(CHALLENGE, longest)).to.have.length(4096)
    expect(await refusal(CHALLENGE, `${longest}a`)).to.equal('the response has 4097 bytes, the limit is 4096')
    const challenge = (length: number) => `${CHALLENGE},foo="`.padEnd(length - 1, 'x') + '"'
    expect(await response(challenge(2048))).to.contain('username="bob"')
    expect(await refusal(challenge(2049))).to.match(/2049 bytes/)
  })

  it('throws BADARGUMENTS for names and passwords that cannot be sent', () => {
    for (const text of ['', 'a', 'ë日🔒']) expect(() => digestMd5({ username: text, password: text })).not.to.throw()
    for (const text of ['a\0', 'a\nb', '\ud800', 7 as unknown as string]) {
      expect(() => digestMd5({ username: text, password: 'x' })).to.throw(ZooKeeperError, /BADARGUMENTS.*username/)
      expect(() => digestMd5({ username: 'x', password: text })).to.throw(ZooKeeperError, /BADARGUMENTS.*password/)
    }
  })

  describe('properties:', () => {
    const text = fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter(c => c !== 0x7f)
        .map(c => String.fromCharCode(c)),
    })
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'z', '-', '_'), minLength: 1 })

    it('quoted values are parsed to the same values', () =>
      fc.assert(
        fc.property(fc.dictionary(name, text), values => {
          const message = Object.entries(values).map(([key, value]) => `${key}=${quoted(value)}`)
          expect([...parseDirectives(bytes(message.join(', ')))]).to.deep.equal(Object.entries(values))
        }),
      ))

    it('random bytes are parsed or throw a SaslError, in linear time', () =>
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

    it('a challenge with changed bytes gets a response or throws a SaslError', async () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(CHALLENGE.length - 1), fc.nat(255)), { maxLength: 3 }),
          async changes => {
            const challenge = bytes(CHALLENGE)
            for (const [at, byte] of changes) challenge[at] = byte
            const outcome: unknown = await response(challenge.toString('latin1')).catch((error: unknown) => error)
            if (typeof outcome !== 'string') expect(outcome).to.be.an.instanceOf(SaslError)
          },
        ),
        { numRuns: 500 },
      ))

    it('messages made to cause backtracking are parsed quickly', () => {
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
