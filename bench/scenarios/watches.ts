// N sessions watch one node. How long after a change is the first, the median and the last session notified?
import type { WatchCallback } from '../../src/index.ts'
import type { Member, Phase, Scenario, Participant } from '../harness/scenario.ts'

const everyone = (n: number) => n
const change: Phase = { name: 'change', action: 'change', by: 'trigger', marks: everyone }
const armed: Phase[] = [{ name: 'arm', action: 'arm', by: 'all', marks: () => 0 }]
/** Returns the theory of a phase in which each session is notified once and reads data of constant length. */
const linear = (phase: string) => ({ phase, notifications: 1, bytes: 1, gathering: 1 })

/** A session with a one-shot watch. When notified, it reads again with a new watch. */
function reader({ signal, mark, fail }: Participant, read: (watch: WatchCallback) => Promise<unknown>): Member {
  const arm = (): Promise<unknown> =>
    read(() => {
      // The removal of the directory at the end fires the watch too.
      if (signal.aborted) return
      mark()
      arm().catch(fail)
    })
  return { arm }
}

export const dataWatch: Scenario = {
  name: 'data',
  kind: 'watch',
  about: 'all watch the data of one node (getData)',
  warmUp: armed,
  phases: [change],
  theory: linear('change'),
  hasTrigger: true,
  member: participant => reader(participant, watch => participant.client.getData(participant.directory, { watch })),
  trigger: ({ client, directory }) => ({ change: () => client.setData(directory, 'news') }),
}

export const childWatch: Scenario = {
  name: 'child',
  kind: 'watch',
  about: 'all watch the children of one node (getChildren)',
  warmUp: armed,
  phases: [
    { name: 'appear', action: 'appear', by: 'trigger', marks: everyone },
    { name: 'vanish', action: 'vanish', by: 'trigger', marks: everyone },
  ],
  theory: linear('appear'),
  hasTrigger: true,
  member: participant => reader(participant, watch => participant.client.getChildren(participant.directory, { watch })),
  trigger: ({ client, directory }) => ({
    appear: () => client.create(`${directory}/child`),
    vanish: () => client.delete(`${directory}/child`),
  }),
}

export const recursiveWatch: Scenario = {
  name: 'recursive',
  kind: 'watch',
  about: 'all watch a subtree persistently (addWatch)',
  warmUp: armed,
  phases: [change],
  theory: linear('change'),
  hasTrigger: true,
  setUp: async (client, directory) => {
    await client.create(`${directory}/child`)
  },
  member: ({ client, directory, signal, mark, fail }) => ({
    async arm() {
      const watcher = await client.addWatch(directory, { recursive: true })
      signal.addEventListener('abort', () => void watcher[Symbol.asyncDispose]().catch(fail))
      void (async () => {
        while ((await watcher.next()).done !== true) mark()
      })()
    },
  }),
  trigger: ({ client, directory }) => ({ change: () => client.setData(`${directory}/child`, 'news') }),
}
