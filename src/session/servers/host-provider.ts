// The servers of one session. Decides which server is tried next and when, and when to leave a working connection for
// another server.
// May import: transport, protocol, runtime.
import type { Clock } from '../../runtime/clock.ts'
import { hostPortOf } from '../../runtime/host-port.ts'
import type { Random } from '../../runtime/random.ts'
import { badArguments, type ZooKeeperError } from '../../protocol/index.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import { Backoff } from './backoff.ts'
import type { ConnectString } from './connect-string.ts'
import { FailedAttempts, type AttemptFailure } from './failed-attempts.ts'
import { HostList } from './hosts.ts'
import { answering, HostSearch, writable, type Search } from './host-search.ts'
import type { NewSrvHosts, SrvHosts } from './srv-hosts.ts'

/** The parts of a session that the provider uses. */
export interface HostProviderOwner {
  /** Returns the milliseconds within which a server must accept the session. */
  timeToConnect(): number
  /** @param timeout how long the attempt may take, in milliseconds */
  dial(host: Address, timeout: number): void
  /** Ends the connection, or the attempt at one, and calls {@link HostProvider.dialNext} without a pause. */
  leaveServer(reason: string): void
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
  newSrvHosts: NewSrvHosts | undefined
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
  /** Created with the first connect string that names SRV records. */
  #srv: SrvHosts | undefined

  /**
   * @throws ZooKeeperError BADARGUMENTS if the hosts are SRV records and {@link HostProviderSettings.newSrvHosts}
   * is undefined
   */
  constructor(servers: Servers, settings: HostProviderSettings, owner: HostProviderOwner) {
    this.#settings = settings
    this.#owner = owner
    this.#servers = servers
    this.#followSrv(servers)
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
    if (this.#servers.srv === undefined) return this.dialKnown()
    const timeout = this.#attemptTimeout
    this.#backoff.onAttempt(this.#settings.clock.now(), timeout)
    void this.#srv?.lookUpAndDial(timeout)
  }

  /** A server has accepted the session, and SASL, if any, is complete. */
  onConnected(isReadOnly: boolean): void {
    this.#backoff.onConnected(this.#settings.clock.now())
    if (this.#current !== undefined) this.#hosts.onConnected(this.#current)
    this.#failed = undefined
    if (isReadOnly) this.#searchWritable()
    this.#srv?.scheduleRefresh()
  }

  /** The session has left its connection of its own accord. */
  onServerLeft(): void {
    this.#stop()
    this.#backoff.onServerLeft()
  }

  /**
   * The connection was lost, or the attempt failed. Returns how many milliseconds to wait before {@link dialNext}, and
   * if no attempt is likely to succeed soon, the code of the error for a session that has never been connected.
   */
  onConnectionLost(failure: AttemptFailure): { pause: number; givesUp?: 'PROTOCOL' | 'NOSERVER' | 'ACCESSDENIED' } {
    const { clock, random, waitsForServers } = this.#settings
    this.#stop()
    if (!this.#backoff.isConnected && this.#current !== undefined) this.#hosts.onFailed(this.#current)
    this.#backoff.onConnectionLost(clock.now())
    const names = this.#names
    const failed = (this.#failed ??= new FailedAttempts())
    failed.add(this.#current === undefined ? (names[0] ?? '') : hostPortOf(this.#current), failure)
    const outlook = failed.outlookOf(names)
    const pause = this.#backoff.pause(this.#hosts.roundLength, this.#owner.timeToConnect(), random)
    if (outlook === 'permanent') return { pause, givesUp: failure.code ?? 'PROTOCOL' }
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
    this.#owner.leaveServer(reason)
  }

  /**
   * Replaces the list of servers. Leaves the present host if it is not in the new list, or if the load must be
   * balanced.
   * @throws ZooKeeperError BADARGUMENTS as the constructor
   */
  setServers(servers: Servers): void {
    this.#followSrv(servers)
    this.#servers = servers
    if (servers.srv === undefined) this.#replace(servers.hosts)
    else this.#srv?.refresh()
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
    this.#stop()
    this.#srv?.end()
  }

  #stop(): void {
    this.#search?.stop()
    this.#srv?.stopRefreshing()
  }

  #followSrv({ srv }: Servers): void {
    if (srv !== undefined) this.#srv ??= this.#settings.newSrvHosts?.(this.#settings, this)
    if (srv !== undefined && this.#srv === undefined)
      throw badArguments(
        'connect',
        '',
        'this connect() looks up no SRV records: name hosts, or use connect() of zkwire',
      )
    this.#srv?.follow(srv)
  }

  /** Dials the next host of those that are known, and looks up nothing. */
  dialKnown(): void {
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
        this.#owner.leaveServer(`${hostPortOf(host)} takes writes`)
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
    if (this.#hosts.replace(hosts, this.#current, fallback)) this.#owner.leaveServer(SERVERS_CHANGED)
  }

  // Called by the SrvHosts

  /** True if it has a host to dial. */
  get hasHosts(): boolean {
    return this.#hosts.all.length > 0
  }

  /**
   * Uses the hosts as the list, or if the ensemble's configuration has named hosts, only as a fallback.
   * @param mayLeave true if the session leaves its present host when the list requires it
   */
  onLookedUp(hosts: readonly Address[], mayLeave: boolean): void {
    if (this.#servers.configured !== undefined) this.#hosts.setFallback(hosts)
    else if (mayLeave) this.#replace(hosts)
    else this.#hosts.replace(hosts, undefined)
  }

  /** There is no host to dial, because the lookup has failed. */
  onLookupFailed(cause: ZooKeeperError, failure: AttemptFailure): void {
    this.#owner.onConnectionLost(cause, failure)
  }
}
