// The identities that the client of a connection has proved, and the requests that prove more.
import { JuteError, operations, type Id, type Reader, type Writer } from '../../protocol/index.ts'
import type { Random } from '../../runtime/random.ts'
import { SaslError } from '../../sasl/sasl-error.ts'
import { authenticate } from '../database/acl.ts'
import { hashOf, inBuckets } from '../database/java-hash.ts'
import { RequestError } from '../database/request-error.ts'
import { SaslExchange, type SaslUsers } from './sasl-exchange.ts'

export interface AuthenticationSettings {
  /** The digest id of the superuser; '' if there is none. */
  readonly superDigest: string
  /** The users of SASL; undefined if the server has no SASL. */
  readonly saslUsers?: SaslUsers | undefined
  /** Closes the connection of a client that has not authenticated by SASL. */
  readonly requireSasl: boolean
  readonly random: Random
}

/** The largest number of identities of a connection, because each request compares them with the entries of an ACL. */
const MAX_IDENTITIES = 1000

export class Identities {
  readonly #settings: AuthenticationSettings
  readonly #address: string
  /** In the order of Java's set: that of `whoAmI`, and of the entries that `auth` in an ACL becomes. */
  #all: readonly Id[]
  /** The capacity of that set, a ConcurrentHashMap: it doubles when three quarters are full. */
  #capacity = 16
  #exchange: SaslExchange | undefined

  /** @param address the address of the client, which is its first identity */
  constructor(settings: AuthenticationSettings, address: string) {
    this.#settings = settings
    this.#address = address
    this.#all = [{ scheme: 'ip', id: address }]
  }

  get all(): readonly Id[] {
    return this.#all
  }

  /** True if the client must authenticate by SASL before it sends other requests. */
  get needSasl(): boolean {
    return this.#settings.requireSasl && !this.#all.some(({ scheme }) => scheme === 'sasl')
  }

  /**
   * Executes an auth packet.
   * @throws RequestError AUTHFAILED if it proves nothing, or the client has proved too many identities
   */
  authenticate(request: Reader): (writer: Writer) => void {
    const { scheme, auth } = operations.auth.request.read(request)
    const proved = authenticate(scheme, auth, this.#address, this.#settings.superDigest)
    if (proved.length === 0 || this.#all.length >= MAX_IDENTITIES) throw new RequestError('AUTHFAILED')
    for (const each of proved) this.#add(each)
    return () => undefined
  }

  /**
   * Executes a step of SASL. A server without SASL replies with a null token to everything
   * (ZooKeeperServer.processSasl).
   * @throws RequestError AUTHFAILED if the client does not prove that it knows the password, or
   * SESSIONCLOSEDREQUIRESASLAUTH if the server requires that
   * @throws JuteError if the request is malformed, or has no token
   */
  sasl(request: Reader): (writer: Writer) => void {
    const { saslUsers, random, requireSasl } = this.#settings
    const { token } = operations.sasl.request.read(request)
    if (token === null) throw new JuteError('the token is missing')
    const reply = saslUsers === undefined ? null : this.#step(saslUsers, random, requireSasl, token)
    return writer => operations.sasl.response.write(writer, { token: reply })
  }

  #step(users: SaslUsers, random: Random, isRequired: boolean, token: Uint8Array): Buffer {
    this.#exchange ??= new SaslExchange(users, random)
    try {
      const { reply, user } = this.#exchange.step(token)
      if (user !== undefined) this.#add({ scheme: 'sasl', id: user })
      return reply
    } catch (error) {
      if (!(error instanceof SaslError)) throw error
      throw new RequestError(isRequired ? 'SESSIONCLOSEDREQUIRESASLAUTH' : 'AUTHFAILED')
    }
  }

  #add({ scheme, id }: Id): void {
    if (this.#all.some(each => each.scheme === scheme && each.id === id)) return
    const all = [...this.#all, { scheme, id }]
    if (all.length >= this.#capacity * 0.75) this.#capacity *= 2
    this.#all = inBuckets(all, this.#capacity, hashCodeOf)
  }
}

/** The hash code of an Id, a class that Jute has made. */
const hashCodeOf = ({ scheme, id }: Id): number => (Math.imul(37, Math.imul(37, 17) + hashOf(scheme)) + hashOf(id)) | 0
