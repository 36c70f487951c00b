// Bugs of the measurement of other libraries' locks.
import type { PlantedBug } from '../planted-bug.ts'

const tally = { file: 'bench/peers/tally.ts', caughtBy: 'test/bench/peers/tally.test.ts' }
const driver = { file: 'bench/peers/driver.ts', caughtBy: 'test/bench/peers/driver.test.ts' }
const run = { file: 'bench/peers/run.ts', caughtBy: 'test/bench/peers/run.test.ts' }

export const peersBugs: readonly PlantedBug[] = [
  {
    ...tally,
    bug: 'the tally of a peer counts the pings of its sessions',
    from: 'xid !== xids.ping && ',
    to: '',
  },
  {
    ...tally,
    bug: 'the tally of a peer forgets the length bytes of each frame',
    from: 'const bytes = LENGTH_BYTES + frame.bytes.length',
    to: 'const bytes = frame.bytes.length',
  },
  {
    ...tally,
    bug: 'the tally of a peer depends on the order of its requests',
    from: '[...requests].sort(([a], [b]) => (a < b ? -1 : 1))',
    to: '[...requests]',
  },
  {
    ...driver,
    bug: 'a peer’s event has the time of another clock',
    from: ' - CLOCK_OFFSET, message',
    to: ', message',
  },
  {
    ...driver,
    bug: 'a contender that came back after it gave up is not noticed',
    from: 'if (!left.delete(who)) others.add(who)',
    to: 'left.delete(who)',
  },
  {
    ...driver,
    bug: 'a session that is being closed fails the measurement of its peers',
    from: ' && !this.#closing.has(who)',
    to: '',
  },
  {
    ...run,
    bug: 'an interrupted run of the peers leaves its nodes',
    from: 'await admin.deleteRecursive(this.#root).catch(() => undefined)',
    to: '',
  },
  {
    ...run,
    bug: 'a run of the peers goes on after its time is over',
    from: 'if (performance.now() <= this.#ends) return false',
    to: 'return false',
  },
  {
    ...run,
    file: 'bench/peers/contest.ts',
    bug: 'a read lock’s release is measured until the first reader has it',
    from: 'this.#isShared ? this.#queue.length - 1 : 1',
    to: '1',
  },
  {
    ...run,
    file: 'bench/measure/round-trips.ts',
    bug: 'a request of a peer that was not answered before the grant counts as a round trip',
    from: "waited.findLastIndex(({ is, who }) => is === 'answer' && who === next) + 1",
    to: 'waited.length',
    caughtBy: 'test/bench/measure/recording.test.ts',
  },
]
