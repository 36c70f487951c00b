// SASL mechanisms, as the session sees them, and one exchange with one server.
import type { Random } from '../../runtime/random.ts'
import { ZooKeeperError } from '../../protocol/index.ts'

/** What a mechanism is told of the connection it authenticates. */
export interface MechanismContext {
  /** Of the server, as the connect string names it. */
  readonly host: string
  readonly port: number
  /** Where nonces are to come from. */
  readonly random: Random
}

/** A way to authenticate: DIGEST-MD5 of `zkwire/sasl`, or one of the caller's own, GSSAPI for one. */
export interface Mechanism {
  /** As IANA has it. The server is not told: it knows one mechanism, by its own configuration. */
  readonly name: string
  /** Begins anew: it is called for every connection, and what went on with an earlier one is of no use. */
  start(context: MechanismContext): Exchange
}

/** One authentication on one connection. */
export interface Exchange {
  /**
   * Turns what the server said into what to say next. A throw or a rejection ends the session as `authFailed`; what may pass is to be
   * waited for in here, and the session's `attemptTimeout` goes on meanwhile.
   * @param challenge null in the first call: what there is to say before the server has said anything
   */
  step(challenge: Buffer | null): Step | Promise<Step>
}

export interface Step {
  /** Goes to the server; an empty one asks it to speak first. Left out only when the exchange is complete. */
  token?: Uint8Array
  /** Nothing more is wanted of the server but that it does not refuse the token. */
  complete?: boolean
}

/**
 * Resolves to undefined when the exchange is complete and the server has refused nothing; or to why it is not: AUTHFAILED, whose `cause`
 * is the mechanism's error or the server's. Never rejects.
 * @param ask sends a token and resolves to the server's; null is what a server answers that has no SASL at all
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
      if (token === undefined) throw new Error('it has nothing to say, and is not complete')
      // ZooKeeperServer.processSasl: without a login of its own the server fails inside, and answers OK with null.
      if (challenge === null) throw new Error('the server is not set up for SASL')
    }
  } catch (cause) {
    const isRefused = cause instanceof ZooKeeperError && cause.fate === 'refused'
    const said = isRefused ? 'the server refused it' : cause instanceof Error ? cause.message : 'it failed'
    const detail = `${mechanism.name}: ${said}`
    return new ZooKeeperError('AUTHFAILED', { op: 'sasl', fate: 'refused', detail, cause })
  }
}
