// Bugs of the benchmark on several processes, machines and servers.
import type { PlantedBug } from '../planted-bug.ts'

const workers = { file: 'bench/harness/workers.ts', caughtBy: 'test/bench/harness/workers.test.ts' }
const post = { file: 'bench/fleet/post.ts', caughtBy: 'test/bench/fleet/post.test.ts' }
const passed = { file: 'bench/fleet/passed-counter.ts', caughtBy: 'test/bench/fleet/passed-counter.test.ts' }
const placements = { file: 'bench/ensemble/placements.ts', caughtBy: 'test/bench/ensemble/placements.test.ts' }

export const benchFleetBugs: readonly PlantedBug[] = [
  {
    ...workers,
    bug: 'the benchmark compares the clocks of two machines',
    from: 'const begun = this.#begun.get(unit.clock) ?? NaN',
    to: 'const begun = Math.min(...this.#begun.values())',
  },
  {
    ...workers,
    bug: 'the benchmark waits for the reply of a machine that has died',
    from: 'if (lost !== undefined) return Promise.reject(lost)',
    to: '',
  },
  {
    ...workers,
    bug: 'the trigger session of the benchmark acts on the wrong server',
    from: 'this.#size = this.#sizes.get(directory) ?? 0',
    to: 'this.#size = Infinity',
  },
  {
    ...post,
    bug: 'messages between machines that are sent while an item is on its way are lost',
    from: 'while (this.#waiting.length > 0) {',
    to: 'if (this.#waiting.length > 0) {',
  },
  {
    ...passed,
    bug: 'a process of the benchmark reports the same frames twice',
    from: 'this.#passed = nothing()\n    this.#report',
    to: 'this.#report',
  },
  {
    ...placements,
    bug: 'a server of an ensemble that counted other frames than its clients goes unnoticed',
    from: 'clients[0] === server?.[0] && clients[1] === server[1]',
    to: 'clients[0] === server?.[0]',
  },
  {
    file: 'bench/ensemble/leader-loss.ts',
    caughtBy: 'test/bench/ensemble/placements.test.ts',
    bug: 'the benchmark takes a pause before the loss of the leader for one that the loss caused',
    from: 'to >= killed && from <= outageEnds',
    to: 'from <= outageEnds',
  },
  {
    file: 'bench/harness/progress-counters.ts',
    caughtBy: 'test/bench/harness/workers.test.ts',
    bug: 'frames of other processes do not count towards the end of a phase',
    from: 'Atomics.add(this.#memory, FRAMES, frames)',
    to: '',
  },
]
