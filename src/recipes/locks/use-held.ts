// Runs a function while a lock is held, and then releases the lock.
import { inBackground, leaseLossOf } from '../../client/recipe-support.ts'
import { isCode } from '../../protocol/index.ts'
import { isAbortOf } from '../../runtime/abort.ts'
import type { Client } from '../../client/index.ts'
import { RecipeError } from '../call/recipe-error.ts'
import { isEarlyEnd, type Held } from './held.ts'

interface Releasable {
  release(): Promise<void>
}

/**
 * Runs a function, then releases what is held. If the session must be presumed lost, the release continues in the
 * background.
 * @throws the function's error; the error of the release; AggregateError of both if the function fails and the release
 * is refused too
 */
export async function runWhileHeld<T>(client: Client, held: Releasable, fn: () => T | Promise<T>): Promise<T> {
  // Not `await using`, which the compiler expands to more than a kilobyte in each file.
  let value: T
  try {
    value = await fn()
  } catch (error) {
    await releaseWithinLease(client, held).catch((refusal: unknown) => {
      throw new AggregateError([error, refusal], 'the function failed, and then the release of its lock was refused')
    })
    throw error
  }
  await releaseWithinLease(client, held)
  return value
}

/**
 * Releases what is held. Resolves earlier if the session must be presumed lost: the release then needs a server, and an
 * outage may last for hours.
 */
function releaseWithinLease(client: Client, held: Releasable): Promise<void> {
  const loss = leaseLossOf(client)
  const released = held.release()
  return new Promise((resolve, reject) => {
    const onLoss = () => {
      // After any other loss the release ends by itself: the session has ended, or close() ends it in time.
      if (!isCode(loss.signal.reason, 'CONNECTIONLOSS')) return
      inBackground(client, released)
      resolve()
    }
    const stopListening = loss.listen(onLoss)
    if (loss.isDone) onLoss()
    released.then(resolve, reject).finally(stopListening)
  })
}

/**
 * Runs the function of `use`, then releases the lock.
 * @throws RecipeError LOST with the function's result if the lock was lost, or may have been lost, before the function
 * ended, also if the function rejects because it waits with the signal of the lock; otherwise as {@link runWhileHeld}
 */
export async function useHeld<T>(client: Client, lock: string, held: Held, fn: () => T | Promise<T>): Promise<T> {
  const result = await runWhileHeld(client, held, () => resultOf(held, fn))
  const { reason } = held.signal as { reason: unknown }
  // The reason is a LOST too. Its cause says which loss it was.
  const cause = reason instanceof RecipeError ? reason.cause : reason
  if (!result.isLost && !isEarlyEnd(cause)) return result.value
  const { value } = result
  const detail = 'the lock was lost before the function ended, so another client may have held it too (see value)'
  throw new RecipeError('LOST', lock, { detail, cause, value })
}

type Result<T> = { isLost: false; value: T } | { isLost: true; value: T | undefined }

async function resultOf<T>(held: Held, fn: () => T | Promise<T>): Promise<Result<T>> {
  try {
    return { value: await fn(), isLost: held.signal.aborted }
  } catch (error) {
    if (!isAbortOf(held.signal, error)) throw error
    return { value: undefined, isLost: true }
  }
}
