// The servers of one session. Decides which server is tried next and when, and when to leave a working connection for
// another server.
// May import: transport, protocol, runtime.
import type { Clock } from '../../runtime/clock.ts'
import type { Random } from '../../runtime/random.ts'
import { badArguments, ZooKeeperError } from '../../protocol/index.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import { Backoff } from './backoff.ts'
import type { ConnectString } from './connect-string.ts'
import { FailedAttempts, failureToOpen, hostPortOf, type AttemptFailure } from './failed-attempts.ts'
import { HostList } from './hosts.ts'
import type { SrvLookup } from './srv.ts'
import { answering, HostSearch, writable, type Search } from './host-search.ts'

/** The parts of a session that the provider uses. */
export interface HostProviderOwner {
  /** Returns the milliseconds within which a server must accept the session. */
  timeToConnect(): number
  /** @param timeout how long the attempt may take, in milliseconds */
  dial(host: Address, timeout: number): void
  /** Drops the connection, or the attempt at one. Then {@link HostProvider.dialNext} is called at once. */
  leave(reason: string): void
  /** Also called if the SRV records could not be looked up, so that there is no host to dial. */
  onConnectionLost(cause: ZooKeeperError, failure: AttemptFailure): void
}

export interface HostProviderSettings {
  dial: Dial
  clock: Clock
  random: Random
  /** The longest time that one host may take to answer, in milliseconds. */
  attemptTimeout: number
  /** True if the time for one attempt depends on the number of hosts too. */
  sharesTime: boolean
  /** True if the first connection is tried again when no host has a server. */
  waitsForServers: boolean
  /** Looks up the hosts of a `dns-srv://` connect string. If undefined, such a connect string is rejected. */
  lookUpSrv: SrvLookup | undefined
  /** How often SRV records are looked up again while connected, in milliseconds. */
  srvRefreshInterval: number
}

/** The servers that the user named: hosts, or a name whose SRV records name them. */
export interface Servers extends Pick<ConnectString, 'hosts' | 'srv'> {
  /** The hosts that the ensemble's configuration named last. They are tried before all others. */
  readonly configured?: readonly Address[]
}

const SERVERS_CHANGED = 'the list of servers has changed'

export class HostProvider {
  readonly #settings: HostProviderSettings
  readonly #owner: HostProviderOwner
  readonly #hosts: HostList
  readonly #backoff = new Backoff()
  /** Created with the first failure since a server has accepted the session. */
  #failed: FailedAttempts | undefined
  #servers: Servers
  /** True after the ensemble's configuration has named the hosts for the first time. */
  #isConfigured: boolean
  /** The host that is connected or being dialled. */
  #current: Address | undefined
  /** The host to dial before any other. */
  #preferred: Address | undefined
  /** The search for a server that takes writes, or for one that answers. */
  #search: HostSearch | undefined
  /** True if the last attempt was made because the host had answered a question. */
  #hasAnswered = false
  #hasEnded = false
  /** The number of lookups so far. */
  #lookups = 0
  /** The last of them that has ended. The hosts of an earlier one are older. */
  #newestLookup = 0
  /** The number of {@link #lookUpAndDial} so far: only the last one dials. */
  #dials = 0
  #refreshTimer: unknown

  /**
   * @throws ZooKeeperError BADARGUMENTS if the hosts are SRV records and {@link HostProviderSettings.lookUpSrv} is
   * undefined
   */
  constructor(servers: Servers, settings: HostProviderSettings, owner: HostProviderOwner) {
    this.#settings = settings
    this.#owner = owner
    this.#servers = this.#checked(servers)
    this.#isConfigured = servers.configured !== undefined
    this.#hosts = new HostList(servers.hosts, settings.random)
    if (servers.configured !== undefined) this.#hosts.reset(servers.configured, servers.hosts)
  }

  /** The servers for the next session: those that the user named last, and those of the ensemble's configuration. */
  get servers(): Servers {
    return this.#servers
  }

