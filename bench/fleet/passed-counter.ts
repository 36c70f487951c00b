// Reports what has passed in a process that shares no memory with the main thread: at most one message in each turn of
// the event loop.
import type { Passed } from '../harness/messages.ts'

export class PassedCounter {
  readonly #report: (passed: Passed) => void
  #passed = nothing()
  #isScheduled = false

  constructor(report: (passed: Passed) => void) {
    this.#report = report
  }

  count(what: 'marks' | 'frames' | 'otherFrames'): void {
    this.#passed[what]++
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.flush())
  }

  /** Reports at once. Call it before each reply, because a reply must not overtake the counts of the frames before it. */
  flush(): void {
    this.#isScheduled = false
    const passed = this.#passed
    if (passed.marks + passed.frames + passed.otherFrames === 0) return
    this.#passed = nothing()
    this.#report(passed)
  }
}

const nothing = (): Passed => ({ is: 'passed', marks: 0, frames: 0, otherFrames: 0 })
