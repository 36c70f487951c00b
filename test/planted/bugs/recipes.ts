// Bugs of the other recipes: races, clean-up, reads without a sync.
import type { BugsOfFile } from '../planted-bug.ts'

export const recipes: readonly BugsOfFile[] = [
  {
    file: 'src/recipes/cache/cache.ts',
    caughtBy: 'test/recipes/cache/cache-faults.test.ts',
    bugs: [
      {
        bug: 'the error that ends a cache is lost if the only iteration is left by that end',
        from: `    const rejects = hasFollowers || (this.#isAwaited && !this.#isReady)
    this.#end({ error })
`,
        to: `    this.#end({ error })
    const rejects = this.#changes.hasFollowers || (this.#isAwaited && !this.#isReady)
`,
      },
    ],
  },
  {
    file: 'src/recipes/cache/cache.ts',
    caughtBy: 'test/recipes/cache/cache.test.ts',
    bugs: [
      {
        bug: 'an iteration begins with the nodes at its first next(), and then yields changes that they contain already',
        from: 'return this.#nodes(this.#keeper.copy.below(this.path))',
        to: `const { copy } = this.#keeper
    return this.#nodes({ *[Symbol.iterator]() { yield* copy.below(copy.path) } })`,
      },
    ],
  },
  {
    file: 'src/recipes/cache/reads.ts',
    caughtBy: 'test/recipes/cache/cache-sizes.test.ts',
    bugs: [
      {
        bug: 'a cache reads together again what was too large together, and so loses each new connection',
        from: `          each.isSent = false
          this.#alone[each.kind].add(each.path)
`,
        to: `          each.isSent = false
`,
      },
    ],
  },
  {
    file: 'src/recipes/cache/keeper.ts',
    caughtBy: 'test/recipes/cache/cache-model.test.ts',
    bugs: [
      {
        bug: 'a cache does not read again after a reconnect what it has not seen change',
        from: "    for (const [path] of copy.below(copy.path)) this.#read('data', path, true)\n",
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/cache/tree-watch.ts',
    caughtBy: 'test/recipes/cache/event-order.test.ts',
    bugs: [
      {
        bug: 'a cache applies replies before the events that came first',
        from: 'while (handled !== this.#handled)',
        to: 'while (handled === undefined)',
      },
    ],
  },
  {
    file: 'src/recipes/coordination/barrier.ts',
    caughtBy: 'test/recipes/lagging.test.ts',
    bugs: [
      {
        bug: 'a barrier that the connected server does not know yet lets a client pass',
        from: 'const syncing = this.#client.sync(this.path, { signal })',
        to: 'const syncing = Promise.resolve()',
      },
    ],
  },
  {
    file: 'src/recipes/coordination/barrier.ts',
    caughtBy: 'test/recipes/coordination/barrier.test.ts',
    bugs: [
      {
        bug: 'a member whose enter() fails is counted for ever',
        from: 'this.#withdraw(() => member.node.remove())',
        to: '',
      },
      {
        bug: 'a member whose enter() failed and is called again counts its own two nodes',
        from: 'await untilAborted(this.#withdrawal, signal)',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/coordination/leader-election.ts',
    caughtBy: 'test/recipes/coordination/leader-changes.test.ts',
    bugs: [
      {
        bug: 'a function of lead() that ends at once leads again without a pause',
        from: '      await pace.wait(signal)\n    }\n  }',
        to: '    }\n  }',
      },
    ],
  },
  {
    file: 'src/recipes/data/lease.ts',
    caughtBy: 'test/recipes/data/lease.test.ts',
    bugs: [
      {
        bug: 'a lease is written after the node of its lock was deleted',
        from: 'const transaction = held.guard()',
        to: 'const transaction = this.#client.transaction()',
      },
      { bug: 'the lock of a lease stays after the lease was acquired', from: 'await held.release()\n', to: '' },
    ],
  },
  {
    file: 'src/recipes/data/marked-multi.ts',
    caughtBy: 'test/recipes/data/shared-value.test.ts',
    bugs: [
      {
        bug: 'a server that lags behind hides the marker',
        from: 'Promise.all([client.sync(this.#marker), client.exists(this.#marker)])',
        to: 'Promise.all([undefined, client.exists(this.#marker)])',
      },
    ],
  },
  {
    file: 'src/recipes/data/queue-index.ts',
    caughtBy: 'test/recipes/data/queue-index.test.ts',
    bugs: [{ bug: 'two calls of one process try to take the same item', from: 'this.#picked.add(name)\n', to: '' }],
  },
  {
    file: 'src/recipes/data/queue-watch.ts',
    caughtBy: 'test/recipes/lost-frames.test.ts',
    bugs: [
      {
        bug: 'a call that waits for an item does not learn that the session has ended',
        from: 'await this.#client.whenConnected({ signal })',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/data/queue.ts',
    caughtBy: 'test/recipes/data/queue.test.ts',
    bugs: [
      {
        bug: 'consume() keeps an item taken after its function has failed',
        from: 'await item.release().catch(nothing)\n',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/data/shared-value.ts',
    caughtBy: 'test/recipes/data/shared-value.test.ts',
    bugs: [
      { bug: 'a marker is left after each update', from: 'this.#last.then(() => marked.remove())', to: 'this.#last' },
      {
        bug: 'the updates of one object contend with each other',
        from: 'this.#last = done.then(nothing, nothing)',
        to: 'void done.catch(nothing)',
      },
    ],
  },
  {
    file: 'src/recipes/data/shared-value.ts',
    caughtBy: 'test/recipes/contract.test.ts',
    bugs: [
      {
        bug: 'a write stores bytes that the caller changed after the call',
        from: 'data === null ? null : Buffer.from(data as Uint8Array)',
        to: "data === null ? null : typeof data === 'string' ? Buffer.from(data) : (data as Buffer)",
      },
    ],
  },
  {
    file: 'src/recipes/members/membership.ts',
    caughtBy: 'test/recipes/members/membership.test.ts',
    bugs: [
      {
        bug: 'start() resolves before the member is in the list',
        from: 'await this.#view.loop?.until(isListed, signal)',
        to: 'signal.throwIfAborted()',
      },
    ],
  },
  {
    file: 'src/recipes/members/partition-run.ts',
    caughtBy: 'test/recipes/members/partitioner.test.ts',
    bugs: [
      {
        bug: 'an item passes on although its task still runs',
        from: 'await this.#task(held)\n',
        to: 'await Promise.race([this.#task(held), aborted(held.signal)])\n',
      },
      {
        bug: 'an item is released and taken again and again when its task returns early',
        from: 'await aborted(held.signal)\n',
        to: '',
      },
      { bug: 'a partitioner goes on when its session has ended', from: "this.#client.on('state', onState)", to: '' },
      {
        bug: 'an item that was lost is not taken again',
        from: 'while (this.#isWanted) {',
        to: 'if (this.#isWanted) {',
      },
    ],
  },
  {
    file: 'src/recipes/members/persistent-ephemeral.ts',
    caughtBy: 'test/recipes/members/persistent-ephemeral.test.ts',
    bugs: [
      {
        bug: 'a node that another client deletes again and again is created without a pause',
        from: 'if (read === undefined) await pace.wait(step)',
        to: 'if (read === undefined) await Promise.resolve()',
      },
      {
        bug: 'the node stays after close()',
        from: 'await retryUntilDone(client, () => this.#node.remove(client, () => isKeptByAnother(loop)))',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/members/services.ts',
    caughtBy: 'test/recipes/members/starts.test.ts',
    bugs: [
      {
        bug: 'an instance whose register() fails after a new session has started stays',
        from: "this.#add('register', path, node, options, close)",
        to: "this.#add('register', path, node, options, () => Promise.resolve())",
      },
    ],
  },
  {
    file: 'src/recipes/members/session-loop.ts',
    caughtBy: 'test/recipes/members/persistent-ephemeral.test.ts',
    bugs: [
      {
        bug: 'setData() waits for ever for a session that has ended',
        from: 'this.#end ??= { error }\n    this.#reject(error)',
        to: 'this.#end ??= { error }',
      },
    ],
  },
  {
    file: 'src/recipes/members/wanted-node.ts',
    caughtBy: 'test/recipes/members/persistent-ephemeral.test.ts',
    bugs: [
      {
        bug: 'a second sequential node is created after the reply to the create of the first was lost',
        from: 'this.#path = await this.#findSequential(client)',
        to: 'this.#path = undefined',
      },
      {
        bug: 'a server that lags behind hides the node that close() must remove',
        from: 'Promise.all([client.sync(path), client.exists(path)])',
        to: 'Promise.all([undefined, client.exists(path)])',
      },
    ],
  },
]
