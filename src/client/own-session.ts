// A lock in a session of its own, for functions that live for one request. It takes three round trips: TCP; the handshake
// together with the requests of the lock; the release together with the end of the session.
import { onAbort } from '../runtime/abort.ts'
import { isStrayPromise } from '../runtime/callbacks.ts'
import { badArguments, isCode } from '../protocol/index.ts'
import { isTerminal } from '../session/life/states.ts'
import type { Client } from './client.ts'
import type { SessionWait, UsableLock } from './sessions-options.ts'
import { hasMethod } from './validation.ts'

/** The session was lost, or could not be opened, before the function began. */
export const UNSERVED = Symbol('no session served the call')

/**
 * Runs a function while a lock is held, as `use` of the lock does, and ends the session.
 * @param client a client that is being opened
 * @param stop ends the session at once when it aborts
 * @returns the result of the function, or UNSERVED
 * @throws as `use` of the lock
 */
export async function withOwnSession<H, T>(
  client: Client,
  newLock: (client: Client) => UsableLock<H>,
  wait: SessionWait,
  stop: AbortSignal,
  fn: (held: H) => T | Promise<T>,
): Promise<T | typeof UNSERVED> {
  let hasBegun = false
  const begin = async (held: H): Promise<T> => {
    hasBegun = true
    try {
      return await fn(held)
    } finally {
      // Both in this turn, so that they travel in one packet. `use` of the lock then waits for the same release.
      void (held as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.().then(ignore, ignore)
      void client.close()
    }
  }
  const stopListening = onAbort(stop, () => void client.close())
  try {
    const lock = lockOf(newLock, client)
    return await lock.use(begin, wait).catch((error: unknown) => {
      const { state, sessionId } = client
      const isUnserved = sessionId === 0n || isTerminal(state) || client.validFor() === 0
      if (hasBegun || wait.signal.aborted || !isUnserved || isCode(error, 'BADARGUMENTS')) throw error
      return UNSERVED
    })
  } finally {
    stopListening()
    await client.close()
  }
}

/**
 * Makes the lock of a call.
 * @throws ZooKeeperError BADARGUMENTS if the caller's function returns something else, such as a promise
 */
export function lockOf<H>(newLock: (client: Client) => UsableLock<H>, client: Client): UsableLock<H> {
  const lock = newLock(client)
  if (hasMethod(lock, 'use')) return lock
  isStrayPromise(lock)
  throw badArguments('withLock', '', 'the first argument must return a lock, and not a promise')
}

const ignore = (): void => undefined
