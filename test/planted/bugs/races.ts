// Races, which the exploration of every schedule must find.
import type { BugsOfFile } from '../planted-bug.ts'

const caughtBy = 'test/exploration/exploration.test.ts'

export const races: readonly BugsOfFile[] = [
  {
    file: 'src/recipes/locks/ticket-waiter.ts',
    caughtBy,
    bugs: [
      {
        // The two holders of the simulated world with the seed 201963.
        bug: 'a ticket has its turn although it was deleted before its owner read which ticket was released',
        from: ': ticket.areOnlyEarlierGone(node.name, read.stat)',
        to: ': true',
      },
      {
        bug: 'a contender that gives up writes that its ticket was released, so later ones take those before it for gone',
        from: '    if (!this.isHeld) return this.#client.delete(path)\n',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/locks/ticket-lives.ts',
    caughtBy,
    bugs: [
      {
        bug: 'the next life begins although the last ticket of the one before still holds the lock',
        from: '[{ delete: this.directoryOf(life) }, ...this.#beginning(next)]',
        to: 'this.#beginning(next)',
      },
    ],
  },
  {
    file: 'src/recipes/locks/read-write-lock.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a reader does not wait for the writers ahead of it',
        from: 'blocks: ({ name }) => names.isWriter(name) })',
        to: 'blocks: () => false })',
      },
    ],
  },
  {
    file: 'src/recipes/locks/multi-lock.ts',
    caughtBy,
    bugs: [
      {
        bug: 'two contenders acquire the same locks in different orders, and wait for each other',
        from: 'locks.toSorted((a, b) => (serverPathOf(a) < serverPathOf(b) ? -1 : 1))',
        to: 'locks',
      },
    ],
  },
  {
    file: 'src/recipes/locks/semaphore.ts',
    caughtBy,
    bugs: [
      {
        bug: 'one contender more than there are permits holds a semaphore',
        from: 'children.filter(isTaken).length <= this.#count ?',
        to: 'children.filter(isTaken).length <= this.#count + 1 ?',
      },
    ],
  },
  {
    file: 'src/recipes/coordination/barrier.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a waiter sets its watch only after it has read that the barrier is up',
        from: 'const reading = readWatched(signal, options => this.#client.getData(this.path, options))',
        to: 'const reading = this.#client.getData(this.path, { signal }).then(() => readWatched(signal, options => this.#client.exists(this.path, options)))',
      },
    ],
  },
  {
    file: 'src/recipes/queue/waiter.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a contender whose process was stopped has its turn before it knows that its session is alive',
        from: "if (woken === 'turn' && (await this.#isConfirmed(signal))) return",
        to: "if (woken === 'turn') return",
      },
    ],
  },
  {
    file: 'src/session/requests/request.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a watch is armed a moment after its reply, when its event may have been received already',
        from: 'watches.arm(kind, watch, !this.settled)',
        to: 'queueMicrotask(() => watches.arm(kind, watch, !this.settled))',
      },
    ],
  },
  {
    file: 'src/recipes/queue/turn.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a contender whose node another client deleted is first, because no node is ahead of it',
        from: "if (!isPresent) return { status: 'gone' }",
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/node/cancellable.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a caller that gives up leaves its node in the queue',
        from: 'else inBackground(client, undo(done), path)',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/node/own-node.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a contender enters the queue a second time after a lost reply, and waits for its own first node',
        from: "if (fateOf(error) === 'unknown') await this.#find()\n    else this.#uncertain",
        to: 'this.#uncertain',
      },
      {
        bug: 'a contender whose reply was lost adopts the node of another one',
        from: 'children.filter(name => name.startsWith(nameOf(path)))',
        to: 'children.filter(name => sequenceOf?.(name) !== undefined)',
      },
      {
        bug: 'a release whose reply was lost fails, because the node is gone already',
        from: "        if (!isCode(error, 'NONODE')) throw error\n      }\n    })",
        to: '        throw error\n      }\n    })',
      },
    ],
  },
  {
    file: 'src/recipes/node/retry-until-done.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a release gives up when the connection is lost, and its node stays',
        from: 'return await client.retry(task, { signal })',
        to: 'return await task()',
      },
    ],
  },
  {
    file: 'src/recipes/queue/look-ahead.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a contender takes a watch for one that will still report, although its node was changed and the watch is used up',
        from: "if (known !== undefined && (known.isPending || known.status === 'gone')) return known",
        to: 'if (known !== undefined) return known',
      },
      {
        bug: 'a contender does not watch its own node, and has its turn although the node was deleted',
        from: 'const own = this.#ownNode.watch(this.#onChange)',
        to: "const own = { isThere: true, status: 'there', hasFired: false } as NodeWatch",
      },
      {
        bug: 'a contender has its turn when its predecessor leaves, although the one before that still holds the lock',
        from: "onPredecessor.status === 'gone' && onSecond === undefined && own.isThere",
        to: "onPredecessor.status === 'gone' && own.isThere",
      },
    ],
  },
  {
    file: 'src/session/watches/watch-manager.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a contender that connects again does not set its watches again, and waits for ever',
        from: '    sendSetWatches(connection, lastZxid, this.#oneShot.paths(), this.#persistent.paths())\n',
        to: '',
      },
    ],
  },
  {
    file: 'src/recipes/data/shared-value.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a write does not ask for the version that it read, so one of two increments is lost',
        from: '{ setData: path, data, version }',
        to: '{ setData: path, data }',
      },
    ],
  },
  {
    file: 'src/recipes/data/marked-multi.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a write is repeated after a lost reply without a look at its marker',
        from: 'if (isUncertain && (await this.#isThere())) return undefined\n',
        to: '',
      },
    ],
  },
]
