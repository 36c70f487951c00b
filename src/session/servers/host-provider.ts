// The servers of one session: which one is tried next, when, and when a good connection is left for another server.
// May import: transport, protocol, runtime.
import type { Clock } from '../../runtime/clock.ts'
import type { Random } from '../../runtime/random.ts'
import { badArguments, ZooKeeperError } from '../../protocol/index.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import { Backoff } from './backoff.ts'
import type { ConnectString } from './connect-string.ts'
import { HostList } from './hosts.ts'
import type { SrvLookup } from './srv.ts'
import { WritableSearch } from './writable-search.ts'

/** What the provider needs of its session. */
export interface HostProviderOwner {
  /** Dials {@link HostProvider.next}. */
  dial(): void
  /** Drops the connection, or the attempt at one, and then calls {@link HostProvider.retry}. */
  moveAway(reason: string): void
  /** There is no host to dial, because the SRV records could not be looked up. */
  onLookupFailed(cause: ZooKeeperError): void
}

export interface HostProviderSettings {
  dial: Dial
  clock: Clock
  random: Random
  /** How long one host may take to answer, ms. */
  attemptTimeout: number
  /** Looks up the hosts of a `dns-srv://` connect string. Left out, such a string is refused. */
  lookUpSrv: SrvLookup | undefined
  /** How often SRV records are looked up again, ms. */
  srvRefreshInterval: number
}

/** What the user named: hosts, or the SRV records that name them. */
type Servers = Pick<ConnectString, 'hosts' | 'srv'>

export class HostProvider {
  readonly #settings: HostProviderSettings
  readonly #owner: HostProviderOwner
  readonly #hosts: HostList
  readonly #backoff = new Backoff()
  #servers: Servers
  /** The ensemble's configuration has named the hosts at least once. */
  #isConfigured = false
  /** The host that is connected or being dialled. */
  #current: Address | undefined
  /** Dialled before any other host. */
  #preferred: Address | undefined
  /** Made on the first read-only server. */
  #search: WritableSearch | undefined
  /** This provider itself has the connection dropped. */
  #isMoving = false
  #hasEnded = false
  #retryTimer: unknown
  #refreshTimer: unknown

  /** @throws ZooKeeperError BADARGUMENTS if there are SRV records to look up and no way to do so */
  constructor(servers: Servers, settings: HostProviderSettings, owner: HostProviderOwner) {
    this.#settings = settings
    this.#owner = owner
    this.#servers = this.#checked(servers)
    this.#hosts = new HostList(servers.hosts, settings.random)
  }

  start(): void {
    if (this.#servers.srv === undefined) this.#owner.dial()
    else void this.#lookUpAndDial(this.#servers.srv)
  }

  next(): Address {
    this.#current = this.#preferred ?? this.#hosts.next()
    this.#preferred = undefined
    return this.#current
  }

  /** A server has given the session. */
  onConnected(isReadOnly: boolean): void {
    this.#backoff.onConnected(this.#settings.clock.now())
    if (isReadOnly) this.#searchWritable()
    this.#scheduleRefresh()
  }

  /** A server has answered a request. */
  onAnswer(): void {
    this.#backoff.onAnswer()
  }

  /**
   * The connection was lost, or the attempt failed.
   * @param isPermanent another attempt at the same host would fail in the same way
   * @returns true if all hosts have failed permanently, one after the other
   */
  onConnectionLost(isPermanent: boolean): boolean {
    const { clock } = this.#settings
    this.#search?.stop()
    clock.clearTimeout(this.#refreshTimer)
    const failures = this.#backoff.onConnectionLost(clock.now(), isPermanent)
    return isPermanent && failures >= this.#hosts.all.length
  }

  /** Dials again after a pause, or at once if this provider moved the session. */
  retry(): void {
    const { clock, random } = this.#settings
    const pause = this.#isMoving ? 0 : this.#backoff.pause(random)
    this.#retryTimer = clock.setTimeout(() => this.start(), pause)
  }

  /**
   * Replaces the list of servers. Leaves the present host if the new list lacks it, or if the load must be spread.
   * @throws ZooKeeperError BADARGUMENTS as the constructor
   */
  setServers(servers: Servers): void {
    this.#servers = this.#checked(servers)
    if (servers.srv === undefined) this.#replace(servers.hosts)
    else this.#refresh(servers.srv)
  }

  /**
   * Uses the hosts of the ensemble's configuration, and those of the connect string when none of them can be reached.
   * @param isComplete the configuration names the client port of every server
   */
  setConfigured(hosts: readonly Address[], isComplete: boolean): void {
    const isFirst = !this.#isConfigured
    this.#isConfigured = true
    const current = this.#current
    const stays = isFirst || current === undefined || this.#hosts.mayBeAliasOf(hosts, current, isComplete)
    if (stays) this.#hosts.reset(hosts, this.#servers.hosts)
    else this.#replace(hosts, this.#servers.hosts)
  }

  end(): void {
    this.#hasEnded = true
    this.#search?.stop()
    for (const timer of [this.#retryTimer, this.#refreshTimer]) this.#settings.clock.clearTimeout(timer)
  }

  #checked(servers: Servers): Servers {
    if (servers.srv === undefined || this.#settings.lookUpSrv !== undefined) return servers
    throw badArguments('connect', '', 'this connect() looks up no SRV records: name the hosts, or use that of zkwire')
  }

  #searchWritable(): void {
    this.#search ??= new WritableSearch(this.#settings, host => {
      this.#preferred = host
      this.#moveAway(`${host.host}:${host.port} takes writes`)
    })
    // The present host is asked too if it is the only one, because its name may stand for several servers.
    this.#search.start(() => this.#hosts.allBut(this.#current))
  }

  #replace(hosts: readonly Address[], fallback: readonly Address[] = []): void {
    if (this.#hosts.replace(hosts, this.#current, fallback)) this.#moveAway('the list of servers has changed')
  }

  #moveAway(reason: string): void {
    this.#isMoving = true
    this.#owner.moveAway(reason)
    this.#isMoving = false
  }

  // SRV records

  #lookUp(srv: string): Promise<readonly Address[]> {
    return this.#settings.lookUpSrv?.(srv, this.#settings) ?? Promise.resolve([])
  }

  /** If the lookup fails, the hosts of the lookup before are used. */
  async #lookUpAndDial(srv: string): Promise<void> {
    try {
      const hosts = await this.#lookUp(srv)
      if (this.#servers.srv === srv) this.#hosts.replace(hosts, undefined)
    } catch (cause) {
      if (this.#hasEnded) return
      if (this.#hosts.all.length === 0) {
        const detail = `the SRV records of ${srv} could not be looked up`
        this.#owner.onLookupFailed(new ZooKeeperError('CONNECTIONLOSS', { fate: 'notSent', detail, cause }))
        return
      }
    }
    if (!this.#hasEnded) this.#owner.dial()
  }

  #scheduleRefresh(): void {
    const { srv } = this.#servers
    const { clock, srvRefreshInterval } = this.#settings
    clock.clearTimeout(this.#refreshTimer)
    if (srv !== undefined) this.#refreshTimer = clock.setTimeout(() => this.#refresh(srv), srvRefreshInterval)
  }

  /** Looks the records up again while there is a connection. */
  #refresh(srv: string): void {
    const replace = (hosts: readonly Address[]) => {
      if (!this.#hasEnded && this.#servers.srv === srv) this.#replace(hosts)
    }
    this.#lookUp(srv)
      .then(replace, () => undefined)
      .finally(() => {
        if (!this.#hasEnded) this.#scheduleRefresh()
      })
  }
}
