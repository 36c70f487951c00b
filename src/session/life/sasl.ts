// The interface of SASL mechanisms, and one exchange with one server.
import type { Random } from '../../runtime/random.ts'
import { ZooKeeperError } from '../../protocol/index.ts'

/**
 * The connection that a mechanism authenticates.
 * @example
 * const context: MechanismContext = { host: 'localhost', port: 2181, random: Math.random }
 * const exchange = digestMd5({ username: 'ann', password: 'secret' }).start(context)
 * await exchange.step(null) // => { token: Buffer.alloc(0) }
 */
export interface MechanismContext {
  /** The server's host, as it was dialled. */
  readonly host: string
  /** The port of that server. */
  readonly port: number
  /** Returns random numbers in [0, 1), for nonces. */
  readonly random: Random
}

/**
 * A way to authenticate: DIGEST-MD5 of `zkwire/sasl`, or your own, for instance GSSAPI.
 * @example
 * const mechanism: Mechanism = digestMd5({ username: 'ann', password: 'secret' })
 * mechanism.name // => 'DIGEST-MD5'
 */
export interface Mechanism {
  /** Its IANA name, for error messages. It is not sent, because each server is configured for one mechanism. */
  readonly name: string
  /** Starts an exchange. Called for every connection. The new exchange must not use state of an earlier one. */
  start(context: MechanismContext): Exchange
  /**
   * What it means that a server refused its first message, or a later one, for the error of the session. Default: that the
   * name or the password is wrong.
   */
  readonly refusals?: { readonly first?: string; readonly later?: string }
}

/**
 * One authentication on one connection.
 * @example
 * const exchange: Exchange = { step: challenge => ({ token: Buffer.from('ticket'), complete: challenge !== null }) }
 * const plain: Mechanism = { name: 'TICKET', start: () => exchange }
 * await connect('localhost:2181', { sasl: plain }) // throws AUTHFAILED
 */
export interface Exchange {
  /**
   * Returns the next message for the server. If it throws or rejects, the session ends as `authFailed`. Retry temporary
   * failures inside, within `attemptTimeout`.
   * @param challenge the last message of the server; null in the first call
   */
  step(challenge: Buffer | null): Step | Promise<Step>
}

/**
 * The result of one step of an exchange.
 * @example
 * const last: Step = { token: Buffer.from('ticket'), complete: true }
 * last.token?.length // => 6
 */
export interface Step {
  /**
   * The message for the server. An empty one asks the server to begin. It may be missing only if `complete` is true.
   */
  token?: Uint8Array
  /** True if the mechanism needs no further message. The server must still accept the token. Default false. */
  complete?: boolean
}

/** The error of a session that could not authenticate. */
export class SaslFailure extends ZooKeeperError {
  /** What happened. */
  readonly reason: string

  constructor(reason: string, cause: unknown) {
    super('AUTHFAILED', { op: 'sasl', fate: 'refused', detail: reason, cause })
    this.reason = reason
  }
}

/** The reason if a server closes the connection several times in a row instead of answering. */
export const closedDuringSasl = ({ name }: Mechanism): string =>
  `${name}: the server closed the connection; servers before 3.5 do so if the name or the password is wrong`

/**
 * Resolves to undefined if the exchange is complete and the server has accepted every token. Otherwise resolves to an
 * AUTHFAILED error, whose `cause` is the error of the mechanism or of the server. Never rejects.
 * @param ask sends a token, and resolves to the server's token. It resolves to null if the server has no SASL
 */
export async function authenticate(
  mechanism: Mechanism,
  context: MechanismContext,
  ask: (token: Uint8Array) => Promise<Buffer | null>,
): Promise<SaslFailure | undefined> {
  let isChallenged = false
  try {
    const exchange = mechanism.start(context)
    let challenge: Buffer | null = null
    for (;;) {
      const { token, complete = false } = await exchange.step(challenge)
      if (token !== undefined) challenge = await ask(token)
      if (complete) return undefined
      if (token === undefined) throw new Error('the mechanism returned no token although the exchange is not complete')
      // A server without a SASL login fails internally, but replies OK with a null token (ZooKeeperServer.processSasl).
      if (challenge === null) throw new Error('the server is not set up for SASL')
      isChallenged = true
    }
  } catch (cause) {
    const isRefused = cause instanceof ZooKeeperError && cause.fate === 'refused'
    const refusal = mechanism.refusals?.[isChallenged ? 'later' : 'first'] ?? REFUSED
    const reason = isRefused ? refusal : cause instanceof Error ? cause.message : 'it failed'
    return new SaslFailure(`${mechanism.name}: ${reason}`, cause)
  }
}

const REFUSED = 'the server refused it; the name or the password is wrong'
