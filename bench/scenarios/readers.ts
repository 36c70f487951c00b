// N who read and one who writes, in turns: the writer lets all readers in at once, and waits behind them until the last has left.
import { ReadWriteLock } from '../../src/recipes/index.ts'
import type { Scenario } from '../harness/scenario.ts'
import { contender } from './locks.ts'

export const readersAndWriter = (name: string, about: string, { herd }: { herd: boolean }): Scenario => ({
  name,
  kind: 'lock',
  about,
  prologue: [
    { name: 'write', deed: 'write', by: 'conductor', marks: () => 1 },
    { name: 'read', deed: 'read', by: 'all', marks: () => 0 },
  ],
  phases: [
    { name: 'let in', deed: 'letIn', by: 'conductor', marks: n => n },
    { name: 'wait', deed: 'write', by: 'conductor', marks: () => 0 },
    { name: 'leave', deed: 'leave', by: 'all', marks: () => 1 },
    { name: 'return', deed: 'read', by: 'all', marks: () => 0 },
  ],
  // In a herd those who return wake each other; otherwise nobody does, and the herd is the one that is let in.
  theory: { phase: herd ? 'return' : 'let in', notifications: 1, bytes: 2, gathering: 2 },
  hasConductor: true,
  isExtra: true,
  byChance: 'readers leave and return all at once, and each may list before or after another',
  member: seat => {
    const reader = contender(new ReadWriteLock(seat.client, seat.directory, { herd }).readLock, seat)
    return { read: reader.queue, leave: reader.release }
  },
  conductor: seat => {
    const writer = contender(new ReadWriteLock(seat.client, seat.directory, { herd }).writeLock, seat)
    return { write: writer.queue, letIn: writer.release }
  },
})
