// N who read and one who writes, in turns: the writer lets all readers in at once, and waits behind them until the last has left.
import { ReadWriteLock } from '../../src/recipes/index.ts'
import type { Scenario } from '../harness/scenario.ts'
import { contender } from './locks.ts'

export const readersAndWriter = (name: string, about: string, { herd }: { herd: boolean }): Scenario => ({
  name,
  kind: 'lock',
  about,
  warmUp: [
    { name: 'write', action: 'write', by: 'trigger', marks: () => 1 },
    { name: 'read', action: 'read', by: 'all', marks: () => 0 },
  ],
  phases: [
    { name: 'let in', action: 'letIn', by: 'trigger', marks: n => n },
    { name: 'wait', action: 'write', by: 'trigger', marks: () => 0 },
    { name: 'leave', action: 'leave', by: 'all', marks: () => 1 },
    { name: 'return', action: 'read', by: 'all', marks: () => 0 },
  ],
  // In a herd those who return wake each other; otherwise nobody does, and the herd is the one that is let in.
  theory: { phase: herd ? 'return' : 'let in', notifications: 1, bytes: 2, gathering: 2 },
  hasTrigger: true,
  isExtra: true,
  variesBecause: 'readers leave and return all at once, and each may list before or after another',
  member: seat => {
    const reader = contender(new ReadWriteLock(seat.client, seat.directory, { herd }).readLock, seat)
    return { read: reader.queue, leave: reader.release }
  },
  trigger: seat => {
    const writer = contender(new ReadWriteLock(seat.client, seat.directory, { herd }).writeLock, seat)
    return { write: writer.queue, letIn: writer.release }
  },
})
