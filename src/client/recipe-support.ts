// What recipes need of a client and users do not. Only recipes import it; no entry point exports it.
import type { Clock } from '../runtime/clock.ts'
import { uuidFrom } from '../runtime/uuid.ts'
import { internals, type Client } from './client.ts'

export { isTerminal } from '../session/life/states.ts'
export { aBoolean, aFunction, anACL, aSignal, checked, dataProblem } from './validation.ts'

/** Returns true for a client of any copy of this package in the process. */
export const isClient = (value: unknown): value is Client =>
  typeof value === 'object' && value !== null && internals in value

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
 * Calls back from a microtask, in one order with watch callbacks. What the callback throws or rejects with is passed to
 * `onUncaughtError`.
 */
export const callLater = (client: Client, callback: () => unknown): void =>
  client[internals].session.callbacks.later(callback, undefined)
