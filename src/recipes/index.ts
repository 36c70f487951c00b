// The recipes' door.
export type { AttemptOptions } from './attempt.ts'
export { Barrier, DoubleBarrier, type BarrierOptions } from './barrier.ts'
export type { AcquireOptions } from './contend.ts'
export type { Dialect, DialectName } from './dialect.ts'
export { EphemeralMutex, type EphemeralMutexOptions } from './ephemeral-mutex.ts'
export { Held, type HoldOptions } from './held.ts'
export { HerdMutex } from './herd-mutex.ts'
export { LeaderElection, type LeaderElectionOptions, type Participant } from './leader-election.ts'
export { Lock } from './lock.ts'
export { LockError, type LockErrorCode } from './lock-error.ts'
export { MultiHeld, MultiLock } from './multi-lock.ts'
export { Mutex } from './mutex.ts'
export type { ContenderInfo } from './queue.ts'
export type { LockOptions, MutexOptions } from './queue-lock.ts'
export { ReentrantMutex, type ReentrantAcquireOptions, type ReentrantMutexOptions } from './reentrant-mutex.ts'
export type { ReadWriteDialect, ReadWriteDialectName } from './read-write-dialect.ts'
export type { ReadHeld, WriteHeld } from './read-write-held.ts'
export {
  ReadWriteLock,
  type ReadLock,
  type ReadWriteAcquireOptions,
  type ReadWriteLockOptions,
  type WriteLock,
} from './read-write-lock.ts'
export { revoke } from './revoke.ts'
export { Semaphore } from './semaphore.ts'
export { everyone, standing, type Blocks, type Contender, type Standing } from './standing.ts'
export type { OnStrangers } from './strangers.ts'
export { TicketMutex } from './ticket-mutex.ts'
