// One instance of a service, and its JSON: that of JsonInstanceSerializer in Curator's service discovery, which Spring
// Cloud uses too.
import { printable } from '../../protocol/index.ts'

/**
 * One part of a URI: text, or the name of a variable.
 * @example
 * const parts: UriPart[] = [
 *   { value: 'address', variable: true },
 *   { value: '/health', variable: false },
 * ]
 * await using services = new Services('/services')
 * await services.start(zk)
 * const { instance } = await services.register({ name: 'api', address: '10.0.0.1', uriSpec: { parts } })
 * uriOf(instance) // => '10.0.0.1/health'
 */
export interface UriPart {
  /** Text of the URI, or the name of a variable such as `port`. */
  value: string
  /** True if `value` is the name of a variable. */
  variable: boolean
}

export type ServiceType = (typeof serviceTypes)[number]
export const serviceTypes = ['DYNAMIC', 'STATIC', 'PERMANENT', 'DYNAMIC_SEQUENTIAL'] as const

/**
 * An instance of a service. The names of the properties are those of the JSON.
 * @example
 * await using services = new Services('/services')
 * await services.start(zk)
 * await services.register({ name: 'api', address: '10.0.0.1', port: 8080 })
 * const instances: ServiceInstance[] = await services.instances('api')
 * instances.map(({ port }) => port) // => [8080]
 */
export interface ServiceInstance<P = unknown> {
  /** The name of the service. */
  readonly name: string
  /** The id of the instance, unique within the service. */
  readonly id: string
  /** The host name or IP address; null if it has none. */
  readonly address: string | null
  /** The port without TLS, an integer that is not checked further; null if it has none. */
  readonly port: number | null
  /** The port with TLS, like `port`. */
  readonly sslPort: number | null
  /** Any JSON value. Java needs the name of a class in its property `@class`, unless it is a string or a number. */
  readonly payload: P | null
  /** When the instance was registered, in milliseconds since 1970. */
  readonly registrationTimeUTC: number
  /**
   * Whether the instance ends with its process: `DYNAMIC` and `DYNAMIC_SEQUENTIAL` ones do, `STATIC` and `PERMANENT` ones do
   * not.
   */
  readonly serviceType: ServiceType
  /** See {@link uriOf}. */
  readonly uriSpec: { readonly parts: readonly UriPart[] } | null
  /** False for an instance that providers must not choose. Written only if it is false, as old versions of Java need. */
  readonly enabled: boolean
}

/** Returns the JSON, with the properties in Java's order. */
export function encodeInstance(instance: ServiceInstance): string {
  const { name, id, address, port, sslPort, payload, registrationTimeUTC, serviceType, uriSpec, enabled } = instance
  const compatible = { name, id, address, port, sslPort, payload, registrationTimeUTC, serviceType, uriSpec }
  return JSON.stringify(enabled ? compatible : { ...compatible, enabled })
}

/**
 * Accepts what Curator accepts: other programs write numbers and booleans as strings (tried on Curator 5.4 with Jackson
 * 2.14).
 * @throws Error if the data is not the JSON of an instance
 */
export function decodeInstance<P>(data: Uint8Array | null): ServiceInstance<P> {
  const value: unknown = parsed(Buffer.from(data ?? []).toString())
  if (typeof value !== 'object' || value === null) throw new Error('the data is not a JSON object')
  const json = value as Readonly<Record<string, unknown>>
  const [name, id] = [textOf(json['name']), textOf(json['id'])]
  if (name === null || id === null) throw new Error('name and id must be strings')
  const type = textOf(json['serviceType'])?.trim()
  return {
    name,
    id,
    address: textOf(json['address']),
    port: numberOf('port', json['port']),
    sslPort: numberOf('sslPort', json['sslPort']),
    payload: (json['payload'] ?? null) as P | null,
    registrationTimeUTC: numberOf('registrationTimeUTC', json['registrationTimeUTC']) ?? 0,
    serviceType: serviceTypes.find((each, i) => each === type || String(i) === type) ?? 'DYNAMIC',
    uriSpec: uriSpecOf(json['uriSpec']),
    enabled: json['enabled'] === undefined || booleanOf('enabled', json['enabled']),
  }
}

