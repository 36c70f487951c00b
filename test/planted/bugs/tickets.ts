// Bugs of TicketMutex: of its lives and of its queue.
import type { PlantedBug } from '../planted-bug.ts'

const lives = {
  file: 'src/recipes/locks/ticket-lives.ts',
  caughtBy: 'test/recipes/locks/ticket-lives.test.ts',
}
const ticket = { file: 'src/recipes/locks/ticket.ts', caughtBy: 'test/recipes/locks/ticket.test.ts' }
const ticketMutex = { file: 'src/recipes/locks/ticket-mutex.ts', caughtBy: 'test/recipes/locks/ticket-mutex.test.ts' }

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
    bug: 'a ticket is granted as soon as any ticket was released',
    from: 'released === own - 1',
    to: 'released !== undefined',
  },
  {
    ...ticket,
    bug: 'a ticket is granted when the waiter before it cancels, while the lock is held',
    from: "released === watched ? { do: 'hold' } : { do: 'list' }",
    to: "{ do: 'hold' }",
  },
  {
    ...ticket,
    bug: 'a ticket is granted by the number in a directory that was created again',
    from: "if (!isOurs) return { do: 'draw' }\n  return released",
    to: 'return released',
  },
  {
    ...ticket,
    bug: 'other users’ data in the directory counts as the number of a released ticket',
    from: '/^\\d{10}$/.test(text)',
    to: '/\\d/.test(text)',
  },
  {
    ...ticketMutex,
    bug: 'a waiter that cancels writes its number, and so lets the next one in while the lock is held',
    from: 'if (!this.#isHeld) return client.delete(path)',
    to: '',
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
    from: "next.do !== 'hold' || !client.leaseSignal.aborted",
    to: 'signal instanceof AbortSignal',
    caughtBy: 'test/recipes/locks/leases.test.ts',
  },
]
