// Runs a function while a lock is held, and then releases the lock.
import { RecipeError } from '../node/recipe-error.ts'
import { isEarlyEnd, type Held } from './held.ts'

/**
 * Runs a function, then releases what is held.
 * @throws the function's error; the error of the release; AggregateError of both if the function fails and the release
 * is refused too
 */
export async function runWhileHeld<T>(held: { release(): Promise<void> }, fn: () => T | Promise<T>): Promise<T> {
  // Not `await using`, which the compiler expands to more than a kilobyte in each file.
  let value: T
  try {
    value = await fn()
  } catch (error) {
    await held.release().catch((refusal: unknown) => {
      throw new AggregateError([error, refusal], 'the function failed, and then the release of its lock was refused')
    })
    throw error
  }
  await held.release()
  return value
}

/**
 * Runs the function of `use`, then releases the lock.
 * @throws RecipeError LOST with the function's result if the lock was lost, or may have been lost, before the function
 * ended; otherwise as {@link runWhileHeld}
 */
export async function useHeld<T>(lock: string, held: Held, fn: () => T | Promise<T>): Promise<T> {
  const { value, isLost } = await runWhileHeld(held, async () => ({ value: await fn(), isLost: held.signal.aborted }))
  const { reason } = held.signal as { reason: unknown }
  if (!isLost && !isEarlyEnd((reason as Error | undefined)?.cause)) return value
  const detail = 'the lock was lost before the function ended, so another client may have held it too (see value)'
  throw new RecipeError('LOST', lock, { detail, cause: reason, value })
}
