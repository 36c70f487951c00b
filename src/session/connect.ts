// From a connect string to a client.
import type { Clock } from '../machine/clock.ts'
import { ZooKeeperError } from '../protocol/index.ts'
import { onAbort } from './abort.ts'
import { Client } from './client.ts'
import { parseConnectString } from './connect-string.ts'
import { followReconfig } from './reconfig-following.ts'
import { settingsOf, type ConnectOptions } from './options.ts'
import { Session } from './session.ts'
import { isTerminal, terminalCodes } from './states.ts'

/**
 * Opens a session with one of the servers, tried in an order of chance and over again until one gives it.
 * @param servers `zk1:2181,zk2:2181,[::1]:2181/app`: hosts, with 2181 where no port is named, and at the end a chroot; or
 * `dns-srv://_zookeeper._tcp.example.org/app`, whose SRV records name them, looked up before each attempt and while there is a connection
 * @throws ZooKeeperError BADARGUMENTS; CONNECTTIMEOUT, whose `cause` is what ended the last attempt; PROTOCOL, before that
 * time is over, when every host has failed in turn for a reason that will stay: a certificate that is not valid, a server that wants one,
 * TLS on one side only; SESSIONEXPIRED of a session that was handed in; AUTHFAILED; the signal's reason
 */
export async function connect(servers: string, options: ConnectOptions = {}): Promise<Client> {
  const connectString = parseConnectString(servers)
  const settings = settingsOf(options)
  const { signal } = options
  signal?.throwIfAborted()
  const session = new Session(connectString, settings)
  await opened(session, settings.connectTimeout, settings.clock, signal)
  const client = new Client(session, settings, connectString.chroot)
  // A view of its own: the caller may remove the client's watches on that node.
  if (settings.followReconfig) followReconfig(client.chroot('/'), session.route).catch(settings.onCallbackError)
  return client
}

function opened(
  session: Session,
  connectTimeout: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clock.clearTimeout(timer)
      stopListening()
      session.states.off(onState)
      settle()
    }
    const giveUp = (reason: unknown) =>
      finish(() => {
        reject(reason)
        session.abandon()
      })
    const onState = () => {
      const { state } = session
      // Nobody has closed it: the session gave up.
      if (state === 'closed') finish(() => reject(session.lastCause ?? failure('CLOSED')))
      else if (isTerminal(state)) finish(() => reject(failure(terminalCodes[state])))
      else finish(resolve)
    }
    const failure = (code: 'CONNECTTIMEOUT' | (typeof terminalCodes)[keyof typeof terminalCodes]) =>
      new ZooKeeperError(code, { op: 'connect', fate: 'notSent', cause: session.lastCause })
    const timer = clock.setTimeout(() => giveUp(failure('CONNECTTIMEOUT')), connectTimeout)
    const stopListening = onAbort(signal, () => giveUp(signal?.reason))
    session.states.on(onState)
    session.route.begin()
  })
}
