// GSSAPI (RFC 4752): Kerberos 5. The caller's package `kerberos` makes the tokens; this file does the steps of SASL.
import { badArguments } from '../protocol/index.ts'
import type { Exchange, Mechanism } from '../session/life/sasl.ts'
import { SaslError } from './sasl-error.ts'

/**
 * The part of the npm package `kerberos` that {@link gssapi} uses. Tokens are in base64.
 * @example
 * const client = { contextComplete: false, step: async () => 'YA==', unwrap: async () => '', wrap: async () => '' }
 * const kerberos: KerberosModule = { initializeClient: async () => client }
 * gssapi({ kerberos }).name // => 'GSSAPI'
 */
export interface KerberosModule {
  /** @param service the service and host of the server's principal, such as `zookeeper@zk1.example.org` */
  initializeClient(service: string, options?: { principal?: string }): Promise<KerberosClient>
}

/**
 * A security context of the package `kerberos`.
 * @example
 * const client: KerberosClient = {
 *   ...{ contextComplete: false, step: async () => 'YA==', unwrap: async () => '', wrap: async () => '' },
 * }
 * await client.step('') // => 'YA=='
 */
export interface KerberosClient {
  /** True when the client and the server have proved who they are. */
  readonly contextComplete: boolean
  /**
   * Takes the server's token, in base64, or an empty string for the first step. Returns the token for the server, or null
   * if there is none. Rejects if the ticket or the server is refused.
   */
  step(challenge: string): Promise<string | null>
  /** Takes a wrapped message of the server, in base64, and returns what it holds, in base64. */
  unwrap(challenge: string): Promise<string>
  /** Takes a message for the server, in base64, and returns it wrapped, in base64. */
  wrap(challenge: string): Promise<string>
}

/**
 * What {@link gssapi} needs.
 * @example
 * const options: Partial<GssapiOptions> = { service: 'zk', principal: 'ann@EXAMPLE.ORG' }
 * gssapi(options as GssapiOptions) // throws BADARGUMENTS
 */
export interface GssapiOptions {
  /** The npm package `kerberos`, from version 2 on: `await import('kerberos')`. This package never loads it. */
  kerberos: KerberosModule
  /** The first part of the server's principal. Default: `zookeeper`. */
  service?: string | undefined
  /** The host in the server's principal. Default: the host of the connect string, as it was dialled. */
  host?: string | undefined
  /** The principal of the client. Default: that of the ticket cache. */
  principal?: string | undefined
}

/** The bit of the security layer "none": the connection is not signed or encrypted, as with Java's client by default. */
const NO_LAYER = 1

/**
 * Returns a mechanism for the option `sasl` of connect(). It authenticates by Kerberos, with the tickets of the ticket
 * cache (`kinit`, or `KRB5_CLIENT_KTNAME` for a keytab). Client and server authenticate each other. A ticket is needed
 * for each new connection, and not while a connection lasts, so renew it before it expires. The connection is not
 * encrypted. If the exchange fails, the calls reject with AUTHFAILED, and a {@link SaslError} is in the chain of `cause`.
 * @throws ZooKeeperError BADARGUMENTS if `kerberos` has no function `initializeClient`, or another option is no text
 * @example
 * const client = { contextComplete: false, step: async () => 'YA==', unwrap: async () => '', wrap: async () => '' }
 * const kerberos = { initializeClient: async () => client } // in production: await import('kerberos')
 * const exchange = gssapi({ kerberos }).start({ host: 'zk1', port: 2181, random: Math.random })
 * const { token } = await exchange.step(null)
 * token // => Buffer.from('60', 'hex')
 */
export function gssapi(options: GssapiOptions): Mechanism {
  const { kerberos, service = 'zookeeper', host, principal } = (options as Partial<GssapiOptions> | undefined) ?? {}
  if (typeof kerberos?.initializeClient !== 'function')
    throw badArguments('gssapi', '', 'the option kerberos must be the npm package kerberos: await import("kerberos")')
  for (const [name, text] of Object.entries({ service, host, principal }))
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw badArguments('gssapi', '', `the option ${name} must be a text that is not empty`)
  return {
    name: 'GSSAPI',
    start({ host: dialled }) {
      const target = `${service}@${host ?? dialled}`
      return exchange(() => kerberos.initializeClient(target, principal === undefined ? {} : { principal }), target)
    },
    refusals: { first: REFUSED_TICKET, later: REFUSED_TICKET },
  }
}

const REFUSED_TICKET =
  "the server refused it; check that its keytab has the current key of its principal, and the server's clock and log"

function exchange(open: () => Promise<KerberosClient>, target: string): Exchange {
  let client: KerberosClient | undefined
  return {
    async step(challenge) {
      try {
        client ??= await open()
        if (client.contextComplete && challenge !== null)
          return { token: bytesOf(await withoutLayer(client, challenge)), complete: true }
        // When the context is complete, there is nothing to send, and the server offers its security layers.
        return { token: bytesOf((await client.step(challenge?.toString('base64') ?? '')) ?? '') }
      } catch (error) {
        if (error instanceof SaslError) throw error
        throw new SaslError(explained(error instanceof Error ? error.message : String(error), target), { cause: error })
      }
    },
  }
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64')

/** Chooses no security layer, and no other identity than that of the ticket. */
async function withoutLayer(client: KerberosClient, offer: Buffer): Promise<string> {
  const layers = bytesOf(await client.unwrap(offer.toString('base64')))
  if (layers.length !== 4) throw new SaslError("the server's offer of security layers is malformed")
  if (((layers[0] ?? 0) & NO_LAYER) === 0)
    throw new SaslError('the server requires a security layer of SASL; use TLS and allow qop auth at the server')
  return client.wrap(Buffer.of(NO_LAYER, 0, 0, 0).toString('base64'))
}

/** What the messages of MIT Kerberos mean, and what to do. */
const hints: readonly (readonly [RegExp, (target: string) => string])[] = [
  [/skew/i, () => 'set the clocks of this machine, of the server and of the KDC'],
  [/expired/i, () => 'get a new ticket with kinit'],
  [/not found in kerberos database/i, target => `no principal fits ${target}; check the options service and host`],
  [/credentials|cache|can't find client principal/i, () => 'get a ticket with kinit, and check KRB5CCNAME'],
  [/cannot (contact|find) (any )?kdc/i, () => 'check the KDC of the realm in krb5.conf'],
]

function explained(message: string, target: string): string {
  const hint = hints.find(([pattern]) => pattern.test(message))?.[1](target)
  return hint === undefined ? message : `${message}; ${hint}`
}
