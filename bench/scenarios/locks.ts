// N contenders for one lock, each in a session of its own: one holds it, the others wait. A step is a release and a join: so
// N - 1 wait, always.
import type { Client } from '../../src/index.ts'
import type { Member, Scenario, Participant } from '../harness/scenario.ts'

export interface Lock {
  acquire(options: { signal: AbortSignal }): Promise<{ release(): Promise<void> }>
}

export const lock = (
  name: string,
  about: string,
  make: (client: Client, path: string) => Lock,
  [notifications, bytes, gathering]: [notifications: number, bytes: number, gathering: number],
  more: Pick<Scenario, 'sessions' | 'isExtra' | 'variesBecause'> = {},
): Scenario => ({
  ...more,
  name,
  kind: 'lock',
  about,
  warmUp: [{ name: 'gather', action: 'queue', by: 'all', marks: () => 1 }],
  phases: [
    { name: 'release', action: 'release', by: 'marked', marks: () => 1 },
    { name: 'join', action: 'queue', by: 'actor', marks: () => 0 },
  ],
  theory: { phase: 'release', notifications, bytes, gathering },
  member: seat => contender(make(seat.client, seat.directory), seat),
})

export function contender(lock: Lock, { signal, mark, fail }: Participant) {
  let held: { release(): Promise<void> } | undefined
  return {
    queue: async () => {
      try {
        held = await lock.acquire({ signal })
        mark()
      } catch (error) {
        if (!signal.aborted) fail(error)
      }
    },
    release: async () => {
      const mine = held
      held = undefined
      if (mine === undefined) throw new Error('who does not hold the lock was to release it')
      await mine.release()
    },
  } satisfies Member
}
