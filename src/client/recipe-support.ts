// What recipes need of a client and users do not. Only recipes import it; no entry point exports it.
import type { Clock } from '../runtime/clock.ts'
import { badArguments } from '../protocol/index.ts'
import { isSignal } from './validation.ts'
import { uuidFrom } from '../runtime/uuid.ts'
import { internals, type Client } from './client.ts'

export { isTerminal } from '../session/life/states.ts'
export { aclProblem, dataProblem, isListOfObjects, isSignal } from './validation.ts'

/** The clock that this client was given. */
export const clockOf = (client: Client): Clock => client[internals].settings.clock

/** A new version 4 UUID, drawn from the randomness that this client was given. */
export const newUuid = (client: Client): string => uuidFrom(client[internals].settings.random)

/** One object for all views of one session, as a key of a WeakMap. */
export const sessionKey = (client: Client): object => client[internals].session

/** The path at the server: below this client's root. */
export const serverPath = (client: Client, path: string): string => client[internals].root.add(path)

/** Makes `client.settled()` wait for work that outlives its call. A rejection of the work is ignored. */
export const inBackground = (client: Client, work: Promise<unknown>): void =>
  client[internals].session.background.run(work)

/**
 * Calls back from a microtask, in one order with watch callbacks. What the callback throws or rejects with goes to
 * `onUncaughtError`.
 */
export const callLater = (client: Client, callback: () => unknown): void =>
  client[internals].session.callbacks.later(callback, undefined)

// Until the recipes check their options by name.
export const optionsProblem = (options: unknown): string | undefined =>
  typeof options === 'object' && options !== null ? undefined : 'options must be an object'

export const readProblem = (options: { signal?: unknown }): string | undefined =>
  optionsProblem(options) ??
  (options.signal === undefined || isSignal(options.signal) ? undefined : 'a signal must be an AbortSignal')

export function checked<O extends object>(
  op: string,
  path: string,
  options: O,
  problemOf: (options: O) => string | undefined = optionsProblem,
): O {
  const problem = problemOf(options)
  if (problem !== undefined) throw badArguments(op, path, problem)
  return options
}
