// Entry point `zkwire/recipes`: locks, semaphores, barriers, leader election, copies, shared data, members. Re-exports
// only.
// May import: recipes/cache, recipes/coordination, recipes/data, recipes/members, recipes/locks, recipes/queue,
// recipes/changes, recipes/call.
export type { AcquireMessage, ReleaseMessage } from './locks/acquiring.ts'
export type { WaitOptions } from './call/cancellable.ts'
export { Barrier, DoubleBarrier, type BarrierOptions } from './coordination/barrier.ts'
export { Cache } from './cache/cache.ts'
export type { CacheOptions } from './cache/cache-options.ts'
export type { CacheChange, CacheChangesOptions, CacheNode } from './cache/changes.ts'
export type { DataCodec, StandardSchema } from './call/codec.ts'
export { Counter, type CounterOptions } from './data/counter.ts'
export type { Dialect } from './queue/dialect.ts'
export { EphemeralMutex } from './locks/ephemeral-mutex.ts'
export type { Held } from './locks/held.ts'
export { HerdMutex } from './locks/herd-mutex.ts'
export { LeaderElection, type Participant } from './coordination/leader-election.ts'
export { Lease, type LeaseOptions, type LeaseTerm } from './data/lease.ts'
export type { Lock, AcquireOptions } from './locks/lock.ts'
export { RecipeError, type RecipeErrorCode } from './call/recipe-error.ts'
export type { Iteration } from './changes/publisher.ts'
export { MultiLock, type MultiHeld } from './locks/multi-lock.ts'
export { Mutex } from './locks/mutex.ts'
export { Membership } from './members/membership.ts'
export type { GroupMember, MembershipChange, MembershipOptions } from './members/membership-options.ts'
export { Partitioner, type PartitionerOptions } from './members/partitioner.ts'
export type { ItemTask } from './members/partition-run.ts'
export { PersistentEphemeral, type PersistentEphemeralOptions } from './members/persistent-ephemeral.ts'
export type { ContenderNode, QueuePlace } from './queue/lock-queue.ts'
export type { LockOptions, MutexOptions } from './locks/queue-lock.ts'
export { Queue } from './data/queue.ts'
export type { ConsumeOptions, PutOptions, QueueOptions } from './data/queue-options.ts'
export type { QueueItem } from './data/queue-item.ts'
export { ReentrantMutex, type ReentrantAcquireOptions, type ReentrantMutexOptions } from './locks/reentrant-mutex.ts'
export type { ReadWriteDialect } from './locks/read-write-dialect.ts'
export type { ReadHeld, WriteHeld } from './locks/read-write-held.ts'
export {
  ReadWriteLock,
  type ReadLock,
  type ReadWriteAcquireOptions,
  type ReadWriteLockOptions,
  type WriteLock,
} from './locks/read-write-lock.ts'
export { revoke } from './locks/revoke.ts'
export { Services } from './members/services.ts'
export type { NewInstance, Registration, ServicesOptions } from './members/registration.ts'
export { uriOf, type ServiceInstance, type UriPart } from './members/service-instance.ts'
export type { ChoiceStrategy, ServiceProvider, ServiceProviderOptions } from './members/service-provider.ts'
export { Semaphore, type SemaphoreAcquireOptions } from './locks/semaphore.ts'
export type { TicketHeld } from './locks/ticket-held.ts'
export { TicketMutex } from './locks/ticket-mutex.ts'
export { SharedValue } from './data/shared-value.ts'
export type { SharedValueOptions, VersionedData } from './data/shared-value-options.ts'
