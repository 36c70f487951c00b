// What goes wrong with a lock, as opposed to with a request.

const meanings = {
  TIMEOUT: 'the lock was not acquired in time',
  LOST: 'the lock is lost, or must be presumed lost',
  EXHAUSTED: "the directory's sequence numbers are used up: delete the directory while nobody uses it",
  UNSUPPORTED: 'this lock cannot do that',
  UPGRADE: 'a read lock cannot become a write lock: release it first',
} as const

export type LockErrorCode = keyof typeof meanings

/** A failure of a lock. An abort rejects with the signal's own reason instead, a failed request with a ZooKeeperError. */
export class LockError extends Error {
  override readonly name = 'LockError'
  readonly code: LockErrorCode
  /** The lock's directory. */
  readonly path: string

  constructor(code: LockErrorCode, path: string, { cause }: { cause?: unknown } = {}) {
    super(`${code}: ${path}: ${meanings[code]}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }
}
