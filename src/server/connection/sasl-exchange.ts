// The server's side of DIGEST-MD5 (RFC 2831), as Java's server does it with a DigestLoginModule.
import { isSameSecret } from '../../runtime/hash.ts'
import type { Random } from '../../runtime/random.ts'
import { DIGEST_URI, FIRST_USE, latin1, proofsOf } from '../../sasl/digest-proof.ts'
import { parseDirectives, quoted } from '../../sasl/directives.ts'
import { SaslError } from '../../sasl/sasl-error.ts'

const REALM = 'zk-sasl-md5'

/** The names and passwords of users. */
export type SaslUsers = Readonly<Record<string, string>>

export class SaslExchange {
  readonly #users: SaslUsers
  readonly #nonce: string
  #hasChallenged = false

  constructor(users: SaslUsers, random: Random) {
    this.#users = users
    this.#nonce = Buffer.from(Array.from({ length: 16 }, () => Math.floor(random() * 256))).toString('base64')
  }

  /**
   * Returns the reply to a client's token, and the name of the user if the token proves one.
   * @throws SaslError if the token proves nothing
   */
  step(token: Uint8Array): { reply: Buffer; user?: string } {
    if (!this.#hasChallenged) {
      this.#hasChallenged = true
      const nonce = quoted(this.#nonce)
      return { reply: latin1(`realm="${REALM}",nonce=${nonce},charset=utf-8,algorithm=md5-sess,qop="auth"`) }
    }
    const directives = parseDirectives(token)
    const get = (name: string) => directives.get(name) ?? ''
    const isUtf8 = directives.has('charset')
    const username = isUtf8 ? latin1(get('username')).toString() : get('username')
    const password = Object.hasOwn(this.#users, username) ? this.#users[username] : undefined
    if (password === undefined) throw new SaslError('there is no such user')
    if (get('nonce') !== this.#nonce || get('nc') !== FIRST_USE || get('digest-uri') !== DIGEST_URI)
      throw new SaslError('the response does not belong to the challenge')
    const { response, rspauth } = proofsOf({
      ...{ username, password, realm: get('realm'), nonce: this.#nonce, cnonce: get('cnonce') },
      ...{ digestUri: DIGEST_URI, isUtf8 },
    })
    if (!isSameSecret(latin1(get('response')), latin1(response))) throw new SaslError('the password is wrong')
    return { reply: latin1(`rspauth=${rspauth}`), user: username }
  }
}
