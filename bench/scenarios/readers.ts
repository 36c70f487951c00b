// N readers and one writer in turns. A release of the writer admits all readers at once. Then the writer queues again,
// and waits until the last reader has left.
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
  // In a herd, returning readers wake each other, so the phase to plot is the return. Otherwise it is the admission.
  theory: { phase: herd ? 'return' : 'let in', notifications: 1, bytes: 2, gathering: 2 },
  hasTrigger: true,
  isExtra: true,
  variesBecause: 'readers leave and return at the same time, and each may list the queue before or after another',
  member: participant => {
    const reader = contender(
      new ReadWriteLock(participant.client, participant.directory, { herd }).readLock,
      participant,
    )
    return { read: reader.queue, leave: reader.release }
  },
  trigger: participant => {
    const writer = contender(
      new ReadWriteLock(participant.client, participant.directory, { herd }).writeLock,
      participant,
    )
    return { write: writer.queue, letIn: writer.release }
  },
})
