// Opens a session and makes its client, for all entry points.
import { onAbort } from '../runtime/abort.ts'
import { ZooKeeperError, type ErrorCode } from '../protocol/index.ts'
import { SaslFailure } from '../session/life/sasl.ts'
import { isConnected, isTerminal, terminalCodes, type TerminalState } from '../session/life/states.ts'
import type { Servers } from '../session/servers/host-provider.ts'
import { Session } from '../session/session.ts'
import { Client } from './client.ts'
import type { CommonOptions, Settings } from './options.ts'
import { Outages, type Outage } from './outages.ts'

/** The servers of a session, and the root of its client in their tree. */
export type Target = Servers & { readonly chroot: string }

/** What a session needs beside its options. */
export interface Opening {
  /** Those of earlier sessions that this one replaces. */
  readonly outages?: Outages | undefined
  /**
   * Called with the client at once, before any attempt to connect. What it calls meanwhile is sent together with the
   * handshake: see {@link SessionSettings.sendsAhead}.
   */
  readonly onClient?: ((client: Client) => void) | undefined
}

/**
 * Opens a session with one of the servers. Rejects as `connect` of `zkwire` does, also for invalid options.
 * @param settingsOf checks the options of the entry point and fills in the defaults
 * @param onSession called before the promise resolves
 */
export function openSession<O extends CommonOptions>(
  target: Target,
  options: O,
  settingsOf: (options: O) => Settings,
  { outages, onClient }: Opening = {},
  onSession?: (client: Client, session: Session, settings: Settings) => void,
): Promise<Client> {
  return new Promise((resolve, reject) => {
    const settings = settingsOf(options)
    settings.sendsAhead = onClient !== undefined
    const { clock, connectTimeout } = settings
    const signal = options.signal ?? undefined
    signal?.throwIfAborted()
    const session = openWithOutages(target, settings, outages ?? Outages.of(options, clock))
    const client = onClient && new Client(session, settings, target.chroot)
    const end = () => {
      clock.clearTimeout(timer)
      stopListening()
      session.states.off(onState)
    }
    const cancel = (reason: unknown) => {
      end()
      reject(reason)
      session.destroy()
    }
    const onState = () => {
      end()
      if (isTerminal(session.state)) {
        reject(failureOf(session, session.state))
        return
      }
      const opened = client ?? new Client(session, settings, target.chroot)
      onSession?.(opened, session, settings)
      resolve(opened)
    }
    const onTimeout = () => {
      const detail = `${connectTimeout} ms; ${session.hosts.describeFailures()}`
      cancel(failure(session, 'CONNECTTIMEOUT', detail))
    }
    const timer = clock.setTimeout(onTimeout, connectTimeout)
    const stopListening = onAbort(signal, () => cancel(signal?.reason))
    session.states.on(onState)
    if (client !== undefined) onClient?.(client)
    session.hosts.dialNext()
  })
}

/** Makes a session that reports its lost connections, failed attempts and new connections to `outages` too. */
function openWithOutages(target: Target, settings: Settings, outages: Outages | undefined): Session {
  if (outages === undefined) return new Session(target, settings)
  const tell = (outage: Outage | undefined) => {
    if (outage !== undefined) session.callbacks.now(outages.onOutage, outage)
  }
  const onConnectionError = (error: ZooKeeperError) => {
    tell(outages.onError(error))
    return settings.onConnectionError?.(error)
  }
  const session = new Session(target, { ...settings, onConnectionError })
  session.states.on(state => {
    if (isConnected(state)) tell(outages.onConnected())
  })
  return session
}

/** Returns why no session was established. Here the state is `closed` only if the session has given up. */
function failureOf(session: Session, state: TerminalState): ZooKeeperError {
  const { lastCause } = session
  if (state === 'closed' && lastCause !== undefined) return lastCause
  return failure(session, terminalCodes[state], lastCause instanceof SaslFailure ? lastCause.reason : '')
}

const failure = (session: Session, code: ErrorCode, detail = ''): ZooKeeperError =>
  new ZooKeeperError(code, { op: 'connect', fate: 'notSent', detail, cause: session.lastCause })
