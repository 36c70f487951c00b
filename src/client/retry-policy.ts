// Policies of client.retry(): they limit its attempts and choose its pauses.
import { badArguments, isCode, ZooKeeperError } from '../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../options/checks.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { isTerminal } from '../session/life/states.ts'
import { pauseInSession, type Stateful } from './pace.ts'

/**
 * What a policy knows when an attempt has failed.
 * @example
 * const policy = ({ failures, elapsed }: RetryState) => (elapsed < 10_000 ? failures * 50 : undefined)
 * server.faults.drop('exists')
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export interface RetryState {
  /** The number of attempts that have failed, 1 or more. */
  failures: number
  /** The time since the first attempt began, in milliseconds. */
  elapsed: number
  /** Returns a random number in [0, 1). */
  random: () => number
}

/**
 * Decides after each attempt of {@link Client.retry} that failed with CONNECTIONLOSS. Returns the pause before the next
 * attempt, in milliseconds, 0 or more, or undefined to end the attempts: `retry` then rejects with the last error.
 * @example
 * const thrice: RetryPolicy = ({ failures }) => (failures < 3 ? 100 : undefined)
 * server.faults.drop('exists')
 * await zk.retry(() => zk.exists('/app'), { policy: thrice }) // => null
 */
export type RetryPolicy = (state: RetryState) => number | undefined

/**
 * Options of {@link fixedPause} and {@link exponentialBackoff}.
 * @example
 * const options: PauseOptions = { pause: 100, retries: 5, within: 10_000 }
 * await zk.retry(() => zk.exists('/app'), { policy: exponentialBackoff(options) }) // => null
 */
export interface PauseOptions {
  /** The pause before each repetition, or the first one: milliseconds, above 0. Default 100. */
  pause?: number | undefined
  /** The longest pause of {@link exponentialBackoff}, in milliseconds, above 0. Default 60 000. */
  longest?: number | undefined
  /** How often the task is repeated at most: an integer of 0 or more. Default: no limit. */
  retries?: number | undefined
  /**
   * The time since the first attempt began, after which the task is not repeated: milliseconds, 0 or more. Default: no
   * limit.
   */
  within?: number | undefined
}

/**
 * Returns a policy with the same pause before each repetition: Curator's RetryNTimes, RetryOneTime, RetryForever and
 * RetryUntilElapsed.
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * server.faults.drop('exists')
 * await zk.retry(() => zk.exists('/app'), { policy: fixedPause({ pause: 1000, retries: 2 }) }) // => null
 */
export function fixedPause(options: PauseOptions = {}): RetryPolicy {
  const { pause, mayRepeat } = checkedPauses('fixedPause', options)
  return state => (mayRepeat(state) ? pause : undefined)
}

/**
 * Returns a policy whose pauses double from `pause` to `longest`, each shortened at random by up to a half: Curator's
 * ExponentialBackoffRetry and BoundedExponentialBackoffRetry, kazoo's KazooRetry.
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * const policy = exponentialBackoff({ pause: 50, longest: 2_000, retries: 5 })
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export function exponentialBackoff(options: PauseOptions = {}): RetryPolicy {
  const { pause, longest, mayRepeat } = checkedPauses('exponentialBackoff', options)
  return state => {
    const most = Math.min(longest, pause * 2 ** (state.failures - 1))
    return mayRepeat(state) ? most * (1 - state.random() / 2) : undefined
  }
}

function checkedPauses(op: string, options: PauseOptions) {
  // The checks are created here and not at module level, so that bundlers can drop them.
  const positive = mustBe('a number above 0', (value: unknown) => typeof value === 'number' && value > 0)
  const notNegative = mustBe('a number of at least 0', (value: unknown) => typeof value === 'number' && value >= 0)
  const checks: Checks<PauseOptions> = {
    pause: positive,
    longest: positive,
    retries: mustBe(
      'an integer of at least 0',
      (value: number) => value === Infinity || (Number.isSafeInteger(value) && value >= 0),
    ),
    within: notNegative,
  }
  const problem = optionsProblem(options, checks)
  if (problem !== undefined) throw badArguments(op, '', problem)
  const { pause = 100, longest = 60_000, retries = Infinity, within = Infinity } = options
  const mayRepeat = ({ failures, elapsed }: RetryState) => failures <= retries && elapsed < within
  return { pause, longest, mayRepeat }
}

/** Runs the task, and again as the policy says. */
export async function retryBy<T>(
  policy: RetryPolicy,
  client: Stateful,
  { clock, random }: { clock: Clock; random: Random },
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const startedAt = clock.now()
  let lost: ZooKeeperError | undefined
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted()
    try {
      return await attempt(client, task)
    } catch (error) {
      if (!isCode(error, 'CONNECTIONLOSS')) throw afterLoss(error, lost)
      // Awaited, because a policy that is not typed may be an async function.
      const ms = await Promise.resolve(policy({ failures, elapsed: clock.now() - startedAt, random }))
      if (ms === undefined) throw afterLoss(error, lost)
      lost = worse(lost, error)
      if (!(ms >= 0)) throw badArguments('retry', '', 'the policy must return milliseconds or undefined')
      await wait(client, clock, ms, signal)
    }
  }
}

/** Returns the loss of the attempts so far that says the most: one after which the server may have executed the request. */
export const worse = (lost: ZooKeeperError | undefined, error: ZooKeeperError): ZooKeeperError =>
  lost?.fate === 'unknown' ? lost : error

/**
 * Returns the error of the last attempt. If it was not sent, as because the session has ended meanwhile, it says what an
 * earlier attempt was, and that the server may have executed that one.
 */
export function afterLoss(error: unknown, lost: ZooKeeperError | undefined): unknown {
  if (lost === undefined || !(error instanceof ZooKeeperError) || error.fate !== 'notSent') return error
  if (error.code === lost.code) return lost
  const { op, path, fate } = lost
  return new ZooKeeperError(error.code, { op, path, fate, cause: lost })
}

/** An attempt without a connection fails at once, because otherwise it would wait longer than the policy allows. */
function attempt<T>(client: Stateful, task: () => Promise<T>): Promise<T> {
  if (client.state !== 'suspended') return task()
  const detail = 'there is no connection'
  return Promise.reject(new ZooKeeperError('CONNECTIONLOSS', { op: 'retry', fate: 'notSent', detail }))
}

/** Waits, but no longer than until the client is connected again or the session has ended. */
async function wait(client: Stateful, clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const end = clock.now() + ms
  // Waits for a timer also if the pause is 0. Otherwise an attempt that fails at once would block the event loop.
  do {
    const before = client.state
    await pauseInSession(client, clock, end - clock.now(), signal)
    if (isTerminal(client.state) || (before === 'suspended' && client.state !== before)) return
  } while (clock.now() < end && !signal?.aborted)
}
