// Bugs of supervise(), of the sessions that it has lost, and of the pauses of loops.
import type { PlantedBug } from '../planted-bug.ts'

const pace = { file: 'src/client/pace.ts', caughtBy: 'test/client/pace.test.ts' }
const lostSessions = { file: 'src/client/lost-sessions.ts', caughtBy: 'test/client/lost-sessions.test.ts' }
const supervise = { file: 'src/client/supervise.ts', caughtBy: 'test/client/supervise.test.ts' }

export const supervised: readonly PlantedBug[] = [
  {
    ...supervise,
    bug: 'the pause of supervise() stays long after a session that lasted',
    from: 'clock.now() - startedAt > LONGEST_DELAY ? 0 : failures + 1',
    to: 'failures + 1',
  },
  {
    ...supervise,
    bug: 'supervise() opens the next session without a pause, and so floods its servers',
    from: 'clock.now() - startedAt > LONGEST_DELAY ? 0 : failures + 1',
    to: '0',
  },
  {
    ...supervise,
    bug: 'supervise() offers an expired session again and again',
    from: '...options, session: undefined',
    to: '...options',
  },
  {
    ...supervise,
    bug: 'supervise() asks the old servers after updateServerList()',
    from: 'target = { ...client[internals]().session.hosts.servers, chroot: target.chroot }',
    to: '',
  },
  {
    ...supervise,
    caughtBy: 'test/client/lost-sessions.test.ts',
    bug: 'supervise() runs its task before the lost session is closed, whose nodes block it',
    from: "if (client.state !== 'connectedReadOnly') await closing",
    to: '',
  },
  {
    ...supervise,
    caughtBy: 'test/client/lost-sessions.test.ts',
    bug: 'supervise() runs nothing on a read-only server until a lost session is closed',
    from: "if (client.state !== 'connectedReadOnly') await closing",
    to: 'await closing',
  },
  {
    ...lostSessions,
    bug: 'a lost session is forgotten if the next one is lost before it is closed',
    from: 'if (!signal.aborted) this.#sessions.delete(lost)',
    to: 'this.#sessions.delete(lost)',
  },
  {
    ...lostSessions,
    bug: 'a lost session is closed on a read-only server, which cannot do that',
    from: 'connectTimeout, readOnly: false',
    to: 'connectTimeout, readOnly: true',
  },
  {
    ...supervise,
    caughtBy: 'test/client/lost-sessions.test.ts',
    bug: 'the next session of supervise() finds the nodes of the lost one',
    from: 'lost.add(client)',
    to: '',
  },
  {
    ...pace,
    bug: 'a loop goes on asking twenty times a second a server that cannot help',
    from: 'backoff(this.#rounds - FREE_ROUNDS - 1, random)',
    to: 'backoff(0, random)',
  },
  {
    ...pace,
    bug: 'each pause of a loop leaves a listener to the states',
    from: "client.off('state', end)",
    to: '',
  },
]
