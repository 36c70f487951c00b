// The arguments and the result of `register()` of Services, the options of Services, and their checks.
import { anACL } from '../../client/recipe-support.ts'
import type { ACL } from '../../protocol/index.ts'
import { aBoolean, aString, mustBe, type Checks } from '../../options/checks.ts'
import type { WaitOptions } from '../call/cancellable.ts'
import { aSchema, type StandardSchema } from '../call/codec.ts'
import { serviceTypes, type ServiceInstance, type ServiceType, type UriPart } from './service-instance.ts'

/**
 * The argument of `register()` of Services: an instance. All properties but the name have a default.
 * @example
 * const instance: NewInstance<{ weight: number }> = { name: 'api', port: 8080, payload: { weight: 3 } }
 * await using services = new Services('/services')
 * await services.start(zk)
 * const registration = await services.register(instance)
 * registration.instance.payload?.weight // => 3
 */
export interface NewInstance<P = unknown> extends Optional<Omit<ServiceInstance<P>, 'uriSpec' | 'name'>> {
  /** The name of the service. A node of this name holds its instances. */
  readonly name: string
  /** Text such as `{scheme}://{address}:{port}`, or its parts. Default: none. */
  readonly uriSpec?: string | ServiceInstance['uriSpec'] | undefined
}

/** Accepts undefined too, also under exactOptionalPropertyTypes. It counts as left out. */
type Optional<T> = { [K in keyof T]?: T[K] | undefined }

const isText = (value: unknown) => typeof value === 'string'
const isTextOrNull = (value: unknown) => value === null || isText(value)
const aPort = mustBe('a port number or null', (port: number | null) => port === null || Number.isInteger(port))

function isUriSpec(value: NewInstance['uriSpec']): boolean {
  if (typeof value !== 'object' || value === null) return isTextOrNull(value)
  const { parts } = value as Partial<typeof value>
  const isPart = (part: Partial<UriPart> | null | undefined) =>
    typeof part === 'object' && isText(part?.value) && typeof part.variable === 'boolean'
  return Array.isArray(parts) && parts.every(isPart)
}

export const instanceChecks: Checks<NewInstance> = {
  name: aString,
  id: aString,
  address: mustBe('a string or null', isTextOrNull),
  port: aPort,
  sslPort: aPort,
  payload: () => undefined,
  registrationTimeUTC: mustBe('a number of milliseconds', value => Number.isSafeInteger(value)),
  serviceType: mustBe(`one of ${serviceTypes.join(', ')}`, (type: ServiceType) => serviceTypes.includes(type)),
  uriSpec: mustBe('a string, {parts} or null', isUriSpec),
  enabled: aBoolean,
}

/**
 * A registered instance.
 * @example
 * await using services = new Services('/services')
 * await services.start(zk)
 * const registration: Registration = await services.register({ name: 'api', port: 8080 })
 * await registration.update({ port: 8081 })
 * registration.instance.port // => 8081
 */
export interface Registration<P = unknown> extends AsyncDisposable {
  /** The instance as it is registered now. */
  readonly instance: ServiceInstance<P>
  /** The path of its node. */
  readonly path: string
  /**
   * Replaces properties of the instance, but not its name, id and type. Resolves when its node has them.
   * @throws ZooKeeperError BADARGUMENTS; otherwise as setData() of PersistentEphemeral
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const registration = await services.register({ name: 'api', port: 8080 })
   * await registration.update({ enabled: false })
   * registration.instance.enabled // => false
   */
  update(changes: Omit<NewInstance<P>, 'name' | 'id' | 'serviceType'>, options?: WaitOptions): Promise<void>
  /**
   * Ends the registration: deletes the node. May be called again.
   * @throws ZooKeeperError NOAUTH
   * @example
   * await using services = new Services('/services')
   * await services.start(zk)
   * const registration = await services.register({ name: 'api', port: 8080 })
   * await registration.close()
   * await services.instances('api') // => []
   */
  close(): Promise<void>
}

/**
 * Options of Services.
 * @example
 * const options: ServicesOptions = { acl: openACL }
 * new Services('/services', options).path // => '/services'
 */
export interface ServicesOptions<P = unknown, In = P> {
  /**
   * A validator of the payloads, whose type is then that of its values. `register()` refuses a payload that it refuses,
   * and an instance that has one is left out like one that is no instance. `null`, for no payload, is not validated.
   * Default: a payload is not checked.
   */
  payload?: StandardSchema<In, P> | undefined
  /** ACL of the node of each instance, and of a missing node of its service. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
}

export const servicesChecks: Checks<ServicesOptions> = { payload: aSchema, acl: anACL }
