// Bugs of what a test does with the embedded server: faults, pauses, snapshots, bytes held and cut.
import type { PlantedBug } from '../planted-bug.ts'

const plan = { file: 'src/server/fault-plan.ts', caughtBy: 'test/server/faults.test.ts' }
const inControl = { file: 'src/server/fault-plan.ts', caughtBy: 'test/server/control.test.ts' }
const outbox = { file: 'src/server/outbox.ts', caughtBy: 'test/server/faults.test.ts' }
const inbox = { file: 'src/server/inbox.ts', caughtBy: 'test/server/connection.test.ts' }
const snapshot = { file: 'src/server/snapshot.ts', caughtBy: 'test/server/control.test.ts' }

export const serverControl: readonly PlantedBug[] = [
  {
    ...inControl,
    bug: 'a fault with `times` happens once',
    from: '--this.#countdown <= 0',
    to: '--this.#countdown === 0',
  },
  {
    ...inControl,
    bug: 'a fault for one session affects all',
    from: '(this.#session ?? session) !== session',
    to: 'session === null',
  },
  {
    ...plan,
    bug: 'an occurrence that one fault affects is not counted by the others',
    from: 'else if (fault.isDue(names, session)) first ??= fault',
    to: 'else if (first === undefined && fault.isDue(names, session)) first = fault',
  },
  {
    ...plan,
    bug: 'a fault that was cleared before it happened counts as happened',
    from: 'this.#reject(new Error(`',
    to: 'this.#resolve()\n    void (new Error(`',
  },
  {
    ...plan,
    bug: 'a released fault affects the next occurrence',
    from: 'this.#isReleased = true',
    to: '',
  },
  {
    ...plan,
    bug: 'a delayed reply that was released keeps its timer',
    from: 'this.#clock.clearTimeout(timer)',
    to: '',
    caughtBy: 'test/server/transactions-and-close.test.ts',
  },
  {
    ...outbox,
    bug: 'a released reply overtakes one that is held before it',
    from: 'while (this.#holds[0]?.isActive === false) this.#holds.shift()',
    to: 'while (this.#holds.some(({ isActive }) => !isActive)) this.#holds.splice(this.#holds.findIndex(({ isActive }) => !isActive), 1)[0]',
  },
  {
    ...outbox,
    bug: 'a cut counts the bytes that are held already',
    from: 'Math.min(this.#allowance, held + bytes)',
    to: 'Math.min(this.#allowance, bytes)',
  },
  {
    ...outbox,
    bug: 'a closed connection discards the replies that it holds',
    from: 'this.#isEnding && this.#holds.length === 0',
    to: 'this.#isEnding',
  },
  {
    ...inbox,
    bug: 'a client that does not read makes the server fill its memory with replies',
    from: ' && !this.#owner.isThrottled',
    to: '',
  },
  {
    ...inbox,
    bug: 'the requests received during a pause are lost',
    from: 'for (const chunk of chunks) this.received(chunk)',
    to: '',
    caughtBy: 'test/server/control.test.ts',
  },
  {
    ...snapshot,
    bug: 'a test that changes a snapshot changes the server',
    from: 'node.data && Buffer.from(node.data)',
    to: 'node.data',
  },
  {
    ...snapshot,
    bug: 'a snapshot lists a persistent watch twice',
    from: "      .filter(({ modes }) => modes.has('once'))\n",
    to: '',
  },
  {
    file: 'src/server/stats.ts',
    caughtBy: 'test/server/control.test.ts',
    bug: 'the server’s counts are those of its last connection',
    from: 'total[key] += stats[key]',
    to: 'total[key] = stats[key]',
  },
  {
    file: 'src/server/four-letter-words.ts',
    caughtBy: 'test/contract/contract.test.ts',
    bug: 'srvr and mntr count the root once, unlike Apache’s server',
    from: 'database.tree.size + 1',
    to: 'database.tree.size',
  },
]
