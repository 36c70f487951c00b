// The server’s side of DIGEST-MD5 against clients that check nothing.
import { expect } from 'chai'
import { DIGEST_URI, FIRST_USE, proofsOf } from '../../src/sasl/digest-proof.ts'
import { parseDirectives } from '../../src/sasl/directives.ts'
import { SaslError } from '../../src/sasl/sasl-error.ts'
import { SaslExchange } from '../../src/server/connection/sasl-exchange.ts'
import { seededRandom } from '../support/seeded-random.ts'

describe('an exchange of SASL', () => {
  const random = seededRandom(1)

  /** Begins an exchange. Returns it, and a client’s response to its challenge. */
  function begin(password = 'secret') {
    const exchange = new SaslExchange({ bob: 'secret' }, random)
    const challenge = parseDirectives(exchange.step(Buffer.alloc(0)).reply)
    const [nonce = '', realm = ''] = [challenge.get('nonce'), challenge.get('realm')]
    const values = { username: 'bob', password, realm, nonce, cnonce: 'mine', digestUri: DIGEST_URI, isUtf8: true }
    const { response } = proofsOf(values)
    const directives =
      `charset=utf-8,username="bob",realm="${realm}",nonce="${nonce}",cnonce="mine",` +
      `nc=${FIRST_USE},qop=auth,digest-uri="${DIGEST_URI}",response=${response}`
    return { exchange, response: Buffer.from(directives) }
  }

  it('proves the user who knows the password', () => {
    const { exchange, response } = begin()
    expect(exchange.step(response).user).to.equal('bob')
  })

  it('proves nothing with a wrong password', () => {
    const { exchange, response } = begin('other')
    expect(() => exchange.step(response)).to.throw(SaslError)
  })

  for (const [what, value, other] of [
    ['count of uses of the nonce', FIRST_USE, '00000002'],
    ['digest-uri', DIGEST_URI, 'zookeeper/other'],
  ] as const)
    it(`proves nothing with another ${what} than the challenge has`, () => {
      const { exchange, response } = begin()
      const changed = Buffer.from(String(response).replace(value, other))
      expect(() => exchange.step(changed)).to.throw(SaslError, 'does not belong to the challenge')
    })

  it('proves nothing with the response to the challenge of an earlier exchange', () => {
    const { exchange, response } = begin()
    exchange.step(response)
    expect(() => begin().exchange.step(response)).to.throw(SaslError)
  })
})
