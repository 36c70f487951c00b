// SASL mechanisms as the session sees them, and one exchange with one server.
import type { Random } from '../../runtime/random.ts'
import { ZooKeeperError } from '../../protocol/index.ts'

/** The connection that a mechanism authenticates. */
export interface MechanismContext {
  /** The server's host, as the connect string names it. */
  readonly host: string
  readonly port: number
  /** Source of nonces. */
  readonly random: Random
}

/** A way to authenticate: DIGEST-MD5 of `zkwire/sasl`, or your own, for instance GSSAPI. */
export interface Mechanism {
  /** Its IANA name, for error messages. The server is not told: its own configuration names its one mechanism. */
  readonly name: string
  /** Starts an exchange. Called for every connection; state of an earlier exchange is of no use. */
  start(context: MechanismContext): Exchange
}

/** One authentication on one connection. */
export interface Exchange {
  /**
   * Returns the next message for a challenge. Throwing or rejecting ends the session as `authFailed`, so retry transient
   * failures inside, within `attemptTimeout`.
   * @param challenge the server's message; null in the first call
   */
  step(challenge: Buffer | null): Step | Promise<Step>
}

export interface Step {
  /** Message for the server; an empty one asks the server to begin. Left out only when the exchange is complete. */
  token?: Uint8Array
  /** Nothing more is expected of the server, except that it does not refuse the token. */
  complete?: boolean
}

/**
 * Resolves to undefined when the exchange is complete and the server has refused nothing. Otherwise resolves to an
 * AUTHFAILED, whose `cause` is the error of the mechanism or of the server. Never rejects.
 * @param ask sends a token and resolves to the server's; null is the reply of a server without SASL
 */
export async function authenticate(
  mechanism: Mechanism,
  context: MechanismContext,
  ask: (token: Uint8Array) => Promise<Buffer | null>,
): Promise<ZooKeeperError | undefined> {
  try {
    const exchange = mechanism.start(context)
    let challenge: Buffer | null = null
    for (;;) {
      const { token, complete = false } = await exchange.step(challenge)
      if (token !== undefined) challenge = await ask(token)
      if (complete) return undefined
      if (token === undefined) throw new Error('the mechanism returned no token, and is not complete')
      // A server without a SASL login fails inside, and answers OK with null (ZooKeeperServer.processSasl).
      if (challenge === null) throw new Error('the server is not set up for SASL')
    }
  } catch (cause) {
    const isRefused = cause instanceof ZooKeeperError && cause.fate === 'refused'
    const reason = isRefused ? 'the server refused it' : cause instanceof Error ? cause.message : 'it failed'
    const detail = `${mechanism.name}: ${reason}`
    return new ZooKeeperError('AUTHFAILED', { op: 'sasl', fate: 'refused', detail, cause })
  }
}