  /** Dials the next host. Looks up the SRV records first, if the connect string names some. */
  dialNext(): void {
    this.#hasAnswered = false
    if (this.#servers.srv === undefined) this.#dial()
    else void this.#lookUpAndDial(this.#servers.srv)
  }

  /** A server has accepted the session, and SASL, if any, is complete. */
  onConnected(isReadOnly: boolean): void {
    this.#backoff.onConnected(this.#settings.clock.now())
    if (this.#current !== undefined) this.#hosts.onConnected(this.#current)
    this.#failed = undefined
    if (isReadOnly) this.#searchWritable()
    this.#scheduleRefresh()
  }

  /** The session has left its connection of its own accord. */
  onLeft(): void {
    this.#stop()
    this.#backoff.onLeft()
  }

  /**
   * The connection was lost, or the attempt failed. Returns how many milliseconds to wait before {@link dialNext}, and
   * if no attempt is likely to succeed soon, the code of the error for a session that has never been connected.
   */
  onConnectionLost(failure: AttemptFailure): { pause: number; givesUp?: 'PROTOCOL' | 'NOSERVER' } {
    const { clock, random, waitsForServers } = this.#settings
    this.#stop()
    if (!this.#backoff.isConnected && this.#current !== undefined) this.#hosts.onFailed(this.#current)
    this.#backoff.onConnectionLost(clock.now())
    const names = this.#names
    const failed = (this.#failed ??= new FailedAttempts())
    failed.add(this.#current === undefined ? (names[0] ?? '') : hostPortOf(this.#current), failure)
    const outlook = failed.outlookOf(names)
    const pause = this.#backoff.pause(this.#hosts.roundLength, this.#owner.timeToConnect(), random)
    if (outlook === 'permanent') return { pause, givesUp: 'PROTOCOL' }
    return outlook === 'absent' && !waitsForServers ? { pause, givesUp: 'NOSERVER' } : { pause }
  }

  /** Returns a text that names each server and why it was not used. */
  describeFailures(): string {
    return (this.#failed ?? new FailedAttempts()).describe(this.#names, this.#current && hostPortOf(this.#current))
  }

  /** The names of all servers that are tried. */
  get #names(): readonly string[] {
    const { round } = this.#hosts
    return round.length > 0 ? round.map(hostPortOf) : [`dns-srv://${this.#servers.srv}`]
  }

  /** Leaves the connection, which the server is about to close, and connects to the same host again at once. */
  reconnect(reason: string): void {
    this.#preferred = this.#current
    this.#owner.leave(reason)
  }

  /**
   * Replaces the list of servers. Leaves the present host if it is not in the new list, or if the load must be
   * balanced.
   * @throws ZooKeeperError BADARGUMENTS as the constructor
   */
  setServers(servers: Servers): void {
    this.#servers = this.#checked(servers)
    if (servers.srv === undefined) this.#replace(servers.hosts)
    else this.#refresh(servers.srv)
  }

  /**
   * Uses the hosts of the ensemble's configuration. The hosts of the connect string are used only if none of those can
   * be reached.
   * @param isComplete true if the configuration names the client port of every server
   */
  setConfigured(hosts: readonly Address[], isComplete: boolean): void {
    const isFirst = !this.#isConfigured
    this.#isConfigured = true
    this.#servers = { ...this.#servers, configured: hosts }
    const current = this.#current
    const stays = isFirst || current === undefined || this.#hosts.mayBeAliasOf(hosts, current, isComplete)
    if (stays) this.#hosts.reset(hosts, this.#servers.hosts)
    else this.#replace(hosts, this.#servers.hosts)
  }

  end(): void {
    this.#hasEnded = true
    this.#stop()
  }

  #stop(): void {
    this.#search?.stop()
    this.#settings.clock.clearTimeout(this.#refreshTimer)
  }

  #checked(servers: Servers): Servers {
    if (servers.srv === undefined || this.#settings.lookUpSrv !== undefined) return servers
    throw badArguments('connect', '', 'this connect() looks up no SRV records: name hosts, or use connect() of zkwire')
  }

  #dial(): void {
    this.#search?.stop()
    this.#current = this.#preferred ?? this.#hosts.next()
    this.#preferred = undefined
    const timeout = this.#attemptTimeout
    this.#backoff.onAttempt(this.#settings.clock.now(), timeout)
    this.#owner.dial(this.#current, timeout)
  }

  /** How long the next attempt may take, in whole milliseconds. */
  get #attemptTimeout(): number {
    const { attemptTimeout, sharesTime } = this.#settings
    const share = this.#backoff.attemptTimeout(this.#hosts.roundLength, this.#owner.timeToConnect())
    return sharesTime ? Math.ceil(Math.min(attemptTimeout, share)) : attemptTimeout
  }

  #searchWritable(): void {
    // If the present host is the only one, it is asked too, because its name may stand for several servers.
    this.#searchFor(
      writable,
      () => this.#hosts.allBut(this.#current),
      host => {
        this.#preferred = host
        this.#owner.leave(`${hostPortOf(host)} takes writes`)
      },
    )
  }

