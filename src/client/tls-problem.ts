// Checks options of node:tls that node:tls itself checks only at each connection, when it is too late to throw.
import { aBoolean, aFunction, aString, mustBe, type Check } from '../options/checks.ts'
import { aNumber } from './options.ts'
import { aSignal } from './validation.ts'

const ofConnectString = (): string => 'is not allowed, because the address comes from the connect string'
const isBytes = (value: unknown): boolean => value instanceof Uint8Array
const isText = (value: unknown): boolean => typeof value === 'string'
const isProtocol = (value: unknown): boolean => isText(value) || isBytes(value)
const aCount = mustBe('a number, at least 0', value => typeof value === 'number' && value >= 0)

const checks: Readonly<Record<string, Check>> = {
  ...{ host: ofConnectString, port: ofConnectString, path: ofConnectString, socket: ofConnectString },
  ...{ checkServerIdentity: aFunction, pskCallback: aFunction, lookup: aFunction, signal: aSignal },
  ...{ servername: aString, autoSelectFamily: aBoolean, requestOCSP: aBoolean, minDHSize: aNumber(1) },
  ...{ timeout: aCount, highWaterMark: aCount, autoSelectFamilyAttemptTimeout: aCount, hints: aCount },
  session: mustBe('a Uint8Array', isBytes),
  secureContext: mustBe('of createSecureContext()', (value: object) => typeof value === 'object' && 'context' in value),
  ALPNProtocols: mustBe(
    'a list of strings or Uint8Arrays, or a Uint8Array',
    (value: unknown) => isBytes(value) || (Array.isArray(value) && value.every(isProtocol)),
  ),
  localAddress: mustBe('an IP address', (value: unknown) => typeof value === 'string' && /^[\d.]+$|:/.test(value)),
  localPort: mustBe(
    'a number from 0 to 65535',
    (value: number) => Number.isInteger(value) && value >= 0 && value < 65_536,
  ),
  family: mustBe('0, 4 or 6', value => [0, 4, 6, 'IPv4', 'IPv6'].includes(value)),
}

/** Returns the name of a wrong option, and why it is wrong. Undefined if there is none. One that is null is left out. */
export function tlsProblem(options: object): string | undefined {
  for (const [name, value] of Object.entries<unknown>({ ...options })) {
    const problem = value == null ? undefined : checks[name]?.(value)
    if (problem !== undefined) return `${name} ${problem}`
  }
  return undefined
}
