// S sessions lose their server at once; S sessions expire at once.
import { setMaxListeners } from 'node:events'
import type { Scenario } from '../harness/scenario.ts'

const WATCHES = 10
const everyone = (n: number) => n
const names = Array.from({ length: WATCHES }, (_, i) => `watched-${i}`)

/** Every session connects anew and has its watches set again before anything else is sent. */
export const reconnectHerd: Scenario = {
  name: 'reconnect',
  kind: 'session',
  about: `all lose their connection at once, with ${WATCHES} watches each`,
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

/** The server ends them, with an ephemeral node each, and tells somebody who watches; then all of them come back. */
export const sessionHerd: Scenario = {
  name: 'expire',
  kind: 'session',
  about: 'all expire at once, each with an ephemeral node, and come back',
  warmUp: [{ name: 'settle', action: 'settle', by: 'all', marks: () => 0 }],
  phases: [
    { name: 'expire', action: 'isolate', by: 'all', marks: everyone, isolates: true, from: 'first' },
    { name: 'return', action: 'comeBack', by: 'all', marks: everyone },
  ],
  theory: { phase: 'expire', notifications: 1, bytes: 1, gathering: 1 },
  hasTrigger: true,
  ownSessions: { timeout: 4000 },
  isSlow: true,
  isExtra: true,
  member: seat => {
    let { client } = seat
    const settle = () => client.create(`${seat.directory}/node-`, '', { mode: 'ephemeralSequential' })
    return {
      settle,
      isolate: () => {
        seat.isolate()
        return undefined
      },
      async comeBack() {
        client = await seat.replaceSession()
        await settle()
        seat.mark()
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
          if (type === 'resync') fail(new Error('the conductor was told more than it could take in'))
        }
      })()
    },
  }),
}
