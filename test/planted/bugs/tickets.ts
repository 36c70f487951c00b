// Bugs of TicketMutex: of its lives and of its queue.
import type { PlantedBug } from '../planted-bug.ts'

const lives = {
  file: 'src/recipes/locks/ticket-lives.ts',
  caughtBy: 'test/recipes/locks/ticket-lives.test.ts',
}
const ticket = { file: 'src/recipes/locks/ticket.ts', caughtBy: 'test/recipes/locks/ticket.test.ts' }
const ticketMutex = { file: 'src/recipes/locks/ticket-mutex.ts', caughtBy: 'test/recipes/locks/ticket-mutex.test.ts' }

const ticketWait = { file: 'src/recipes/locks/ticket-wait.ts', caughtBy: 'test/recipes/locks/ticket-wait.test.ts' }

export const ticketBugs: readonly PlantedBug[] = [
  {
    ...lives,
    bug: 'two lives of a TicketMutex exist, because its node was deleted and created again with the same version',
    from: '[{ delete: claim }, ',
    to: '[',
  },
  {
    ...lives,
    bug: 'two lives of a TicketMutex exist, because two clients began one at the same time',
    from: '...this.#beginning(life, node?.version)',
    to: '...this.#beginning(life)',
  },
  {
    ...lives,
    bug: 'the names of tickets return, because a directory is created for a uuid that is in the data already',
    from: 'life = newUuid(client)',
    to: 'life = node?.named !== undefined && isLife(node.named) ? node.named : newUuid(client)',
  },
  {
    ...lives,
    bug: 'the last holder of a used-up directory and the first of the next one hold the lock together',
    from: '[{ delete: this.directoryOf(life) }, ',
    to: '[',
  },
  {
    ...lives,
    bug: 'a second life begins beside a holder, because another client has overwritten the name of the first one',
    from: ' ?? children.find(isLife)',
    to: '',
  },
  {
    ...lives,
    bug: 'a TicketMutex is granted beside a contender of an older version',
    from: 'if (old !== undefined) throw',
    to: "if (old === '') throw",
  },
  {
    ...lives,
    bug: 'a session remembers the lives of all locks that it ever used',
    from: 'if (lives.size >= MOST_LIVES && oldest !== undefined) ',
    to: 'if (lives.size < 0 && oldest !== undefined) ',
  },
  {
    ...ticket,
    bug: 'a waiter takes the give-up of a ticket for its release, and holds the lock beside the holder',
    from: 'second: second === undefined || isUpTo(second, released) ? undefined : previous(second, released)',
    to: 'second: isUpTo(second ?? 0, released) ? undefined : undefined',
  },
  {
    ...ticket,
    bug: 'a ticket has its turn when the waiter before it cancels, while the lock is held',
    from: "if (second === undefined) return { do: 'take' }",
    to: "if (second !== -1) return { do: 'take' }",
  },
  {
    ...ticket,
    bug: 'other users’ data in the directory counts as the number of a released ticket',
    from: '/^\\d{10}$/.test(text)',
    to: '/\\d/.test(text)',
  },
  {
    ...ticketWait,
    bug: 'a ticket has its turn although it may be deleted, because its watch is being set again',
    from: 'if (own.isThere) return true',
    to: "if (own.status !== 'gone') return true",
  },
  {
    ...ticketWait,
    file: 'src/recipes/node/node-watch.ts',
    bug: 'a waiter of a TicketMutex trusts the order of events across a reconnect',
    from: 'this.#connects === this.#client.stats.connects && ',
    to: '',
  },
  {
    ...ticketWait,
    file: 'src/recipes/locks/ticket-mutex.ts',
    bug: 'a ticket has its turn although it was deleted before its owner read which ticket was released',
    from: "areOnlyEarlierGone(this.#number, directory.stat) ? 'first' : 'firstIfThere'",
    to: "areOnlyEarlierGone(this.#number, directory.stat) ? 'first' : 'first'",
    caughtBy: 'test/recipes/locks/ticket-mutex.test.ts',
  },
  {
    ...ticketWait,
    bug: 'a waiter of a TicketMutex waits for ever if its ticket was deleted',
    from: "if (own.status === 'gone') return false",
    to: '',
    caughtBy: 'test/recipes/locks/ticket-mutex.test.ts',
  },
  {
    ...ticketWait,
    bug: 'a cancelled waiter of a TicketMutex sets one more watch, and leaves it',
    from: '    this.#signal.throwIfAborted()\n',
    to: '',
    caughtBy: 'test/recipes/faults.test.ts',
  },
  {
    ...ticketWait,
    bug: 'the next holder of a TicketMutex lists the tickets after a release that it could have read of',
    from: 'this.#ahead = onRead(ahead, await this.#readReleased())',
    to: 'await Promise.resolve(onRead)',
    caughtBy: 'test/recipes/locks/ticket-hand-over.test.ts',
  },
  {
    ...ticketWait,
    bug: 'the last waiter behind many that gave up watches the holder one round trip too late',
    from: 'if (likelyHead < number) this.#watch(likelyHead)',
    to: 'if (likelyHead > number) this.#watch(likelyHead)',
    caughtBy: 'test/recipes/locks/ticket-hand-over.test.ts',
  },
  {
    ...ticketMutex,
    bug: 'a number that another client wrote lets all waiters of a TicketMutex in',
    from: 'released !== undefined && released < this.#number',
    to: 'released !== undefined',
    caughtBy: 'test/recipes/locks/ticket-wait.test.ts',
  },
  {
    ...ticketMutex,
    bug: 'a waiter that cancels writes its number, and so lets the next one in while the lock is held',
    from: 'if (!this.#isHeld) return client.delete(path)',
    to: '',
    caughtBy: 'test/recipes/locks/ticket-wait.test.ts',
  },
  {
    ...ticketMutex,
    bug: 'a ticket cannot be released if its owner may not write the directory',
    from: "if (error instanceof MultiError && error.op === 'setData') return client.delete(path)",
    to: '',
  },
  {
    ...ticketMutex,
    bug: 'a ticket is granted in a session that must be presumed lost',
    from: "if (position === 'first' && !client.leaseSignal.aborted) return true",
    to: "if (position === 'first') return true",
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
]
