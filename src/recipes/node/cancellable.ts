// A call that can be given up: it rejects at once, and what it had begun is undone behind it.
import { checked, clockOf, inBackground, readProblem } from '../../client/recipe-support.ts'
import { onAbort } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { LockError } from './lock-error.ts'

export interface WaitOptions {
  /** Gives up; the call rejects with the signal's reason. */
  signal?: AbortSignal
  /** Milliseconds for the whole call, from 0, after which it rejects with a LockError TIMEOUT. Default: no limit. */
  timeout?: number
}

/** What setTimeout can count. */
const LONGEST_TIMEOUT = 0x7fff_ffff

/** Nobody sees it, and to make a reason takes as long as to send a request. */
const OVER = new Error('the attempt is over')

/**
 * @param lock its path, for errors
 * @param work hears by its signal that it was given up or, for what it left armed, that it has ended
 * @param undo cleans up behind a work that was given up or failed; it is handed what the work comes to
 * @throws ZooKeeperError BADARGUMENTS where the options, the timeout or the signal are none, before anything is done
 */
export async function cancellable<T>(
  client: Client,
  lock: string,
  options: WaitOptions,
  work: (signal: AbortSignal) => Promise<T>,
  undo: (done: Promise<T>) => Promise<void>,
): Promise<T> {
  const { signal, timeout = Infinity } = checked('acquire', lock, options, waitOptionsProblem)
  signal?.throwIfAborted()
  const scope = new AbortController()
  const givenUp = new Promise<never>((_, reject) => {
    onAbort(scope.signal, () => reject(scope.signal.reason as Error))
  })
  const stopListening = onAbort(signal, () => scope.abort(signal?.reason))
  const giveUp = () => scope.abort(new LockError('TIMEOUT', lock))
  const timer = timeout <= LONGEST_TIMEOUT ? clockOf(client).setTimeout(giveUp, timeout) : undefined
  const done = work(scope.signal)
  try {
    return await Promise.race([done, givenUp])
  } catch (error) {
    inBackground(client, undo(done))
    throw error
  } finally {
    clockOf(client).clearTimeout(timer)
    stopListening()
    scope.abort(OVER)
  }
}

function waitOptionsProblem(options: WaitOptions): string | undefined {
  const problem = readProblem(options)
  if (problem !== undefined) return problem
  const { timeout = Infinity } = options
  const isNumber = typeof timeout === 'number' && timeout >= 0
  return isNumber ? undefined : `a timeout is in milliseconds, from 0, not ${timeout}`
}
