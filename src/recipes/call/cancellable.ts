// The calls of all recipes: their arguments, values, ends and errors. This file: a call that can be cancelled. It then
// rejects at once, and its effects are undone in the background.
// May import: client/index.ts, client/recipe-support.ts, options, protocol, runtime.
import { aSignal, aTimeout, checked, clockOf, inBackground, removedAt } from '../../client/recipe-support.ts'
import { ZooKeeperError } from '../../protocol/index.ts'
import type { Checks } from '../../options/checks.ts'
import { ENDED, onAbort, Scope, untilAborted } from '../../runtime/abort.ts'
import { LONGEST_TIMER } from '../../runtime/clock.ts'
import type { Client } from '../../client/index.ts'
import { RecipeError } from './recipe-error.ts'

/**
 * Options of all calls that can wait.
 * @example
 * await using held = await new Mutex(zk, '/locks/orders').acquire()
 * const options: WaitOptions = { timeout: 10, signal: AbortSignal.timeout(60_000) }
 * await new Mutex(other, '/locks/orders').acquire(options) // throws TIMEOUT
 */
export interface WaitOptions {
  /** Cancels the call when it aborts. The call then rejects with the signal's reason. Default: no signal. */
  signal?: AbortSignal | undefined
  /**
   * The limit of the whole call, in milliseconds, 0 or more. After it, the call rejects with a RecipeError TIMEOUT.
   * Default: no limit, as for numbers greater than 2147483647.
   */
  timeout?: number | undefined
}

export const waitOptionChecks: Checks<WaitOptions> = {
  signal: aSignal,
  timeout: aTimeout,
}

/** A call of a recipe's method, with the caller's options. */
export interface RecipeCall<O extends WaitOptions = WaitOptions> {
  /** The method's name, for errors. */
  readonly op: string
  /** The recipe's path, for errors. */
  readonly path: string
  readonly options: O
  /** A check for each option of the method. Default: those of every wait. */
  readonly checks?: Checks<O>
  /**
   * Says for the message of a TIMEOUT what another client has not done. Returns undefined while the call waits for a
   * server.
   * @param isAnswered true if a server has answered any request of the session since the call began
   */
  readonly waitsFor?: ((isAnswered: boolean) => string | undefined) | undefined
}

/** What a waiting call of a lock waits for. */
export const OTHER_HOLDER = 'another contender holds the lock'

/**
 * Says why a call takes so long, for its TIMEOUT.
 * @param replies the number of replies that the session had when the call began
 * @returns the end of a sentence, empty if the reason is not known; and the cause if no server answers
 */
function whyLate(client: Client, { op, path, waitsFor }: RecipeCall, replies: number): [string, cause?: Error] {
  const { state, stats } = client
  const isConnected = state === 'connected' || state === 'connectedReadOnly'
  const isAnswered = stats.replies > replies
  const others = isConnected ? waitsFor?.(isAnswered) : undefined
  if (others !== undefined) return [`, because ${others}`]
  if (isConnected && isAnswered && waitsFor === undefined) return ['']
  const detail = `no server answers${isConnected ? ' the request of the call' : `: the session is ${state}`}`
  return [`, because ${detail}`, new ZooKeeperError('CONNECTIONLOSS', { op, path, fate: 'unknown', detail })]
}

/**
 * Runs `work` until it ends, the caller's signal aborts or the timeout is over. If the call fails, it rejects at once,
 * and `undo` runs in the background.
 * @param work its signal aborts on cancellation, and also when work ends, so that leftover watches are removed
 * @param undo cleans up after cancellation or failure; receives work's promise. Without it, what was sent stays sent
 * @throws ZooKeeperError BADARGUMENTS, before work starts, if an option is invalid; RecipeError TIMEOUT; the signal's
 * reason; the error of work
 */
export async function cancellable<T>(
  client: Client,
  call: RecipeCall,
  work: (signal: AbortSignal) => Promise<T>,
  undo?: (done: Promise<T>) => Promise<void>,
): Promise<T> {
  const { op, path, options, checks = waitOptionChecks } = call
  const { signal, timeout = Infinity } = checked(op, path, options, checks)
  signal?.throwIfAborted()
  const scope = new Scope()
  const stopListening = onAbort(signal, () => scope.abort(signal?.reason))
  const timesOut = timeout <= LONGEST_TIMER
  const replies = timesOut ? client.stats.replies : 0
  const onTimeout = () => {
    const [because, cause] = whyLate(client, call, replies)
    const advice =
      undo === undefined
        ? 'what it has sent may have been executed, so read before you call it again'
        : 'call it again, or with a longer timeout'
    const detail = `${op}() took longer than its timeout of ${Math.round(timeout)} ms${because}: ${advice}`
    scope.abort(new RecipeError('TIMEOUT', path, { detail, cause }))
  }
  const timer = timesOut ? clockOf(client).setTimeout(onTimeout, timeout) : undefined
  let done!: Promise<T>
  let stopRejecting!: () => void
  try {
    return await new Promise<T>((resolve, reject) => {
      stopRejecting = onAbort(scope.signal, () => reject(scope.reason))
      done = work(scope.signal)
      done.then(resolve, reject)
    })
  } catch (error) {
    if (undo === undefined) inBackground(client, ended(done))
    else inBackground(client, undo(done), path)
    throw error
  } finally {
    clockOf(client).clearTimeout(timer)
    stopListening()
    stopRejecting()
    scope.abort(ENDED)
  }
}

const ended = (work: Promise<unknown>): Promise<void> => work.then(nothing, nothing)
const nothing = () => undefined

/**
 * Returns how to undo an attempt to hold something by means of a node: releases what is held already, or removes the
 * node.
 */
export const releasing =
  (node: { remove(): Promise<void> }) =>
  (attempt: Promise<{ release(): Promise<void> } | null>): Promise<void> =>
    attempt.then(
      held => held?.release(),
      () => node.remove(),
    )

/**
 * Returns work that is done once more, if its first result is null, when what earlier calls of this session have left at
 * the path is removed. Otherwise a lock would seem taken because of a call that was cancelled.
 */
export const retriedAfterCleanUp =
  <T>(client: Client, path: string, work: (signal: AbortSignal) => Promise<T | null>) =>
  async (signal: AbortSignal): Promise<T | null> => {
    const result = await work(signal)
    const removed = result === null ? removedAt(client, path) : undefined
    if (removed === undefined) return result
    await untilAborted(removed, signal)
    return work(signal)
  }

/** A call that only reads. It waits through lost connections. */
export const waitingRead = <T>(
  client: Client,
  call: RecipeCall,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> => cancellable(client, call, signal => client.retry(() => read(signal), { signal }), ended)
