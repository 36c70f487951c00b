// N sessions lose their connection at once, or expire at once.
import { setMaxListeners } from 'node:events'
import type { Scenario } from '../harness/scenario.ts'

const WATCHES = 10
const everyone = (n: number) => n
const names = Array.from({ length: WATCHES }, (_, i) => `watched-${i}`)

/** Every session reconnects, and sets its watches again before it sends any other request. */
export const reconnectHerd: Scenario = {
  name: 'reconnect',
  kind: 'session',
  about: `all lose their connection, with ${WATCHES} watches each`,
  warmUp: [{ name: 'arm', action: 'arm', by: 'all', marks: () => 0 }],
  phases: [{ name: 'reconnect', action: 'reconnect', by: 'all', marks: everyone }],
  theory: { phase: 'reconnect', notifications: 0, bytes: 1, gathering: 1 },
  ownSessions: { timeout: undefined },
  setUp: async (client, directory) => {
    await Promise.all(names.map(name => client.create(`${directory}/${name}`)))
  },
  member: ({ client, directory, cut, rearmed, mark }) => ({
    arm: () => Promise.all(names.map(name => client.getData(`${directory}/${name}`, { watch: () => undefined }))),
    async reconnect() {
      cut()
      await rearmed()
      mark()
    },
  }),
}

/**
 * The server expires the sessions, removes their ephemeral nodes, and notifies a watcher. Then all of them are
 * replaced.
 */
export const sessionHerd: Scenario = {
  name: 'expire',
  kind: 'session',
  about: 'all expire, with an ephemeral node each, and reconnect',
  warmUp: [{ name: 'settle', action: 'settle', by: 'all', marks: () => 0 }],
  phases: [
    { name: 'expire', action: 'isolate', by: 'all', marks: everyone, isolates: true, from: 'first' },
    { name: 'return', action: 'return', by: 'all', marks: everyone },
  ],
  theory: { phase: 'expire', notifications: 1, bytes: 1, gathering: 1 },
  hasTrigger: true,
  ownSessions: { timeout: 4000 },
  isSlow: true,
  isExtra: true,
  member: participant => {
    let { client } = participant
    const settle = () => client.create(`${participant.directory}/node-`, '', { mode: 'ephemeralSequential' })
    return {
      settle,
      isolate: () => {
        participant.isolate()
        return undefined
      },
      async return() {
        client = await participant.replaceSession()
        await settle()
        participant.mark()
      },
    }
  },
  trigger: ({ client, directory, signal, mark, fail }) => ({
    async settle() {
      const watcher = await client.addWatch(directory, { recursive: true, capacity: Infinity })
      setMaxListeners(0, signal)
      signal.addEventListener('abort', () => void watcher[Symbol.asyncDispose]().catch(fail))
      void (async () => {
        for await (const { type } of watcher) {
          if (type === 'NodeDeleted') mark()
          if (type === 'resync') fail(new Error('the trigger session lost events: its watcher was resynced'))
        }
      })()
    },
  }),
}
