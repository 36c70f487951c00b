// N contenders for one lock, each in its own session. One holds the lock and the others wait. A step is a release and a
// join, so N - 1 are always waiting.
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
  more: Pick<Scenario, 'sessions' | 'isPrimary' | 'isExtra' | 'firstStepDiffers' | 'variesBecause'> = {},
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
  member: participant => contender(make(participant.client, participant.directory), participant),
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
      const releasing = held
      held = undefined
      if (releasing === undefined) throw new Error('cannot release the lock: this session does not hold it')
      await releasing.release()
    },
  } satisfies Member
}
