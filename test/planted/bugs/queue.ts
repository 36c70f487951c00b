// Bugs of the queue of a lock and of its nodes: races, clean-up, reads without a sync.
import type { BugsOfFile } from '../planted-bug.ts'

export const queue: readonly BugsOfFile[] = [
  {
    file: 'src/recipes/node/cancellable.ts',
    caughtBy: 'test/recipes/signals.test.ts',
    bugs: [
      {
        bug: 'a cancelled call waits until the server replies',
        from: '() => reject(scope.reason)',
        to: '() => undefined',
      },
    ],
  },
  {
    file: 'src/recipes/node/cancellable.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bugs: [
      {
        bug: 'a call that succeeds leaves the timer of its timeout',
        from: 'clockOf(client).clearTimeout(timer)',
        to: '',
      },
      { bug: 'a signal that many calls share collects their listeners', from: '    stopListening()\n', to: '' },
      { bug: 'a watch that a call still sets when it ends stays at the server', from: 'scope.abort(ENDED)', to: '' },
    ],
  },
  {
    file: 'src/recipes/node/own-node.ts',
    caughtBy: 'test/recipes/faults.test.ts',
    bugs: [
      {
        bug: 'after a lost reply a lock looks for its node on a server that lags behind, because it does not sync',
        from: '      client.sync(directory),\n',
        to: '      undefined,\n',
      },
    ],
  },
  {
    file: 'src/recipes/node/own-node.ts',
    caughtBy: 'test/recipes/clean-up.test.ts',
    bugs: [
      {
        bug: 'release() resolves before the node is deleted if the client is being closed',
        from: 'await whenEnded(client)',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/node/read-with-watch.ts',
    caughtBy: 'test/recipes/faults.test.ts',
    bugs: [
      {
        bug: 'the watch on the predecessor stays at the server when the wait is cancelled',
        from: 'read({ watch, signal })',
        to: 'read({ watch })',
      },
    ],
  },
  {
    file: 'src/recipes/queue/waiter.ts',
    caughtBy: 'test/recipes/locks/exclusive-locks.test.ts',
    bugs: [
      {
        bug: 'a waiter that is woken holds the lock without looking again whose turn it is',
        from: '      turn = await this.turnIn(await client.retry(() => this.read(signal), { signal }), signal)\n',
        to: '      return\n',
      },
      {
        bug: 'a tryAcquire() that comes second leaves its node',
        from: 'inBackground(client, this.ownNode.remove())',
        to: '',
      },
      {
        bug: 'every waiter of a Mutex watches the directory, so a release wakes all of them',
        from: 'nextChange(client, join(directory, predecessor), signal)',
        to: 'readWatched(signal, options => client.getChildren(directory, options)).then(({ changed }) => changed.then(() => true))',
      },
    ],
  },
  {
    file: 'src/recipes/queue/waiter.ts',
    caughtBy: 'test/recipes/queue/waiter.test.ts',
    bugs: [
      {
        bug: 'a waiter that queues again leaves its first node, which its server did not list yet',
        from: 'await this.ownNode.remove()',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/queue/look-ahead.ts',
    caughtBy: 'test/recipes/queue/waiter.test.ts',
    bugs: [
      {
        bug: 'a cancelled waiter sets one more watch, and leaves it',
        from: 'would stay.\n    signal.throwIfAborted()\n',
        to: 'would stay.\n',
      },
    ],
  },
  {
    file: 'src/recipes/queue/look-ahead.ts',
    caughtBy: 'test/recipes/queue/look-ahead.test.ts',
    bugs: [
      {
        bug: 'a waiter that looks ahead leaves its watches on other nodes when it gives up',
        from: 'name), signal, onChange',
        to: 'name), signal: new AbortController().signal, onChange',
      },
    ],
  },
  {
    file: 'src/recipes/node/own-node.ts',
    caughtBy: 'test/recipes/queue/look-ahead.test.ts',
    bugs: [
      {
        bug: 'a waiter relies on the watch on its own node although it may not read the node',
        from: 'if (this.#watch !== undefined || this.#plan.acl !== undefined) return undefined',
        to: 'if (this.#watch !== undefined) return undefined',
      },
    ],
  },
  {
    file: 'src/session/watches/watch-manager.ts',
    caughtBy: 'test/recipes/node/node-watch.test.ts',
    bugs: [
      {
        bug: 'watches that are set together stay if their request is lost',
        from: 'watches.forEach(watch => this.#drop(watch))',
        to: 'undefined',
      },
      {
        bug: 'a request for several watches ends the persistent watch on one of their paths',
        from: 'if (paths.some(path => this.#persistent.has(path))) return undefined',
        to: '',
      },
    ],
  },
]