const textOf = (value: unknown): string | null =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null

/** @throws Error if the value is neither a number nor the text of an integer */
function numberOf(property: string, value: unknown): number | null {
  const given = typeof value === 'string' ? value.trim() : (value ?? 'null')
  if (given === '' || given === 'null') return null
  const number = typeof given === 'string' && /^[+-]?\d+$/.test(given) ? Number(given) : given
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new Error(`${property} must be a number`)
  return Math.trunc(number)
}

/** @throws Error if the value is neither a boolean nor one as text or as a number */
function booleanOf(property: string, value: unknown): boolean {
  const text = value === null ? 'null' : textOf(value)?.trim().toLowerCase()
  if (text === 'true' || (typeof value === 'number' && value !== 0)) return true
  if (text !== undefined && ['false', 'null', '', '0'].includes(text)) return false
  throw new Error(`${property} must be true or false`)
}

/** Leaves out what is no part. */
function uriSpecOf(value: unknown): { parts: UriPart[] } | null {
  const parts: unknown = (value as { parts?: unknown } | null | undefined)?.parts
  if (!Array.isArray(parts)) return null
  const isPart = (part: unknown): part is Partial<Record<keyof UriPart, unknown>> =>
    typeof part === 'object' && part !== null
  const partOf = ({ value: text, variable }: Partial<Record<keyof UriPart, unknown>>) => ({
    value: textOf(text) ?? '',
    variable: booleanOf('variable', variable ?? false),
  })
  return { parts: parts.filter(isPart).map(partOf) }
}

/** Returns the parts of a URI such as `{scheme}://{address}:{port}/api`; undefined if a brace has no counterpart. */
export function parseUriSpec(text: string): { parts: UriPart[] } | undefined {
  const parts: UriPart[] = []
  for (const [whole, variable] of text.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/g)) {
    if (whole === '{' || whole === '}') return undefined
    parts.push({ value: variable === undefined ? whole : variable.trim(), variable: variable !== undefined })
  }
  return { parts }
}

/**
 * Returns the URI of an instance by its `uriSpec`; an empty string if it has none. The variables are `scheme` (`https`
 * if there is an sslPort, otherwise `http`), `name`, `id`, `address`, `port`, `ssl-port`, `registration-time-utc`,
 * `service-type`, `[` and `]` for braces, and those passed in. An unknown variable becomes an empty string.
 * @example
 * await using services = new Services('/services')
 * await services.start(zk)
 * const uriSpec = '{scheme}://{address}:{port}'
 * const { instance } = await services.register({ name: 'api', address: '10.0.0.1', port: 8080, uriSpec })
 * uriOf(instance) // => 'http://10.0.0.1:8080'
 */
export function uriOf(instance: ServiceInstance, variables: Readonly<Record<string, string | number>> = {}): string {
  const { name, id, address, port, sslPort, registrationTimeUTC, serviceType, uriSpec } = instance
  const values = new Map<string, string | number | null>([
    ['[', '{'],
    [']', '}'],
    ['scheme', sslPort === null ? 'http' : 'https'],
    ['name', name],
    ['id', id],
    ['address', address],
    ['port', port],
    ['ssl-port', sslPort],
    ['registration-time-utc', registrationTimeUTC],
    ['service-type', serviceType.toLowerCase()],
    ...Object.entries(variables),
  ])
  const parts = uriSpec?.parts ?? []
  return parts.map(({ value, variable }) => (variable ? String(values.get(value) ?? '') : value)).join('')
}

/** Leaves out what is behind the object, such as the zero byte of a C string, as Jackson does (tried on 2.14). */
function firstObjectIn(json: string): string {
  let depth = 0
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === '{') depth++
    if (token === '}' && --depth === 0) return json.slice(0, index + 1)
  }
  return json
}

/** @throws Error whose message is fit for a terminal: that of JSON.parse() repeats the data */
function parsed(json: string): unknown {
  try {
    // Jackson, by which Curator reads it, accepts a byte order mark.
    return JSON.parse(firstObjectIn(json.replace(/^\ufeff/, '')))
  } catch (error) {
    // Without a cause, because that would show the same data again.
    throw new Error(printable((error as Error).message))
  }
}
