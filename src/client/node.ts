// connect() and supervise() of `zkwire`, for Node, Bun and Deno: TCP, TLS, SRV records, the ensemble's configuration.
import { systemRandom } from '../runtime/random.ts'
import { badArguments } from '../protocol/index.ts'
import { mustBe, type Checks } from '../protocol/option-checks.ts'
import { srvLookup } from '../session/servers/srv.ts'
import { resolveSrv, type ResolveSrv } from '../transport/srv.ts'
import { detectPlaintext, detectTls } from '../transport/tls-mismatch.ts'
import { dialTls, type TlsOptions } from '../transport/tls.ts'
import { shuffledLookup, systemLookup, tcp } from '../transport/tcp.ts'
import type { Dial } from '../transport/transport.ts'
import type { Client } from './client.ts'
import { openSession } from './connect.ts'
import { checkOptions, commonChecks, optional, settingsOf, type CommonOptions, type Settings } from './options.ts'
import { followEnsemble } from './reconfig-following.ts'
import { superviseWith, type SessionTask } from './supervise.ts'

export interface ConnectOptions extends CommonOptions {
  /**
   * Speaks TLS: true, or options of node:tls (`ca`, `cert`, `key`, …). Each certificate is verified against the host as the
   * connect string names it, unless `rejectUnauthorized: false` is given here. Version 1.2 at least; never plaintext.
   * Default false.
   */
  tls?: boolean | TlsOptions
  /** Opens the byte stream. Default: TCP through node:net, or with `tls` TLS through node:tls. */
  dial?: Dial
  /**
   * Follows the servers that the ensemble's dynamic configuration names: the client watches /zookeeper/config and updates
   * its list of servers. Servers that name no client port are left out. The servers of the connect string are tried if none
   * of the configuration can be reached. The configuration names plaintext ports, so it is refused together with `tls`.
   * Default false.
   */
  followEnsemble?: boolean
  /** How often the SRV records of a `dns-srv://` connect string are looked up while connected, ms. Default 60 000. */
  srvRefreshInterval?: number
  /** Looks up SRV records. Default: node:dns. */
  resolveSrv?: ResolveSrv
}

const checks: Checks<ConnectOptions> = {
  ...commonChecks,
  tls: optional.orNull(
    mustBe('true, false or options of node:tls', value => ['boolean', 'object'].includes(typeof value)),
  ),
  dial: optional.function,
  followEnsemble: optional.boolean,
  srvRefreshInterval: optional.number,
  resolveSrv: optional.function,
}

/**
 * Opens a session with one of the servers, which are tried in random order, again and again, until one gives it.
 * @param servers `zk1:2181,zk2:2181,[::1]:2181/app`: hosts, with 2181 as the default port, and a chroot at the end; or
 * `dns-srv://_zookeeper._tcp.example.org/app`, whose SRV records name the hosts and are looked up before each attempt
 * @throws ZooKeeperError BADARGUMENTS; CONNECTTIMEOUT, whose `cause` is what ended the last attempt; PROTOCOL, earlier than
 * that, if every host has failed in turn for a reason that will stay: a certificate that is not valid, a server that requires
 * one, TLS on one side only; SESSIONEXPIRED for a session that was to be resumed; AUTHFAILED; the reason of `signal`
 */
export function connect(servers: string, options: ConnectOptions = {}): Promise<Client> {
  return openSession(servers, options, nodeSettingsOf, (client, session, { onUncaughtError }) => {
    // A view of its own, because the caller may remove the client's watches on that node.
    if (options.followEnsemble === true) followEnsemble(client.chroot('/'), session.hosts).catch(onUncaughtError)
  })
}

/**
 * Opens a session and runs `task` with it; when the session is lost, opens another one and runs it again, for ever. Each
 * run makes anew what belongs to a session (locks, ephemeral nodes, watches), so that nothing of a lost session is used.
 *
 * The `signal` that `task` gets aborts when its session has ended or must be presumed lost, and when `options.signal`
 * aborts. The task must end then: the next run starts after it, never at the same time.
 * @param options as for `connect`; a `session` in them is for the first run only. Their `signal` ends everything.
 * @returns what `task` returns while its session is alive; the session is closed then
 * @throws what `task` throws while its session is alive; AUTHFAILED and BADARGUMENTS of connecting; PROTOCOL if no server
 * can ever be spoken to (a certificate that is not valid, TLS on one side only); the reason of `options.signal`. A server that
 * cannot be reached, and a lost session, are no errors here: another attempt follows after a growing pause of 50 ms to 2 s.
 */
export function supervise<T>(servers: string, options: ConnectOptions, task: SessionTask<T>): Promise<T> {
  return superviseWith(connect, nodeSettingsOf, servers, options, task)
}

/** @throws ZooKeeperError BADARGUMENTS */
export function nodeSettingsOf(options: ConnectOptions): Settings {
  checkOptions(options, checks)
  return settingsOf(options, {
    dial: dialOf(options),
    lookUpSrv: srvLookup(options.resolveSrv ?? resolveSrv),
    srvRefreshInterval: options.srvRefreshInterval ?? 60_000,
  })
}

/** One dial for all sessions that use the system's randomness. */
const dialTcpShuffled = tcp({ random: systemRandom })

function dialOf(options: ConnectOptions): Dial {
  const [dial, tls, random] = [options.dial ?? undefined, options.tls ?? false, options.random ?? systemRandom]
  if (options.followEnsemble === true && tls !== false)
    throw bad('followEnsemble leads to plaintext ports, so it cannot be combined with tls')
  // A dial without TLS must not silently take the place of TLS.
  if (dial !== undefined && tls !== false) throw bad('tls is for the default dial only: let your dial speak TLS itself')
  if (dial !== undefined) return dial
  if (tls === false) return detectTls(random === systemRandom ? dialTcpShuffled : tcp({ random }))
  try {
    return detectPlaintext(dialTls({ lookup: shuffledLookup(systemLookup, random), ...(tls === true ? {} : tls) }))
  } catch (error) {
    // For an argument of a wrong type node:tls shows the value, which may be a passphrase.
    throw bad(`tls: ${(error as Error).message.replace(/\bReceived .*/s, '').trim()}`)
  }
}

const bad = (detail: string) => badArguments('connect', '', detail)
