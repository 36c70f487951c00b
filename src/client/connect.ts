// From a connect string to a client.
import { ZooKeeperError, type ErrorCode } from '../protocol/index.ts'
import { onAbort } from '../runtime/abort.ts'
import { Client } from './client.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import { followEnsemble } from './reconfig-following.ts'
import { settingsOf, type ConnectOptions, type Settings } from './options.ts'
import { Session } from '../session/session.ts'
import { isTerminal, terminalCodes, type TerminalState } from '../session/life/states.ts'

/**
 * Opens a session with one of the servers, tried in an order of chance and over again until one gives it.
 * @param servers `zk1:2181,zk2:2181,[::1]:2181/app`: hosts, with 2181 where no port is named, and at the end a chroot; or
 * `dns-srv://_zookeeper._tcp.example.org/app`, whose SRV records name them, looked up before each attempt and while there is a connection
 * @throws ZooKeeperError BADARGUMENTS; CONNECTTIMEOUT, whose `cause` is what ended the last attempt; PROTOCOL, before that
 * time is over, when every host has failed in turn for a reason that will stay: a certificate that is not valid, a server that wants one,
 * TLS on one side only; SESSIONEXPIRED of a session that was handed in; AUTHFAILED; the signal's reason
 */
export function connect(servers: string, options: ConnectOptions = {}): Promise<Client> {
  return new Promise((resolve, reject) => {
    const connectString = parseConnectString(servers)
    const settings = settingsOf(options)
    const { clock, connectTimeout } = settings
    const { signal } = options
    signal?.throwIfAborted()
    const session = new Session(connectString, settings)
    const end = () => {
      clock.clearTimeout(timer)
      stopListening?.()
      session.states.off(onState)
    }
    const giveUp = (reason: unknown) => {
      end()
      reject(reason)
      session.destroy()
    }
    const onState = () => {
      end()
      if (isTerminal(session.state)) reject(failureOf(session, session.state))
      else resolve(clientOf(session, settings, connectString.chroot))
    }
    const timer = clock.setTimeout(() => giveUp(failure(session, 'CONNECTTIMEOUT')), connectTimeout)
    const stopListening = signal && onAbort(signal, () => giveUp(signal.reason))
    session.states.on(onState)
    session.hosts.start()
  })
}

function clientOf(session: Session, settings: Settings, chroot: string): Client {
  const client = new Client(session, settings, chroot)
  // A view of its own: the caller may remove the client's watches on that node.
  if (settings.followEnsemble) followEnsemble(client.chroot('/'), session.hosts).catch(settings.onUncaughtError)
  return client
}

/** Where nobody has closed it, a session that is closed gave up. */
const failureOf = (session: Session, state: TerminalState): ZooKeeperError =>
  (state === 'closed' ? session.lastCause : undefined) ?? failure(session, terminalCodes[state])

const failure = (session: Session, code: ErrorCode): ZooKeeperError =>
  new ZooKeeperError(code, { op: 'connect', fate: 'notSent', cause: session.lastCause })
