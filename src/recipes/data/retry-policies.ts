// Policies for the option `policy` of client.retry(): those of Curator and kazoo.
import { clockOf, isTerminal, pause, randomOf } from '../../client/recipe-support.ts'
import { badArguments, isCode, ZooKeeperError } from '../../protocol/index.ts'
import { mustBe, optionsProblem, type Checks } from '../../protocol/option-checks.ts'
import type { Client, RetryPolicy, State } from '../../client/index.ts'

/**
 * What a policy knows when an attempt has failed.
 * @example
 * const decide = ({ failures, elapsed }: RetryState) => (elapsed < 10_000 ? failures * 50 : undefined)
 * server.faults.drop('exists')
 * await zk.retry(() => zk.exists('/app'), { policy: retryPolicy(decide) }) // => null
 */
export interface RetryState {
  /** The number of attempts that have failed, 1 or more. */
  failures: number
  /** The time since the first attempt began, in milliseconds. */
  elapsed: number
  /** The last pause, in milliseconds; undefined after the first attempt. */
  previous: number | undefined
  /** Returns a random number in [0, 1). */
  random: () => number
}

/**
 * Returns a policy that calls a function after each attempt that failed with CONNECTIONLOSS.
 * @param decide returns the pause before the next attempt, in milliseconds, or undefined to end the attempts:
 * `client.retry()` then rejects with the last error
 * @example
 * server.faults.drop('exists')
 * const never = retryPolicy(() => undefined)
 * await zk.retry(() => zk.exists('/app'), { policy: never }) // throws CONNECTIONLOSS
 */
export function retryPolicy(decide: (state: RetryState) => number | undefined): RetryPolicy {
  return {
    async retry(client, task, signal) {
      const [clock, random] = [clockOf(client), randomOf(client)]
      const startedAt = clock.now()
      let previous: number | undefined
      for (let failures = 1; ; failures++) {
        signal?.throwIfAborted()
        try {
          return await attempt(client, task)
        } catch (error) {
          if (!isCode(error, 'CONNECTIONLOSS')) throw error
          const ms = decide({ failures, elapsed: clock.now() - startedAt, previous, random })
          if (ms === undefined) throw error
          previous = ms
          await wait(client, ms, signal)
        }
      }
    },
  }
}

/** An attempt without a connection fails at once, because otherwise it would wait longer than the policy allows. */
function attempt<T>(client: Client, task: () => Promise<T>): Promise<T> {
  if (client.state !== 'suspended') return task()
  const detail = 'there is no connection'
  return Promise.reject(new ZooKeeperError('CONNECTIONLOSS', { op: 'retry', fate: 'notSent', detail }))
}

/** Waits, but no longer than until the client is connected again or the session has ended. */
async function wait(client: Client, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const clock = clockOf(client)
  const end = clock.now() + ms
  const isOver = (state: State, before: State) => isTerminal(state) || (before === 'suspended' && state !== before)
  for (let before = client.state; clock.now() < end && !signal?.aborted; before = client.state) {
    await pause(client, end - clock.now(), signal)
    if (isOver(client.state, before)) return
  }
}

const positive = mustBe('a number above 0', (value: unknown) => typeof value === 'number' && value > 0)
const notNegative = mustBe('a number of at least 0', (value: unknown) => typeof value === 'number' && value >= 0)
const aCount = mustBe(
  'an integer of at least 0, or Infinity',
  (value: number) => value === Infinity || (Number.isSafeInteger(value) && value >= 0),
)

/** @throws ZooKeeperError BADARGUMENTS if an option is missing, unknown or invalid */
function check<O extends object>(
  op: string,
  options: O,
  checks: Checks<O>,
  required: readonly (keyof O & string)[],
): void {
  const missing = required.find(name => (options as O | undefined)?.[name] === undefined)
  const problem = optionsProblem<O>(options, checks) ?? (missing && `the option ${missing} is missing`)
  if (problem !== undefined) throw badArguments(op, '', problem)
}

/**
 * Options of {@link exponentialBackoffRetry}.
 * @example
 * const options: ExponentialBackoffOptions = { base: 100, retries: 5, longest: 2_000 }
 * await zk.retry(() => zk.exists('/app'), { policy: exponentialBackoffRetry(options) }) // => null
 */
export interface ExponentialBackoffOptions {
  /** The first pause, in milliseconds, above 0. */
  base: number
  /** How often the task is repeated at most: an integer of 0 or more, or Infinity. */
  retries: number
  /** The longest pause, in milliseconds, above 0. Default: no limit. */
  longest?: number | undefined
}

