// Runs a function once in each session, one session after another.
import { forwardAbort, onAbort } from '../runtime/abort.ts'
import { pause } from '../runtime/pause.ts'
import { badArguments, isCode, printable, ZooKeeperError } from '../protocol/index.ts'
import { backoff, LONGEST_DELAY } from '../session/servers/backoff.ts'
import { parseConnectString } from '../session/servers/connect-string.ts'
import { internals, type Client } from './client.ts'
import type { Opening, Target } from './connect.ts'
import { LostSessions } from './lost-sessions.ts'
import type { CommonOptions, Settings } from './options.ts'
import { Outages } from './outages.ts'

/**
 * The task of supervise().
 * @param signal aborts when the session has ended or must be presumed lost, and when `options.signal` aborts
 * @example
 * const task: SessionTask<string> = async (zk, signal) => {
 *   const held = await new Mutex(zk, '/locks/report').acquire({ signal })
 *   return held.path
 * }
 * await supervise('localhost:2181', {}, task) // => /^\/locks\/report\/_c_.*-lock-0000000000$/
 */
export type SessionTask<T> = (client: Client, signal: AbortSignal) => T | Promise<T>

/** Opens a session, as an entry point does. */
export type Open<O> = (target: Target, options: O, opening?: Opening) => Promise<Client>

/** Implements supervise() for an entry point, which has its own way to open a session. */
export async function superviseWith<O extends CommonOptions, T>(
  open: Open<O>,
  settingsOf: (options: O) => Settings,
  servers: string,
  given: O,
  task: SessionTask<T>,
): Promise<T> {
  if (typeof task !== 'function') throw badArguments('supervise', '', 'the task must be a function')
  const { clock, random, connectTimeout } = settingsOf(given)
  const options = keptOptions(given)
  const stop = options.signal ?? undefined
  let target: Target = parseConnectString(servers)
  let next = options
  let failures = 0
  const outages = Outages.of(options, clock)
  const lost = new LostSessions(resuming => open(target, { ...options, onOutage: undefined, ...resuming }))
  const taskAfterLost: SessionTask<T> = async (client, signal) => {
    const closing = client.whenConnected({ signal }).then(() => lost.closeAll(signal), ignore)
    // On a read-only server the task runs at once, because no session can be closed there.
    if (client.state !== 'connectedReadOnly') await closing
    signal.throwIfAborted()
    return task(client, signal)
  }
  for (;;) {
    const startedAt = clock.now()
    const client = await open(target, next, { outages }).catch((error: unknown) => {
      if (!isCode(error, 'CONNECTTIMEOUT', 'NOSERVER', 'SESSIONEXPIRED')) throw error
      // Otherwise a service with a wrong port would wait for ever without any message.
      const isFirst = next === options && !isCode(error, 'SESSIONEXPIRED')
      if (isFirst && options.onConnectionError == null && outages === undefined) warn(error)
      return undefined
    })
    if (client !== undefined) {
      const outcome = await run(client, stop, taskAfterLost)
      if (outcome !== LOST) return outcome
      lost.add(client)
      // The task may have called updateServerList(), and the ensemble's configuration may have changed.
      target = { ...client[internals]().session.hosts.servers, chroot: target.chroot }
    }
    // Includes the time to open the session, even if that failed.
    failures = clock.now() - startedAt > LONGEST_DELAY ? 0 : failures + 1
    // A session to resume is for the first run only. With connectTimeout, a session waits for servers that are down.
    next = { ...options, session: undefined, connectTimeout }
    await pause(clock, backoff(failures, random), stop)
    stop?.throwIfAborted()
  }
}

/** Returns options that the caller cannot change: later sessions use them too, when it may have erased its secrets. */
export const keptOptions = <O extends CommonOptions & { readonly tls?: unknown }>(options: O): O => ({
  ...options,
  auth: copyOfBytes(options.auth),
  acl: copyOfBytes(options.acl),
  tls: copyOfBytes(options.tls),
})

/** Copies bytes, and the lists and plain objects that contain them. Returns everything else itself. */
function copyOfBytes<T>(value: T): T {
  const copy = (): unknown => {
    if (value instanceof Uint8Array) return Buffer.from(value)
    if (Array.isArray(value)) return value.map(copyOfBytes)
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isPlain ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOfBytes(each)])) : value
  }
  return copy() as T
}

const warn = ({ message }: ZooKeeperError): void =>
  process.emitWarning(printable(`supervise() keeps trying to connect. ${message}`), { code: 'ZKWIRE_UNREACHABLE' })

const ignore = (): void => undefined

const LOST = Symbol('the session was lost')

/** Runs the task in one session. Returns its result, or LOST if the session was lost first. */
async function run<T>(client: Client, stop: AbortSignal | undefined, task: SessionTask<T>): Promise<T | typeof LOST> {
  const { leaseSignal } = client
  const endings = stop === undefined ? [leaseSignal] : [leaseSignal, stop]
  const stopListening = closeWhenStoppedOffline(client, stop)
  // Not AbortSignal.any(): in Node 20 the caller's signal would keep an entry for each session.
  const ending = new AbortController()
  const forwarding = endings.map(signal => forwardAbort(signal, ending))
  try {
    const value = await task(client, ending.signal)
    // The task may have closed the session itself, or have begun to close it.
    const hasClosed = client.state === 'closed' || isCode(leaseSignal.reason, 'CLOSED')
    if (!endings.some(signal => signal.aborted) || hasClosed) {
      stop?.throwIfAborted()
      return value
    }
  } catch (error) {
    if (!endings.some(signal => signal.aborted)) throw error
  } finally {
    stopListening()
    await client.close()
    for (const stopForwarding of forwarding) stopForwarding()
  }
  stop?.throwIfAborted()
  if (client.state === 'authFailed') throw new ZooKeeperError('AUTHFAILED', { op: 'supervise', fate: 'notSent' })
  return LOST
}

/**
 * Closes the client when `stop` has aborted and there is no connection. Otherwise the task could not end, because the
 * release of a lock waits for a server. Returns a function that stops listening.
 */
function closeWhenStoppedOffline(client: Client, stop: AbortSignal | undefined): () => void {
  const onChange = () => {
    if (stop?.aborted && client.state === 'suspended') void client.close()
  }
  client.on('state', onChange)
  const stopListening = onAbort(stop, onChange)
  return () => {
    client.off('state', onChange)
    stopListening()
  }
}
