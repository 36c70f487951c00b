// Failures of a recipe, as opposed to failures of a request.
import { brand } from '../../protocol/brand.ts'

const meanings = {
  TIMEOUT: 'the call took longer than its timeout',
  LOST: 'the lock is lost or was released: acquire it again',
  EXHAUSTED: "the directory's sequence numbers are used up: delete the directory while no client uses it",
  UNSUPPORTED: 'this lock cannot do that',
  UPGRADE: 'a read lock cannot become a write lock: release it first, then acquire the write lock',
} as const

/**
 * The reasons of a LockError. TIMEOUT: the call took longer than its `timeout`. LOST: the lock is lost or was released.
 * EXHAUSTED: the numbers of the lock's directory are used up. UNSUPPORTED: the lock cannot do that. UPGRADE: a read
 * lock was to become a write lock.
 * @example
 * const code: LockErrorCode = 'TIMEOUT'
 * new LockError(code, '/locks/a').message // => 'TIMEOUT: /locks/a: the call took longer than its timeout'
 */
export type LockErrorCode = keyof typeof meanings

/**
 * A failure of a recipe. A cancelled call rejects with the signal's reason instead, and a failed request with a
 * ZooKeeperError.
 * @example
 * const barrier = new Barrier(zk, '/barriers/migration')
 * await barrier.raise()
 * const error = await barrier.wait({ timeout: 10 }).catch((error: unknown) => error)
 * error instanceof LockError && error.code // => 'TIMEOUT'
 */
export class LockError extends Error {
  static {
    brand(this, 'LockError')
  }
  /** For texts. To recognize the error in code, use `instanceof`. */
  override readonly name = 'LockError'
  /** The reason of the failure. */
  readonly code: LockErrorCode
  /** The recipe's path. */
  readonly path: string
  /** If `use` rejects with LOST: the result of its function, which ended after the lock was lost. */
  readonly value: unknown

  /** @param context `detail` says what happened and what to do, if the meaning of the code does not say enough */
  constructor(code: LockErrorCode, path: string, context: { detail?: string; cause?: unknown; value?: unknown } = {}) {
    const { detail = meanings[code], cause } = context
    super(`${code}: ${path}: ${detail}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    if ('value' in context) this.value = context.value
  }
}
