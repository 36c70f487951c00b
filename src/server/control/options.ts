// What a test passes to a server and gets from it: options, faults, snapshots, a file.
// May import: server/database, options, protocol, runtime.
//
// Options of an embedded server. `tickTime` and the limits of the session timeout have the same names in zoo.cfg.
import { badArguments } from '../../protocol/index.ts'
import { aBoolean, aFunction, aString, mustBe, optionsProblem, type Checks } from '../../options/checks.ts'
import { systemClock, type Clock } from '../../runtime/clock.ts'
import type { TlsServerOptions } from '../../runtime/globals.d.ts'
import { systemRandom, type Random } from '../../runtime/random.ts'
import type { TransactionRecord } from '../database/database.ts'
import { behaviourOf, isKeeper, isVersion, type Behaviour } from '../database/version.ts'
import type { MemberMessage, MemberState } from './member-state.ts'

/**
 * Options of `Server.start()`. Numbers are whole and from 1 to 2147483647, unless another range is given.
 * @example
 * const options: ServerOptions = { listen: false, maxSessionTimeout: 10_000, superDigest: digest('super', 'secret') }
 * await using server = await Server.start(options)
 * await using zk = await connect(server.connectString, { dial: server.dial })
 * zk.sessionTimeout // => 10_000
 */
