// Failures of a recipe, as opposed to failures of a request.
import { brand } from '../../protocol/brand.ts'
import { printable } from '../../protocol/printable.ts'
import { whereToRead } from '../../protocol/site-address.ts'

const meanings = {
  TIMEOUT: 'the call took longer than its timeout',
  LOST: 'the lock is lost or was released: acquire it again',
  EXHAUSTED: "the directory's sequence numbers are used up: delete the directory while no client uses it",
  UNSUPPORTED: 'this recipe cannot do that',
  UPGRADE: 'a read lock cannot become a write lock: release it first, then acquire the write lock',
  TOOLARGE: 'the copy needs more memory than it may',
  LAGGING: 'the reader of changes is too slow',
} as const

/**
 * The reasons of a RecipeError. TIMEOUT: the call took longer than its `timeout`. LOST: what was held is lost or was
 * released. EXHAUSTED: the sequence numbers of the recipe's directory are used up. UNSUPPORTED: the recipe cannot do
 * that. UPGRADE: a read lock was to become a write lock. TOOLARGE: a cache would need more than `maxBytes`. LAGGING:
 * more than `capacity` changes wait for a reader.
 * @example
 * const code: RecipeErrorCode = 'TIMEOUT'
 * new RecipeError(code, '/locks/a').message // => 'TIMEOUT: /locks/a: the call took longer than its timeout'
 */
export type RecipeErrorCode = keyof typeof meanings

/**
 * A failure of a recipe. A cancelled call rejects with the signal's reason instead, and a failed request with a
 * ZooKeeperError.
 * @example
 * const barrier = new Barrier(zk, '/barriers/migration')
 * await barrier.raise()
 * const error = await barrier.wait({ timeout: 10 }).catch((error: unknown) => error)
 * error instanceof RecipeError && error.code // => 'TIMEOUT'
 */
export class RecipeError extends Error {
  static {
    brand(this, 'RecipeError')
  }
  /** The name of this class, for logs. A program should ask `instanceof`. */
  override readonly name = 'RecipeError'
  /** The reason of the failure. */
  readonly code: RecipeErrorCode
  /** The recipe's path. */
  readonly path: string
  /** If `use` rejects with LOST: the result of its function, which ended after the lock was lost. */
  readonly value: unknown

  /** @param context `detail` says what happened and what to do, if the meaning of the code does not say enough */
  constructor(
    code: RecipeErrorCode,
    path: string,
    context: { detail?: string | undefined; cause?: unknown; value?: unknown } = {},
  ) {
    const { detail = meanings[code], cause } = context
    super(
      printable(`${code}: ${path}: ${detail}`) + whereToRead(`${code} of a recipe`),
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.path = path
    if ('value' in context) this.value = context.value
  }
}
