// Races, which the exploration of every schedule must find.
import type { BugsOfFile } from '../planted-bug.ts'

const caughtBy = 'test/exploration/exploration.test.ts'

export const races: readonly BugsOfFile[] = [
  {
    file: 'src/recipes/locks/ticket-waiter.ts',
    caughtBy,
    bugs: [
      {
        bug: 'a ticket has its turn although it was deleted before its owner read which ticket was released',
        from: ': ticket.areOnlyEarlierGone(node.name, read.stat)',
        to: ': true',
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
