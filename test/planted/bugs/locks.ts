// Bugs of the locks: races, clean-up, the queue.
import type { BugsOfFile } from '../planted-bug.ts'

export const locks: readonly BugsOfFile[] = [
  {
    file: 'src/recipes/locks/held-until.ts',
    caughtBy: 'test/recipes/coordination/leader-election.test.ts',
    bugs: [
      {
        bug: 'each term of lead() leaves a listener on its signal',
        from: 'for (const stop of this.#stopListening) stop()',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bugs: [
      {
        bug: 'the token is the sequence number, which starts again in a directory that was deleted',
        from: 'token ?? czxid',
        to: 'token ?? BigInt(/\\d*$/.exec(path)?.[0] ?? 0)',
      },
      {
        bug: 'a guarded transaction of a holder that lost the lock commits',
        from: 'this.client.transaction().check(this.path)',
        to: 'this.client.transaction()',
      },
      {
        bug: 'a release that the server refused cannot be repeated',
        from: '      this.#released = undefined\n',
        to: '',
      },
      {
        bug: 'the watch on the holder’s own node stays after the release',
        from: 'this.#watching.abort(undefined)',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/locks/leases.test.ts',
    bugs: [
      {
        bug: 'the node of a lost lock stays when the session survives, and blocks the other contenders',
        from: 'this.#ownNode.remove().finally(this.#endHold)',
        to: 'Promise.resolve().finally(this.#endHold)',
      },
    ],
  },
  {
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/locks/multi-lock.test.ts',
    bugs: [
      {
        bug: 'a holder reads its node again after the event of its deletion, and another lock is granted meanwhile',
        from: "if (type === 'NodeDeleted') this.lose(undefined)",
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/locks/use.test.ts',
    bugs: [
      {
        bug: 'the signal of a holder whose process was stopped aborts only when a timer fires',
        from: '    this.#checkLease()\n    return this.#lost.signal',
        to: '    return this.#lost.signal',
      },
    ],
  },
  {
    file: 'src/recipes/locks/held.ts',
    caughtBy: 'test/recipes/queue/look-ahead.test.ts',
    bugs: [
      {
        bug: 'a holder does not notice that one transaction deleted its predecessor and its own node',
        from: 'ownNode.onGone(() => this.lose(undefined))',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/locks/in-process-queue.ts',
    caughtBy: 'test/recipes/locks/reentrant-mutex.test.ts',
    bugs: [
      {
        bug: 'after a loss the next local request waits until the old owner releases',
        from: 'onAbort(held.signal, () => this.#end())',
        to: '',
      },
      {
        bug: 'two views of one session queue separately for the same lock',
        from: 'const key = serverPath(client, path)',
        to: 'const key = path',
      },
      {
        bug: 'a request that fails at the server blocks the local ones after it',
        from: '} catch (error) {\n      this.#end()\n      throw error',
        to: '} catch (error) {\n      throw error',
      },
    ],
  },
  {
    file: 'src/recipes/locks/multi-lock.ts',
    caughtBy: 'test/recipes/locks/multi-lock.test.ts',
    bugs: [
      {
        bug: 'a MultiLock keeps waiting for the next lock, and keeps the others, when one of them is lost',
        from: 'signal: lostOrCancelled.signal',
        to: 'signal',
      },
      {
        bug: 'a MultiLock stops at the first refused release, and keeps the locks after it',
        from: 'await each.release().catch((error: unknown) => failures.push(error))',
        to: 'await each.release()',
      },
      {
        bug: 'two MultiLocks wait for each other for ever, because each acquires its locks in the order of its list',
        from: 'locks.toSorted((a, b) => (serverPathOf(a) < serverPathOf(b) ? -1 : 1))',
        to: 'locks',
      },
    ],
  },
  {
    file: 'src/recipes/locks/read-write-held.ts',
    caughtBy: 'test/recipes/locks/downgrade.test.ts',
    bugs: [
      {
        bug: 'a write lock that was lost can be downgraded, and its reader is beside a writer',
        from: '[{ check: this.#ownNode.node.path }, ',
        to: '[',
      },
      {
        bug: 'a downgraded lock still excludes other readers, because its write node stays',
        from: 'await this.#releaseWrite(ownNode, read)',
        to: '',
      },
      {
        bug: 'release() of a write lock deletes its node in the middle of a downgrade',
        from: 'this.#downgrading === undefined ? release() : this.#downgrading.then(() => undefined, release)',
        to: 'release()',
      },
    ],
  },
  {
    file: 'src/recipes/locks/semaphore.ts',
    caughtBy: 'test/recipes/locks/semaphore.test.ts',
    bugs: [
      {
        bug: 'a client does not wait until its holder of a permit has left the gate',
        from: 'else inBackground(this.#queue.client, leaving)',
        to: 'else leaving.catch(() => undefined)',
      },
      {
        bug: 'a tryAcquire() of a full semaphore keeps its node',
        from: '    await ownNode.remove()\n    return null',
        to: '    return null',
      },
    ],
  },
  {
    file: 'src/recipes/locks/ticket-lives.ts',
    caughtBy: 'test/recipes/locks/ticket-lives.test.ts',
    bugs: [
      {
        bug: 'two lives of a TicketMutex exist, because its node was deleted and created again with the same version',
        from: '[{ delete: claim }, ',
        to: '[',
      },
      {
        bug: 'two lives of a TicketMutex exist, because two clients began one at the same time',
        from: '...this.#beginning(life, node?.version)',
        to: '...this.#beginning(life)',
      },
      {
        bug: 'the last holder of a used-up directory and the first of the next one hold the lock together',
        from: '[{ delete: this.directoryOf(life) }, ',
        to: '[',
      },
    ],
  },
  {
    file: 'src/recipes/locks/ticket-waiter.ts',
    caughtBy: 'test/recipes/locks/ticket-hand-over.test.ts',
    bugs: [
      {
        bug: 'the next holder of a TicketMutex watches the head only after the list that shows it',
        from: '      this.#lookAhead.watch(ticket.ticketName(this.#released + 1), signal)\n',
        to: '',
      },
      {
        bug: 'the next holder of a TicketMutex lists the tickets although it could have read that one was released',
        from: 'this.#reading = this.#directory.read(signal)',
        to: 'this.#reading = new Promise(() => undefined)',
      },
    ],
  },
  {
    file: 'src/recipes/locks/use-held.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bugs: [
      {
        bug: 'use() keeps the lock if its function throws',
        from: 'await held.release().catch((refusal',
        to: 'await Promise.resolve().catch((refusal',
      },
    ],
  },
]
