// Bugs of single kinds of locks.
import type { PlantedBug } from '../planted-bug.ts'

const ephemeral = {
  file: 'src/recipes/locks/ephemeral-mutex.ts',
  caughtBy: 'test/recipes/locks/ephemeral-mutex.test.ts',
}
const multi = { file: 'src/recipes/locks/multi-lock.ts', caughtBy: 'test/recipes/locks/multi-lock.test.ts' }
const semaphore = { file: 'src/recipes/locks/semaphore.ts', caughtBy: 'test/recipes/locks/semaphore.test.ts' }
const readWrite = {
  file: 'src/recipes/locks/read-write-lock.ts',
  caughtBy: 'test/recipes/locks/read-write-lock.test.ts',
}
const downgrade = { file: 'src/recipes/locks/read-write-held.ts', caughtBy: 'test/recipes/locks/downgrade.test.ts' }

export const locks: readonly PlantedBug[] = [
  {
    ...ephemeral,
    bug: 'two attempts of one session hold an EphemeralMutex, because one adopts the node of the other',
    from: ' && isTagged(node.data, uuid)',
    to: '',
  },
  {
    ...ephemeral,
    bug: 'an EphemeralMutex looks for its node on a server that lags behind',
    from: 'client.sync(path), this.#read()',
    to: 'undefined, this.#read()',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...ephemeral,
    bug: 'an EphemeralMutex is granted in a session that must be presumed lost',
    from: 'if (!this.#view.leaseSignal.aborted) return true',
    to: 'if (this.path !== undefined) return true',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...ephemeral,
    bug: 'an EphemeralMutex at the root of a view creates that root, and blocks itself for ever',
    from: "if (this.path === '/') throw",
    to: "if (this.path === '') throw",
  },
  {
    ...multi,
    bug: 'a MultiLock keeps waiting for the next lock, and keeps the others, when one of them is lost',
    from: 'signal: lostOrCancelled',
    to: 'signal',
  },
  {
    ...multi,
    bug: 'a MultiLock is granted although one of its locks was lost while it waited for the next',
    from: 'return !isAnyLost(acquired)',
    to: 'return true',
  },
  {
    ...multi,
    bug: 'a MultiLock that starts again keeps the locks that it has, and waits for itself',
    from: 'releaseAll(acquired.splice(0))',
    to: 'releaseAll(acquired.splice(0, 1))',
  },
  {
    ...multi,
    bug: 'a MultiLock stops at the first refused release, and keeps the locks after it',
    from: 'await each.release().catch((error: unknown) => failures.push(error))',
    to: 'await each.release()',
  },
  {
    ...multi,
    bug: 'two MultiLocks wait for each other for ever, because each acquires its locks in the order of its list',
    from: 'locks.toSorted((a, b) => (serverPathOf(a) < serverPathOf(b) ? -1 : 1))',
    to: 'locks',
  },
  {
    ...multi,
    bug: 'the order of the locks of a MultiLock is that of the paths in their views, which differ',
    from: 'serverPathOf(a) < serverPathOf(b)',
    to: 'a.path < b.path',
  },
  {
    ...multi,
    bug: 'a MultiLock is valid for as long as the best of its locks',
    from: 'Math.min(',
    to: 'Math.max(',
  },
  {
    ...multi,
    bug: 'the guard of a MultiLock checks only its first lock',
    from: 'return transaction.check(each.path)',
    to: 'return transaction',
  },
  {
    ...semaphore,
    bug: 'a semaphore lets one holder more in than it has permits',
    from: 'nodes.length <= permits',
    to: 'nodes.length <= permits + 1',
  },
  {
    ...semaphore,
    bug: 'a client does not wait until its holder of a permit has left the gate',
    from: 'else inBackground(this.#queue.client, leaving)',
    to: 'else leaving.catch(() => undefined)',
    caughtBy: 'test/recipes/locks/semaphore.test.ts',
  },
  {
    ...semaphore,
    bug: 'a contender whose node at the gate was deleted stays beside the next one, and neither gets a permit',
    from: 'this.#gate.acquire({ signal, watchOwnNode: true })',
    to: 'this.#gate.acquire({ signal })',
  },
  {
    ...semaphore,
    bug: 'a tryAcquire() of a full semaphore keeps its node',
    from: '      await ownNode.remove()\n      return null',
    to: '      return null',
  },
  {
    ...readWrite,
    bug: 'a reader holds the lock beside a writer',
    from: 'names.isWriter(name) })',
    to: 'names.isWriter(`${name}?`) })',
  },
  {
    ...readWrite,
    bug: 'an owner that holds the read lock waits for itself when it requests the write lock',
    from: "wanted === 'write' && own.length > 0",
    to: "wanted === 'write' && own.length > 1",
  },
  {
    ...readWrite,
    bug: 'an owner is refused the lock because of a hold that was released or lost',
    from: 'held.validFor() > 0',
    to: 'held.validFor() >= 0',
  },
  {
    file: 'src/recipes/locks/read-write-dialect.ts',
    caughtBy: 'test/recipes/locks/read-write-lock.test.ts',
    bug: 'a writer holds the lock beside readers',
    from: 'write.sequenceOf(name) ?? read.sequenceOf(name)',
    to: 'write.sequenceOf(name)',
  },
  {
    ...downgrade,
    bug: 'a write lock that was lost can be downgraded, and its reader is beside a writer',
    from: '[{ check: writeNode }, ',
    to: '[',
  },
  {
    ...downgrade,
    bug: 'a downgraded lock still excludes other readers, because its write node stays',
    from: 'await this.#releaseWrite(ownNode, read)',
    to: '',
  },
  {
    ...downgrade,
    bug: 'a downgraded lock has another token than the write lock had',
    from: '{ ...this.#options, token }',
    to: 'this.#options',
  },
  {
    ...downgrade,
    bug: 'release() of a write lock deletes its node in the middle of a downgrade',
    from: 'this.#downgrading === undefined ? release() : this.#downgrading.then(() => undefined, release)',
    to: 'release()',
  },
  {
    ...downgrade,
    bug: 'an owner that has downgraded its write lock is not recognized as a reader',
    from: 'this.#onDowngraded(read)',
    to: '',
    caughtBy: 'test/recipes/locks/read-write-lock.test.ts',
  },
]