export interface ServerOptions {
  /** The TCP port, 0 to 65535. Default 0: a free port. */
  port?: number | undefined
  /**
   * The number of servers, 1 to 15. With more than one, they are an ensemble with one leader, and `server.members`
   * controls each of them. If `port` is not 0, they listen on this port and the next ones. Default 1.
   */
  servers?: number | undefined
  /**
   * The number of observers of the ensemble, 0 to 15. They follow the leader and serve clients, but have no vote, and
   * writes do not wait for them. They are the last of `server.members`. Default 0.
   */
  observers?: number | undefined
  /**
   * The number of ticks for which a server of an ensemble serves without a message of its leader, or of a majority.
   * Default 5, as in the zoo.cfg that comes with ZooKeeper.
   */
  syncLimit?: number | undefined
  /**
   * The least number of transactions that a server of an ensemble keeps for servers that lag; it keeps at most twice as many
   * (zookeeper.commitLogCount). A server that lacks more gets a snapshot of all nodes and sessions. Default 500, as in
   * ZooKeeper.
   */
  commitLogCount?: number | undefined
  /**
   * If true, a server of an ensemble serves reads to clients that accept a read-only server, when it has had no leader
   * for two seconds, or one tick if that is longer (readonlymode.enabled, with localSessionsEnabled). Default false.
   */
  readOnlyMode?: boolean | undefined
  /**
   * If true, a new session of an ensemble is known only to the server of its client, until it creates its first
   * ephemeral node (localSessionsEnabled, localSessionsUpgradingEnabled). It costs the leader nothing, but ends when its
   * client moves to another server. Default false.
   */
  localSessions?: boolean | undefined
  /** The address to listen on. Default '127.0.0.1', because the server accepts every client. */
  host?: string | undefined
  /** If true, accepts TCP connections. If false, clients can only connect with `server.dial`. Default true. */
  listen?: boolean | undefined
  /** The length of a tick, in milliseconds. Sessions expire only at whole ticks. Default 2 000. */
  tickTime?: number | undefined
  /** The shortest session timeout, in milliseconds, not greater than the longest. Default: two ticks. */
  minSessionTimeout?: number | undefined
  /** The longest session timeout, in milliseconds. Default: twenty ticks. */
  maxSessionTimeout?: number | undefined
  /**
   * The longest request, in bytes (jute.maxbuffer). The server closes the connection after a longer one. Default
   * 1 048 575.
   */
  maxRequestBytes?: number | undefined
  /**
   * Allows nodes with a ttl (zookeeper.extendedTypesEnabled). If false, they are rejected with UNIMPLEMENTED.
   * Default false, as in ZooKeeper.
   */
  extendedTypes?: boolean | undefined
  /**
   * If true, rejects a write that exceeds the hard limit of a quota with QUOTAEXCEEDED (zookeeper.enforceQuota). The
   * server counts the nodes and bytes of each quota in any case. Default false, as in ZooKeeper.
   */
  enforceQuota?: boolean | undefined
  /**
   * The interval between checks of containers and nodes with a ttl, in milliseconds (znode.container.checkIntervalMs).
   * Default 60 000.
   */
  containerCheckInterval?: number | undefined
  /**
   * The version of Apache ZooKeeper that the server copies where versions differ: 3.8.n or 3.9.n. docs/testing.md lists
   * the differences. Default '3.8.0'.
   */
  version?: string | undefined
  /**
   * The version of ClickHouse Keeper, such as '25.8', whose documented behaviour the server copies. It opens a new session
   * on each connection, in place of the one that the client offers, and closes the connection without a reply at an
   * operation that this version lacks. docs/keeper.md lists them. Default '': the server is Apache ZooKeeper.
   */
  keeper?: string | undefined
  /**
   * The digest id of the superuser, as `digest('super', password)` returns it
   * (zookeeper.DigestAuthenticationProvider.superDigest). The server checks no ACL for a client that has authenticated
   * as this user. Default '': there is no superuser.
   */
  superDigest?: string | undefined
  /**
   * The names and passwords of users that authenticate by SASL with DIGEST-MD5, as `digestMd5()` of `zkwire/sasl` does.
   * Default: the server has no SASL.
   */
  saslUsers?: Readonly<Record<string, string>> | undefined
  /**
   * If true, closes the connection of a client that sends another request before it has authenticated by SASL
   * (zookeeper.sessionRequireClientSASLAuth). Default false.
   */
  requireSasl?: boolean | undefined
  /**
   * Options of node:tls for a server, such as `cert` and `key`, and `requestCert` with `ca` to require a certificate of
   * the client. The port then accepts TLS only. `server.dial` never uses TLS. Default: no TLS.
   */
  tls?: TlsServerOptions | undefined
  /**
   * The path of a file. The server starts with the nodes, sessions and sequence numbers in it, if the file exists, and
   * `close()` writes them there. The file is JSON, and nodes can be written by hand: see docs/testing.md. Default: none.
   */
  dataFile?: string | undefined
  /**
   * Called with each committed transaction, before its events and its reply are sent. Transactions are all changes, and
   * the start and the end of each session. It is not called for a rejected request. An error that it throws becomes an
   * uncaught exception; the transaction stays committed. Default: none.
   */
  onTransaction?: ((transaction: TransactionRecord) => void) | undefined
  /**
   * Called in a microtask each time a server of an ensemble has another mode, zxid or epoch. An error that it throws
   * becomes an uncaught exception. Default: none.
   */
  onMemberChange?: ((member: MemberState) => void) | undefined
  /**
   * Called in a microtask each time a server of an ensemble sends a message to another one, even if the network between
   * them is cut and the message waits. An error that it throws becomes an uncaught exception. Default: none.
   */
  onMessage?: ((message: MemberMessage) => void) | undefined
  /** The source of time. Default: the system's clock. */
  clock?: Clock | undefined
  /** The source of random numbers, from 0 to less than 1. Default: the system's. */
  random?: Random | undefined
}

/** The options without which the server lacks a feature. */
type Feature = 'dataFile' | 'saslUsers' | 'tls' | 'onMessage'
export type Settings = { [K in Exclude<keyof ServerOptions, Feature>]-?: NonNullable<ServerOptions[K]> } & Pick<
  ServerOptions,
  Feature
> & { readonly behaviour: Behaviour }

const isFrom = (least: number, most: number) => (value: number) =>
  Number.isSafeInteger(value) && value >= least && value <= most
const positive = mustBe('a whole number from 1 to 2147483647', isFrom(1, 0x7fff_ffff))

