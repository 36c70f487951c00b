// Bugs of the queue of a lock: order, names, waiting.
import type { PlantedBug } from '../planted-bug.ts'

const turn = { file: 'src/recipes/queue/turn.ts', caughtBy: 'test/recipes/queue/turn.test.ts' }
const dialect = { file: 'src/recipes/queue/dialect.ts', caughtBy: 'test/recipes/queue/dialects.test.ts' }
const queueFile = { file: 'src/recipes/queue/queue.ts', caughtBy: 'test/recipes/queue/dialects.test.ts' }
const acquireLoop = {
  file: 'src/recipes/queue/acquire-loop.ts',
  caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
}
const foreign = { file: 'src/recipes/queue/foreign-contenders.ts', caughtBy: 'test/recipes/queue/dialects.test.ts' }

export const queue: readonly PlantedBug[] = [
  {
    ...turn,
    bug: 'two contenders with the same sequence number hold the lock together',
    from: 'a.sequence < b.sequence || (a.sequence === b.sequence && a.name < b.name)',
    to: 'a.sequence < b.sequence',
  },
  {
    ...turn,
    bug: 'a contender waits for the first contender and not for its predecessor',
    from: 'predecessor: nearest.name',
    to: 'predecessor: (second ?? nearest).name',
  },
  {
    ...turn,
    bug: 'a contender whose node is gone holds the lock',
    from: "if (!isPresent) return { status: 'gone' }",
    to: '',
  },
  {
    ...turn,
    bug: 'a reader waits for the readers ahead of it',
    from: ' || !blocks(other, self)',
    to: '',
    caughtBy: 'test/recipes/locks/read-write-lock.test.ts',
  },
  {
    ...dialect,
    bug: 'a directory with exhausted numbers still grants its lock, to several contenders at once',
    from: 'sequence >= 0x7fff_ffff',
    to: 'sequence > 0x7fff_ffff',
    caughtBy: 'test/recipes/queue/exhausted.test.ts',
  },
  {
    ...dialect,
    bug: 'a negative number counts as a positive one, because its sign is not read',
    from: 'isNegative ? -sequence',
    to: 'isNegative ? sequence',
    caughtBy: 'test/recipes/queue/turn.test.ts',
  },
  {
    ...dialect,
    bug: 'every second contender is overlooked if the pattern of the dialect has the flag g',
    from: "pattern.flags.replace(/[gy]/g, '')",
    to: 'pattern.flags',
    caughtBy: 'test/recipes/clean-up.test.ts',
  },
  {
    ...dialect,
    bug: 'kazoo’s names do not count as unique, because their uuid has no dashes',
    from: 'withoutDashes(sampleName(naming)).includes(withoutDashes(SAMPLE[0]))',
    to: 'sampleName(naming).includes(SAMPLE[0])',
  },
  {
    ...dialect,
    bug: 'contenders of this lock are reported as foreign ones',
    from: 'own.sequenceOf(name) === undefined && ',
    to: '',
  },
  {
    ...foreign,
    bug: 'foreign contenders are reported again with every list of the directory',
    from: 'isDone = true',
    to: '',
  },
  {
    ...queueFile,
    bug: 'after a lost reply a lock adopts a node of another session',
    from: 'const isOwn = (stat: Stat) => stat.ephemeralOwner === client.sessionId',
    to: 'const isOwn = (stat: Stat) => stat.ephemeralOwner !== 0n',
  },
  {
    ...queueFile,
    bug: 'after a lost reply a lock looks for its node on a server that lags behind, because it does not sync',
    from: 'Promise.all([client.sync(directory), childNames(queue)])',
    to: 'Promise.all([undefined, childNames(queue)])',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...queueFile,
    bug: 'contenders() rejects if a contender leaves while its node is being read',
    from: "if (isCode(error, 'NONODE')) return []",
    to: '',
    caughtBy: 'test/recipes/queue/queue.test.ts',
  },
  {
    ...queueFile,
    bug: 'contenders() returns the contenders in no particular order',
    from: '.sort((a, b) => a.sequence - b.sequence)',
    to: '',
    caughtBy: 'test/recipes/queue/dialects.test.ts',
  },
  {
    ...queueFile,
    bug: 'contenders() returns the uuid of the attempt as a part of the user’s data',
    from: 'queue.names.areUnique ? data : untag(data)',
    to: 'data',
    caughtBy: 'test/recipes/queue/dialects.test.ts',
  },
  {
    ...queueFile,
    bug: 'a node without a uuid in its name is not recognized after a lost reply',
    from: 'names.areUnique ? data : tag(uuid, data)',
    to: 'data',
    caughtBy: 'test/recipes/queue/dialects.test.ts',
  },
  {
    ...queueFile,
    bug: 'a node that the session may not read stays after a lost reply, and blocks all other contenders',
    from: "if (isCode(error, 'NOAUTH')) await client.delete(path)",
    to: '',
    caughtBy: 'test/recipes/clean-up.test.ts',
  },
  {
    ...queueFile,
    bug: 'an exhausted directory rejects with NODEEXISTS, which says nothing about its cause',
    from: "isCode(error, 'NODEEXISTS') ? new LockError('EXHAUSTED', directory, { cause: error }) : error",
    to: 'error',
    caughtBy: 'test/recipes/queue/exhausted.test.ts',
  },
  {
    ...queueFile,
    bug: 'a negative number is not noticed if the pattern matches only its digits',
    from: 'isNegative || isExhausted',
    to: 'isExhausted',
    caughtBy: 'test/recipes/queue/exhausted.test.ts',
  },
  {
    ...queueFile,
    bug: 'a lock cannot delete its node after the view that it was created with is closed',
    from: "client: client.chroot('/'), directory",
    to: 'client, directory',
    caughtBy: 'test/recipes/clean-up.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'a cancelled acquire() leaves its node',
    from: '() => node.remove(),',
    to: '() => undefined,',
  },
  {
    ...acquireLoop,
    bug: 'a lock that is granted while the call is being cancelled stays held',
    from: 'held => held?.release(),',
    to: '() => undefined,',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'a waiter that is woken holds the lock without looking again whose turn it is',
    from: 'place = placeIn(queue, ownNode, await client.retry(read, { signal }))',
    to: 'return',
  },
  {
    ...acquireLoop,
    bug: 'a waiter is granted the lock in a session that must be presumed lost',
    from: 'else if (client.leaseSignal.aborted) await client.whenConnected({ signal })',
    to: 'else if (signal.aborted) continue',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'tryAcquire() grants the lock in a session that must be presumed lost',
    from: " === 'first' && !client.leaseSignal.aborted",
    to: " === 'first'",
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'a waiter mistakes a node for its own, because it has the same name in a directory that was created again',
    from: "node.czxid < directoryCzxid ? { status: 'gone' } : ",
    to: '',
    caughtBy: 'test/recipes/queue/dialects.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'a waiter that queues again leaves its first node, which its server did not list yet',
    from: 'await ownNode.remove()',
    to: '',
    caughtBy: 'test/recipes/queue/acquire-loop.test.ts',
  },
  {
    ...acquireLoop,
    bug: 'a tryAcquire() that comes second leaves its node',
    from: 'inBackground(client, ownNode.remove())',
    to: '',
  },
  {
    ...acquireLoop,
    bug: 'tryAcquire() of a read lock fails while another reader holds it',
    from: 'sequence !== undefined && blocks({ name, sequence }, last)',
    to: 'sequence !== undefined',
    caughtBy: 'test/recipes/locks/read-write-lock.test.ts',
  },
  {
    file: 'src/recipes/queue/wait-strategies.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bug: 'every waiter of a Mutex watches the directory, so a release wakes all of them',
    from: 'nextChange(client, join(directory, predecessor), signal)',
    to: 'readWatched(signal, options => client.getChildren(directory, options)).then(({ changed }) => changed.then(() => true))',
  },
]
