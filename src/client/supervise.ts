// Runs a function once in each session, one session after another.
import { onAbort } from '../runtime/abort.ts'
import type { Clock } from '../runtime/clock.ts'
import { badArguments, isCode, ZooKeeperError } from '../protocol/index.ts'
import { backoff } from '../session/servers/backoff.ts'
import type { Client } from './client.ts'
import type { CommonOptions, Settings } from './options.ts'

/**
 * The task of supervise().
 * @param signal aborts when the session has ended or must be presumed lost, and when `options.signal` aborts
 */
export type SessionTask<T> = (client: Client, signal: AbortSignal) => T | Promise<T>

type Connect<O> = (servers: string, options: O) => Promise<Client>

/**
 * If a run took longer than this, in milliseconds, the pause before the next one is short again. A run includes opening
 * the session, even if that fails.
 */
const LONG_ENOUGH = 10_000

/** Implements supervise() for an entry point, with its own connect(). */
export async function superviseWith<O extends CommonOptions, T>(
  connect: Connect<O>,
  settingsOf: (options: O) => Settings,
  servers: string,
  options: O,
  task: SessionTask<T>,
): Promise<T> {
  if (typeof task !== 'function') throw badArguments('supervise', '', 'the task must be a function')
  const { clock, random } = settingsOf(options)
  let failures = 0
  let next = options
  for (;;) {
    const startedAt = clock.now()
    const outcome = await run(connect, servers, next, task)
    if (outcome !== LOST) return outcome
    failures = clock.now() - startedAt > LONG_ENOUGH ? 0 : failures + 1
    // A session to resume is for the first run only.
    next = { ...options, session: undefined }
    await pause(backoff(failures, random), clock, options.signal ?? undefined)
  }
}

const LOST = Symbol('the session was lost')

/** Runs the task in one session. Returns its result, or LOST if the session was lost first. */
async function run<O extends CommonOptions, T>(
  connect: Connect<O>,
  servers: string,
  options: O,
  task: SessionTask<T>,
): Promise<T | typeof LOST> {
  let client: Client
  try {
    client = await connect(servers, options)
  } catch (error) {
    if (isCode(error, 'CONNECTTIMEOUT', 'SESSIONEXPIRED')) return LOST
    throw error
  }
  const { leaseSignal } = client
  const endings = [leaseSignal, ...(options.signal ? [options.signal] : [])]
  try {
    const value = await task(client, AbortSignal.any(endings))
    // The task may have closed the session itself, or have begun to close it.
    const hasClosed = client.state === 'closed' || isCode(leaseSignal.reason, 'CLOSED')
    if (!endings.some(signal => signal.aborted) || hasClosed) {
      options.signal?.throwIfAborted()
      return value
    }
  } catch (error) {
    if (!endings.some(signal => signal.aborted)) throw error
  } finally {
    await client.close()
  }
  options.signal?.throwIfAborted()
  if (client.state === 'authFailed') throw new ZooKeeperError('AUTHFAILED', { op: 'supervise', fate: 'notSent' })
  return LOST
}

function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clock.clearTimeout(timer)
      stopListening()
      if (signal?.aborted) reject(signal.reason as Error)
      else resolve()
    }
    const timer = clock.setTimeout(end, ms)
    const stopListening = onAbort(signal, end)
    if (signal?.aborted) end()
  })
}
