// The scenarios of the fan-out benchmark. Each lock is one call of lock() in this list.
// May import: bench/harness/scenario.ts, src/index.ts, src/recipes/index.ts.
import {
  EphemeralMutex,
  HerdMutex,
  Mutex,
  ReadWriteLock,
  ReentrantMutex,
  TicketMutex,
} from '../../src/recipes/index.ts'
import type { Scenario } from '../harness/scenario.ts'
import { lock } from './locks.ts'
import { readersAndWriter } from './readers.ts'
import { reconnectHerd, sessionHerd } from './sessions.ts'
import { childWatch, dataWatch, recursiveWatch } from './watches.ts'

export const scenarios: readonly Scenario[] = [
  lock(
    'ephemeral',
    'a single node that all watch',
    (client, path) => new EphemeralMutex(client, `${path}/l`),
    [1, 1, 1],
    { isPrimary: true },
  ),
  lock('herd', 'a queue: all watch the directory', (client, path) => new HerdMutex(client, path), [1, 2, 2], {
    isPrimary: true,
  }),
  lock(
    'mutex',
    'a queue: each watches its predecessor',
    (client, path) => new Mutex(client, path, { lookAhead: false }),
    [0, 1, 2],
    { isPrimary: true },
  ),
  lock('look-ahead', 'the same, and each looks ahead', (client, path) => new Mutex(client, path), [0, 1, 2], {
    isPrimary: true,
    firstStepDiffers: true,
  }),
  lock('ticket', 'a queue of numbers, without lists', (client, path) => new TicketMutex(client, path), [0, 0, 1], {
    isPrimary: true,
    firstStepDiffers: true,
  }),
  lock(
    'reentrant',
    'a local queue in each of 10 sessions',
    (client, path) => new ReentrantMutex(client, path),
    [0, 0, 1],
    {
      sessions: 10,
      variesBecause:
        'a notified contender may list the queue before or after the next one of another session has joined',
    },
  ),
  readersAndWriter('readers', 'one writer, all others read', { herd: false }),
  lock(
    'write',
    'a read/write lock: all write',
    (client, path) => new ReadWriteLock(client, path).writeLock,
    [0, 1, 2],
    {
      isExtra: true,
    },
  ),
  lock(
    'write-herd',
    'the same: all watch the directory',
    (client, path) => new ReadWriteLock(client, path, { herd: true }).writeLock,
    [1, 2, 2],
    { isExtra: true },
  ),
  readersAndWriter('rw-herd', 'one writer, others read, as a herd', { herd: true }),
  dataWatch,
  childWatch,
  recursiveWatch,
  reconnectHerd,
  sessionHerd,
]
