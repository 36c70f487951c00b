// The recipes' door.
export type { AcquireOptions } from './contend.ts'
export type { Dialect, DialectName } from './dialect.ts'
export type { ContenderInfo, MutexOptions } from './exclusive-lock.ts'
export { Held } from './held.ts'
export { HerdMutex } from './herd-mutex.ts'
export { LockError, type LockErrorCode } from './lock-error.ts'
export { Mutex } from './mutex.ts'
export { everyone, standing, type Blocks, type Contender, type Standing } from './standing.ts'