const checks: Checks<ServerOptions> = {
  port: mustBe('a whole number from 0 to 65535', isFrom(0, 0xffff)),
  host: aString,
  servers: mustBe('a whole number from 1 to 15', isFrom(1, 15)),
  observers: mustBe('a whole number from 0 to 15', isFrom(0, 15)),
  syncLimit: positive,
  commitLogCount: positive,
  readOnlyMode: aBoolean,
  localSessions: aBoolean,
  listen: aBoolean,
  tickTime: positive,
  minSessionTimeout: positive,
  maxSessionTimeout: positive,
  maxRequestBytes: positive,
  extendedTypes: aBoolean,
  enforceQuota: aBoolean,
  containerCheckInterval: positive,
  version: mustBe("a version '3.8.n' or '3.9.n'", isVersion),
  keeper: mustBe("a version of ClickHouse Keeper, such as '25.8'", value => value === '' || isKeeper(value)),
  superDigest: mustBe(
    "what digest('super', password) returns, user:HASH: neither the password nor a line with -D",
    isDigest,
  ),
  saslUsers: mustBe('an object of names and passwords', isStrings),
  requireSasl: aBoolean,
  tls: mustBe('options of node:tls', (value: unknown) => typeof value === 'object' && value !== null),
  dataFile: mustBe('the path of a file', value => typeof value === 'string' && value !== ''),
  onTransaction: aFunction,
  onMemberChange: aFunction,
  onMessage: aFunction,
  clock: mustBe('a Clock', isClock),
  random: aFunction,
}

/** Returns true for '' and for the id of a SHA-1. No client could prove any other, and nothing would say so. */
function isDigest(value: unknown): boolean {
  if (value === '') return true
  const [, hash] = /^(?!.*superDigest=)[^:]*:(.{28})$/s.exec(String(value)) ?? []
  const bytes = Buffer.from(hash ?? '', 'base64')
  return typeof value === 'string' && bytes.length === 20 && bytes.toString('base64') === hash
}

function isStrings(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(each => typeof each === 'string')
}

function isClock(value: unknown): boolean {
  const methods: readonly (keyof Clock)[] = ['now', 'wallNow', 'setTimeout', 'clearTimeout']
  return (
    typeof value === 'object' && value !== null && methods.every(name => typeof (value as Clock)[name] === 'function')
  )
}

/** @throws ZooKeeperError BADARGUMENTS if an option is invalid */
export function settingsOf(options: ServerOptions): Settings {
  const problem = optionsProblem(options, checks)
  if (problem !== undefined) throw invalid(problem)
  const tickTime = options.tickTime ?? 2000
  const settings = {
    port: 0,
    host: '127.0.0.1',
    servers: 1,
    observers: 0,
    syncLimit: 5,
    commitLogCount: 500,
    readOnlyMode: false,
    localSessions: false,
    listen: true,
    minSessionTimeout: 2 * tickTime,
    maxSessionTimeout: 20 * tickTime,
    maxRequestBytes: 1_048_575,
    extendedTypes: false,
    enforceQuota: false,
    containerCheckInterval: 60_000,
    version: '3.8.0',
    keeper: '',
    superDigest: '',
    requireSasl: false,
    onTransaction: () => undefined,
    onMemberChange: () => undefined,
    clock: systemClock,
    random: systemRandom,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    tickTime,
  }
  const { minSessionTimeout, maxSessionTimeout } = settings
  // The defaults depend on tickTime, and can be out of range too.
  for (const name of ['minSessionTimeout', 'maxSessionTimeout'] as const) {
    const tooLong = positive(settings[name])
    if (tooLong !== undefined) throw invalid(`${name} ${tooLong}`)
  }
  if (minSessionTimeout > maxSessionTimeout)
    throw invalid(`minSessionTimeout ${minSessionTimeout} is greater than maxSessionTimeout ${maxSessionTimeout}`)
  const { port, servers, observers } = settings
  const count = servers + observers
  if (servers === 1 && observers > 0) throw invalid('a single server has no observers: servers must be 2 or more')
  if (port + count - 1 > 0xffff)
    throw invalid(`port ${port} and the next ones are too few for ${count} servers: the last port is 65535`)
  return { ...settings, behaviour: behaviourOf(settings.version, settings.keeper) }
}

const invalid = (detail: string) => badArguments('Server.start', '', detail)
