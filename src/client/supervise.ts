// A function that runs as long as there is a session, and again on the next one.
import type { Clock } from '../runtime/clock.ts'
import { badArguments, isCode, ZooKeeperError } from '../protocol/index.ts'
import { onAbort } from '../runtime/abort.ts'
import type { Client } from './client.ts'
import { connect } from './connect.ts'
import { backoff } from '../session/servers/backoff.ts'
import { settingsOf, type ConnectOptions } from './options.ts'

export type SessionTask<T> = (client: Client, signal: AbortSignal) => T | Promise<T>

/** A session that lived this long before it ended was no failed start, ms. */
const SETTLED = 10_000

/**
 * Opens a session and runs `work` with it; when the session is lost, does so again on a new one, for ever. What belongs to a session
 * (locks, ephemeral nodes, watches) is made anew by each run, so that nothing of a dead one is taken for alive.
 *
 * The `signal` that `work` gets aborts when its session has ended or must be presumed lost, and when `options.signal` aborts. `work`
 * is to end then: the next run starts behind it, never beside it.
 *
 * @param options as of `connect`; a `session` in them is for the first run only. Their `signal` ends it all.
 * @returns what `work` returns while its session lives; the session is closed then
 * @throws what `work` throws while its session lives, the session closed; AUTHFAILED and BADARGUMENTS of connecting, and PROTOCOL where
 * no server of the list can ever be spoken to (a certificate that is not valid, TLS on one side only); the reason of `options.signal`. A server that cannot be reached and a session that is lost are no errors here: it tries again, after a growing pause
 * of 50 ms to 2 s.
 */
export async function supervise<T>(servers: string, options: ConnectOptions, work: SessionTask<T>): Promise<T> {
  if (typeof work !== 'function') throw badArguments('supervise', '', 'the work is a function')
  const { clock, random } = settingsOf(options)
  const { session, ...later } = options
  let failures = 0
  let next = session === undefined ? later : options
  for (;;) {
    const startedAt = clock.now()
    const outcome = await run(servers, next, work)
    if (outcome !== LOST) return outcome
    failures = clock.now() - startedAt > SETTLED ? 0 : failures + 1
    next = later
    await pause(backoff(failures, random), clock, options.signal ?? undefined)
  }
}

const LOST = Symbol('the session was lost')

/** One session's worth: what the work came to, or that the session was lost first. */
async function run<T>(servers: string, options: ConnectOptions, work: SessionTask<T>): Promise<T | typeof LOST> {
  let client: Client
  try {
    client = await connect(servers, options)
  } catch (error) {
    if (error instanceof ZooKeeperError && (error.code === 'CONNECTTIMEOUT' || error.code === 'SESSIONEXPIRED'))
      return LOST
    throw error
  }
  const { leaseSignal } = client
  const ending = [leaseSignal, ...(options.signal ? [options.signal] : [])]
  try {
    const value = await work(client, AbortSignal.any(ending))
    // The work may have closed the session itself, or be about to.
    if (!ending.some(signal => signal.aborted) || client.state === 'closed' || isCode(leaseSignal.reason, 'CLOSED')) {
      options.signal?.throwIfAborted()
      return value
    }
  } catch (error) {
    if (!ending.some(signal => signal.aborted)) throw error
  } finally {
    await client.close()
  }
  options.signal?.throwIfAborted()
  if (client.state === 'authFailed') throw new ZooKeeperError('AUTHFAILED', { op: 'supervise', fate: 'notSent' })
  return LOST
}

function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clock.clearTimeout(timer)
      stopListening()
      if (signal?.aborted) reject(signal.reason as Error)
      else resolve()
    }
    const timer = clock.setTimeout(done, ms)
    const stopListening = onAbort(signal, done)
    if (signal?.aborted) done()
  })
}