/**
 * Returns a policy whose pauses grow: before the n-th repetition, `base` times a random integer from 1 to 2^n - 1.
 * Curator's ExponentialBackoffRetry, and with `longest` its BoundedExponentialBackoffRetry.
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * const policy = exponentialBackoffRetry({ base: 100, retries: 5, longest: 2_000 })
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export function exponentialBackoffRetry(options: ExponentialBackoffOptions): RetryPolicy {
  const checks = { base: positive, retries: aCount, longest: positive }
  check('exponentialBackoffRetry', options, checks, ['base', 'retries'])
  const { base, retries, longest = Infinity } = options
  return retryPolicy(({ failures, random }) =>
    failures > retries ? undefined : Math.min(longest, base * Math.max(1, Math.floor(random() * 2 ** failures))),
  )
}

/**
 * Returns a policy that repeats the task without limit. Curator's RetryForever.
 * @param options `pause` before each repetition, in milliseconds, 0 or more
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * const policy = retryForever({ pause: 100 })
 * server.dropConnections()
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export const retryForever = (options: { pause: number }): RetryPolicy => {
  check('retryForever', options, { pause: notNegative }, ['pause'])
  return retryPolicy(() => options.pause)
}

/**
 * Returns a policy that repeats the task at most `retries` times. Curator's RetryNTimes, and with 1 its RetryOneTime.
 * @param options `retries`: an integer of 0 or more, or Infinity; `pause` before each, in milliseconds, 0 or more
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * server.faults.drop('exists')
 * const policy = retryNTimes({ retries: 2, pause: 1000 })
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export const retryNTimes = (options: { retries: number; pause: number }): RetryPolicy => {
  check('retryNTimes', options, { retries: aCount, pause: notNegative }, ['retries', 'pause'])
  return retryPolicy(({ failures }) => (failures > options.retries ? undefined : options.pause))
}

/**
 * Returns a policy that repeats the task until `within` milliseconds have passed since its first attempt began.
 * Curator's RetryUntilElapsed.
 * @param options `within`, 0 or more; `pause` before each repetition, above 0; both in milliseconds
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * const policy = retryUntilElapsed({ within: 10_000, pause: 250 })
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export const retryUntilElapsed = (options: { within: number; pause: number }): RetryPolicy => {
  check('retryUntilElapsed', options, { within: notNegative, pause: positive }, ['within', 'pause'])
  return retryPolicy(({ elapsed }) => (elapsed < options.within ? options.pause : undefined))
}

/**
 * Options of {@link kazooRetry}. All times are milliseconds; those of kazoo are seconds.
 * @example
 * const options: KazooRetryOptions = { maxTries: 3, delay: 100, backoff: 2, deadline: 60_000 }
 * await zk.retry(() => zk.exists('/app'), { policy: kazooRetry(options) }) // => null
 */
export interface KazooRetryOptions {
  /** How often the task is repeated at most: an integer of 0 or more. Default 1; Infinity is kazoo's -1. */
  maxTries?: number | undefined
  /** The first pause, before the jitter, above 0. Default 100. */
  delay?: number | undefined
  /** Each pause is this many times as long as the one before: a number above 0. Default 2. */
  backoff?: number | undefined
  /** The largest part of a pause that is added or taken off at random, from 0 to 1. Default 0.4. */
  maxJitter?: number | undefined
  /** The longest pause, before the jitter, above 0. Default 60 000. */
  maxDelay?: number | undefined
  /** The time since the first attempt, above 0, after which no further attempt begins. Default: no limit. */
  deadline?: number | undefined
}

/**
 * kazoo's KazooRetry, without `ignore_expire`: a client is one session, so `supervise` repeats a task in the next
 * session.
 * @throws ZooKeeperError BADARGUMENTS
 * @example
 * const policy = kazooRetry({ maxTries: 3, maxDelay: 10_000 })
 * await zk.retry(() => zk.exists('/app'), { policy }) // => null
 */
export function kazooRetry(options: KazooRetryOptions = {}): RetryPolicy {
  const maxJitterCheck = mustBe('a number from 0 to 1', (value: number) => value >= 0 && value <= 1)
  const delays = { delay: positive, backoff: positive, maxDelay: positive, deadline: positive }
  check('kazooRetry', options, { maxTries: aCount, maxJitter: maxJitterCheck, ...delays }, [])
  const { maxTries = 1, delay = 100, backoff = 2, maxJitter = 0.4, maxDelay = 60_000, deadline = Infinity } = options
  return retryPolicy(({ failures, elapsed, previous, random }) => {
    const base = previous === undefined ? delay : Math.min(previous * backoff, maxDelay)
    const ms = base * (1 - maxJitter + 2 * maxJitter * random())
    return failures > maxTries || elapsed + ms >= deadline ? undefined : ms
  })
}