  /** True if each server was tried since the last connection, none has answered, and a handshake may have arrived. */
  get areSilent(): boolean {
    return this.#failed?.areSilent(this.#names) === true
  }

  /**
   * Dials as soon as an answer of a host to a question arrives, unless {@link dialNext} is called before. Does nothing
   * if the last attempt was made because of such an answer: that host answers questions, but no handshake, because its
   * connection is too slow.
   */
  dialAnswering(): void {
    if (this.#hasAnswered) return
    this.#searchFor(
      answering,
      () => this.#hosts.round,
      host => {
        this.#preferred = host
        this.dialNext()
        // After dialNext(), which resets it.
        this.#hasAnswered = true
      },
    )
  }

  #searchFor(search: Search, hosts: () => readonly Address[], found: (host: Address) => void): void {
    this.#search?.stop()
    this.#search = new HostSearch(this.#settings, search, found)
    this.#search.start(hosts)
  }

  #replace(hosts: readonly Address[], fallback: readonly Address[] = []): void {
    if (this.#hosts.replace(hosts, this.#current, fallback)) this.#owner.leave(SERVERS_CHANGED)
  }

  // SRV records

  /** Returns undefined if a lookup that began later has ended before: its hosts are newer. */
  async #lookUp(srv: string, attemptTimeout: number): Promise<readonly Address[] | undefined> {
    const lookup = ++this.#lookups
    const hosts = await this.#settings.lookUpSrv?.(srv, { clock: this.#settings.clock, attemptTimeout })
    if (lookup < this.#newestLookup) return undefined
    this.#newestLookup = lookup
    return hosts
  }

  /** Looks up the records, then dials. If the lookup fails, the hosts of the last successful lookup are used. */
  async #lookUpAndDial(srv: string): Promise<void> {
    const timeout = this.#attemptTimeout
    const dial = ++this.#dials
    const isOver = () => this.#hasEnded || dial !== this.#dials
    this.#backoff.onAttempt(this.#settings.clock.now(), timeout)
    try {
      const hosts = await this.#lookUp(srv, timeout)
      if (hosts !== undefined && this.#servers.srv === srv && !isOver()) this.#onLookedUp(hosts, undefined)
    } catch (cause) {
      if (isOver()) return
      if (this.#hosts.all.length === 0) {
        const detail = `the SRV records of ${srv} could not be looked up`
        const error = new ZooKeeperError('NOSERVER', { op: 'connect', fate: 'notSent', detail, cause })
        this.#owner.onConnectionLost(error, failureToOpen(cause as Error))
        return
      }
    }
    if (!isOver()) this.#dial()
  }

  /**
   * Uses the hosts of SRV records: as the list, or if the ensemble's configuration has named hosts, only as a fallback.
   * Returns true if the client must leave `current`.
   */
  #onLookedUp(hosts: readonly Address[], current: Address | undefined): boolean {
    if (this.#servers.configured === undefined) return this.#hosts.replace(hosts, current)
    this.#hosts.setFallback(hosts)
    return false
  }

  #scheduleRefresh(): void {
    const { srv } = this.#servers
    const { clock, srvRefreshInterval } = this.#settings
    clock.clearTimeout(this.#refreshTimer)
    if (srv !== undefined) this.#refreshTimer = clock.setTimeout(() => this.#refresh(srv), srvRefreshInterval)
  }

  /** Looks up the records again, and leaves the present host if their hosts require it. Ignores a failure. */
  #refresh(srv: string): void {
    const replace = (hosts: readonly Address[] | undefined) => {
      if (hosts === undefined || this.#hasEnded || this.#servers.srv !== srv) return
      if (this.#onLookedUp(hosts, this.#current)) this.#owner.leave(SERVERS_CHANGED)
    }
    this.#lookUp(srv, this.#settings.attemptTimeout)
      .then(replace, () => undefined)
      .finally(() => {
        if (!this.#hasEnded) this.#scheduleRefresh()
      })
  }
}
