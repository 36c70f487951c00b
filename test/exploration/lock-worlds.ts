// The worlds of the locks: each process acquires a lock once, works, and releases it.
import type { Client } from '../../src/index.ts'
import { Mutex, TicketMutex } from '../../src/recipes/index.ts'
import type { Lock } from '../../src/recipes/locks/lock.ts'
import { violations } from '../linearizability/invariants.ts'
import { kinds, type Kind } from '../linearizability/tenures.ts'
import { transactionOf } from '../linearizability/transaction-log.ts'
import { SESSION_TIMEOUT, type Scenario } from './world.ts'

const PATH = '/lock'
export const names = ['anna', 'ben', 'cleo', 'dan']

interface LockWorld {
  name: string
  make: (client: Client, path: string) => Lock
  kind: Kind
}

/** @param isNew true if nobody has used the lock before, so that the contenders also create its directory */
export function contention({ name, make, kind }: LockWorld, contenders: number, isNew = false): Scenario {
  return {
    name: `${name}, ${contenders} contenders${isNew ? ' for a new lock' : ''}`,
    hasOperator: true,
    ...(!isNew && { prepare: async client => (await make(client, PATH).acquire()).release() }),
    processes: names.slice(0, contenders),
    begin: world => ({
      run: (process, contender) =>
        process.abortable(signal =>
          contender.attempt(make(contender.client, PATH), () => process.step('has the lock, and ends its work'), {
            signal,
          }),
        ),
      judge: () =>
        violations({
          locks: new Map([[PATH, kind]]),
          events: world.events,
          log: world.log.map(transactionOf),
          wallClockOffset: 1_700_000_000_000,
          patience: Infinity,
          grace: SESSION_TIMEOUT + 500,
        }).map(({ rule, what }) => `${rule}: ${what}`),
    }),
  }
}

export const mutex: LockWorld = { name: 'Mutex', make: (client, path) => new Mutex(client, path), kind: kinds.queue }
export const ticketMutex: LockWorld = {
  name: 'TicketMutex',
  make: (client, path) => new TicketMutex(client, path),
  kind: kinds.tickets,
}
export const textbook: LockWorld = {
  name: 'Mutex without look-ahead',
  make: (client, path) => new Mutex(client, path, { lookAhead: false }),
  kind: kinds.queue,
}
