// The servers of one session: which one is tried next, when, and when a good connection is left for another server.
// May import: transport, protocol, runtime.
import type { Random } from '../../runtime/random.ts'
import { ZooKeeperError } from '../../protocol/index.ts'
import type { Address, Dial } from '../../transport/transport.ts'
import type { ConnectString } from './connect-string.ts'
import { Backoff } from './backoff.ts'
import { HostList } from './hosts.ts'
import { lookUp, type SrvSettings } from './srv.ts'
import { WritableSearch } from './writable-search.ts'

export interface HostProviderOwner {
  /** Tries {@link HostProvider.next}. */
  dial(): void
  /** Drops its connection, or its attempt at one, to be told to dial again. */
  moveAway(reason: string): void
  /** There is no host to dial. */
  onConnectionLost(cause: ZooKeeperError, isFinal: boolean): void
}

export interface HostProviderSettings extends SrvSettings {
  dial: Dial
  random: Random
  srvRefreshInterval: number
}

export class HostProvider {
  readonly #settings: HostProviderSettings
  readonly #owner: HostProviderOwner
  /** Made on a read-only server. */
  #search: WritableSearch | undefined
  readonly #hosts: HostList
  /** What the user named: hosts, or SRV records in their place. */
  #named: Pick<ConnectString, 'hosts' | 'srv'>
  #isFollowing = false
  /** Tried last: connected to, or being dialled. */
  #current: Address | undefined
  /** To be tried before any other. */
  #preferred: Address | undefined
  readonly #attempts = new Backoff()
  /** It has its connection dropped by choice. */
  #isMoving = false
  #isOver = false
  #timer: unknown
  #refreshTimer: unknown

  constructor(named: ConnectString, settings: HostProviderSettings, traveller: HostProviderOwner) {
    this.#settings = settings
    this.#owner = traveller
    this.#named = named
    this.#hosts = new HostList(named.hosts, settings.random)
  }

  start(): void {
    if (this.#named.srv === undefined) this.#owner.dial()
    else void this.#lookUpAndDial(this.#named.srv)
  }

  next(): Address {
    this.#current = this.#preferred ?? this.#hosts.next()
    this.#preferred = undefined
    return this.#current
  }

  /** A server gave the session. */
  onConnected(isReadOnly: boolean): void {
    this.#attempts.onConnected(this.#settings.clock.now())
    if (isReadOnly) this.#searchForOther()
    this.#refreshLater()
  }

  /** A server has answered. */
  onAnswer(): void {
    this.#attempts.onAnswer()
  }

  /**
   * The connection is over, or the attempt failed.
   * @param isFinal the same host will do the same again
   * @returns whether all hosts have failed so, one after the other
   */
  onConnectionLost(isFinal: boolean): boolean {
    const { clock } = this.#settings
    this.#search?.stop()
    clock.clearTimeout(this.#refreshTimer)
    const hopeless = this.#attempts.onConnectionLost(clock.now(), isFinal)
    return isFinal && hopeless >= this.#hosts.all.length
  }

  /** Has it dial again: at once where it left by choice. */
  retry(): void {
    const { clock, random } = this.#settings
    const pause = this.#isMoving ? 0 : this.#attempts.pause(random)
    this.#timer = clock.setTimeout(() => this.start(), pause)
  }

  /** Goes by another list of hosts, and to one of them where the load is to be spread or the present one is gone. */
  setServers(named: Pick<ConnectString, 'hosts' | 'srv'>): void {
    this.#named = named
    if (named.srv === undefined) this.#replace(named.hosts)
    else this.#refresh(named.srv)
  }

  /**
   * Goes by the hosts that the ensemble's configuration names, and by those of the connect string where none of them is reached.
   * @param isWhole the configuration tells of every server where it takes clients
   */
  setConfigured(hosts: readonly Address[], isWhole: boolean): void {
    const isFirst = !this.#isFollowing
    this.#isFollowing = true
    const current = this.#current
    const stays = isFirst || current === undefined || this.#hosts.mayBeAliasOf(hosts, current, isWhole)
    if (stays) this.#hosts.reset(hosts, this.#named.hosts)
    else this.#replace(hosts, this.#named.hosts)
  }

  end(): void {
    this.#isOver = true
    this.#search?.stop()
    for (const timer of [this.#timer, this.#refreshTimer]) this.#settings.clock.clearTimeout(timer)
  }

  #searchForOther(): void {
    this.#search ??= new WritableSearch(this.#settings, host => {
      this.#preferred = host
      this.#move(`${host.host}:${host.port} takes writes`)
    })
    // The present one too, where it is alone: its name may stand for several servers.
    this.#search.start(() => this.#hosts.allBut(this.#current))
  }

  #replace(hosts: readonly Address[], behind: readonly Address[] = []): void {
    if (this.#hosts.replace(hosts, this.#current, behind)) this.#move('the list of servers has changed')
  }

  #move(reason: string): void {
    this.#isMoving = true
    this.#owner.moveAway(reason)
    this.#isMoving = false
  }

  // SRV records

  /** The hosts of before do where the records cannot be had. */
  async #lookUpAndDial(srv: string): Promise<void> {
    try {
      const hosts = await lookUp(srv, this.#settings)
      if (this.#named.srv === srv) this.#hosts.replace(hosts, undefined)
    } catch (cause) {
      if (this.#isOver) return
      if (this.#hosts.all.length === 0) {
        const detail = `the SRV records of ${srv}`
        this.#owner.onConnectionLost(new ZooKeeperError('CONNECTIONLOSS', { fate: 'notSent', detail, cause }), false)
        return
      }
    }
    if (!this.#isOver) this.#owner.dial()
  }

  #refreshLater(): void {
    const { srv } = this.#named
    const { clock, srvRefreshInterval } = this.#settings
    clock.clearTimeout(this.#refreshTimer)
    if (srv !== undefined) this.#refreshTimer = clock.setTimeout(() => this.#refresh(srv), srvRefreshInterval)
  }

  /** While there is a connection. */
  #refresh(srv: string): void {
    const taken = (hosts: readonly Address[]) => {
      if (!this.#isOver && this.#named.srv === srv) this.#replace(hosts)
    }
    lookUp(srv, this.#settings)
      .then(taken, () => undefined)
      .finally(() => {
        if (!this.#isOver) this.#refreshLater()
      })
  }
}
