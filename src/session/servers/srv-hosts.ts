// The hosts that SRV records name: looked up before each attempt to connect, and again while connected. Only an entry
// point that looks up SRV records loads this file.
import type { Clock } from '../../runtime/clock.ts'
import { ZooKeeperError } from '../../protocol/index.ts'
import type { Address } from '../../transport/transport.ts'
import type { HostProvider } from './host-provider.ts'
import type { SrvLookup } from './srv.ts'
import { failureOfSystem } from './system-failures.ts'

interface SrvHostsSettings {
  clock: Clock
  /** How long a lookup while connected may take, in milliseconds. */
  attemptTimeout: number
}

/** Makes the SRV records of one session. */
export type NewSrvHosts = (settings: SrvHostsSettings, provider: HostProvider) => SrvHosts

/** @param refreshInterval how often the records are looked up again while connected, in milliseconds */
export const newSrvHosts =
  (lookUp: SrvLookup, refreshInterval: number): NewSrvHosts =>
  (settings, provider) =>
    new SrvHosts(lookUp, refreshInterval, settings, provider)

export class SrvHosts {
  readonly #lookUpSrv: SrvLookup
  readonly #refreshInterval: number
  readonly #settings: SrvHostsSettings
  readonly #provider: HostProvider
  /** The name in the connect string, or undefined if that names hosts now. */
  #name: string | undefined
  /** The number of lookups so far. */
  #lookups = 0
  /** The last of them that has ended. The hosts of an earlier one are older. */
  #newestLookup = 0
  /** The number of {@link lookUpAndDial} so far: only the last one dials. */
  #dials = 0
  #refreshTimer: unknown
  #hasEnded = false

  constructor(lookUp: SrvLookup, refreshInterval: number, settings: SrvHostsSettings, provider: HostProvider) {
    this.#lookUpSrv = lookUp
    this.#refreshInterval = refreshInterval
    this.#settings = settings
    this.#provider = provider
  }

  /** Uses the records of this name from now on; none if it is undefined. */
  follow(name: string | undefined): void {
    this.#name = name
  }

  /**
   * Looks up the records, then dials. If the lookup fails, the hosts of the last successful lookup are used.
   * @param timeout how long the lookup may take, in milliseconds
   */
  async lookUpAndDial(timeout: number): Promise<void> {
    const name = this.#name
    const dial = ++this.#dials
    const isOver = () => this.#hasEnded || dial !== this.#dials
    try {
      const hosts = await this.#lookUp(name, timeout)
      if (hosts !== undefined && this.#name === name && !isOver()) this.#provider.onLookedUp(hosts, false)
    } catch (cause) {
      if (isOver()) return
      if (!this.#provider.hasHosts) {
        const detail = `the SRV records of ${name} could not be looked up`
        const error = new ZooKeeperError('NOSERVER', { op: 'connect', fate: 'notSent', detail, cause })
        this.#provider.onLookupFailed(error, failureOfSystem(cause as Error))
        return
      }
    }
    if (!isOver()) this.#provider.dialKnown()
  }

  /** Looks up the records again, and leaves the present host if their hosts require it. Ignores a failure. */
  refresh(): void {
    const name = this.#name
    const replace = (hosts: readonly Address[] | undefined) => {
      if (hosts !== undefined && !this.#hasEnded && this.#name === name) this.#provider.onLookedUp(hosts, true)
    }
    this.#lookUp(name, this.#settings.attemptTimeout)
      .then(replace, () => undefined)
      .finally(() => {
        if (!this.#hasEnded) this.scheduleRefresh()
      })
  }

  scheduleRefresh(): void {
    this.stopRefreshing()
    if (this.#name !== undefined)
      this.#refreshTimer = this.#settings.clock.setTimeout(() => this.refresh(), this.#refreshInterval)
  }

  stopRefreshing(): void {
    this.#settings.clock.clearTimeout(this.#refreshTimer)
  }

  /** Ignores lookups that end later. The provider stops the refreshing itself. */
  end(): void {
    this.#hasEnded = true
  }

  /** Returns undefined if a lookup that began later has ended before: its hosts are newer. */
  async #lookUp(name: string | undefined, timeout: number): Promise<readonly Address[] | undefined> {
    if (name === undefined) return undefined
    const lookup = ++this.#lookups
    const hosts = await this.#lookUpSrv(name, { clock: this.#settings.clock, attemptTimeout: timeout })
    if (lookup < this.#newestLookup) return undefined
    this.#newestLookup = lookup
    return hosts
  }
}
