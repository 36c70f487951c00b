// What is measured: a lock is a line here.
import { EphemeralMutex, HerdMutex, Mutex, TicketMutex } from '../../src/recipes/index.ts'
import type { Scenario } from '../scenario.ts'
import { lock } from './locks.ts'
import { reconnectHerd, sessionHerd } from './sessions.ts'
import { childWatch, dataWatch, recursiveWatch } from './watches.ts'

export const scenarios: readonly Scenario[] = [
  lock('ephemeral', 'one node, all watch it', (client, path) => new EphemeralMutex(client, `${path}/l`), [1, 1]),
  lock('herd', 'a queue, all watch the directory', (client, path) => new HerdMutex(client, path), [1, 2]),
  lock('mutex', 'a queue, each watches the one before', (client, path) => new Mutex(client, path), [0, 1]),
  lock('ticket', 'a queue by numbers, nobody lists', (client, path) => new TicketMutex(client, path), [0, 0]),
  dataWatch,
  childWatch,
  recursiveWatch,
  reconnectHerd,
  sessionHerd,
]
