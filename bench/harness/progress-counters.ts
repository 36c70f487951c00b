// What all threads count together, so that it is known at once when the last frame has passed, whichever thread it came to.

const [MARKS, MARKS_DUE, FRAMES, FRAMES_DUE, ALIVE] = [0, 1, 2, 3, 4]
const NEVER = 0x7fff_ffff

export type GoalMemory = Int32Array<SharedArrayBuffer>

export const goalMemory = (): GoalMemory => new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT))

export class Goals {
  readonly #memory: GoalMemory
  readonly #onReached: () => void

  /** @param onReached hears of each goal, in the thread that reaches it */
  constructor(memory: GoalMemory, onReached: () => void) {
    this.#memory = memory
    this.#onReached = onReached
  }

  marked(): void {
    this.#count(MARKS, MARKS_DUE)
  }

  framePassed(): void {
    this.#count(FRAMES, FRAMES_DUE)
  }

  /** Something has happened that is counted nowhere. */
  alive(): void {
    Atomics.add(this.#memory, ALIVE, 1)
  }

  /** Counts from 0 again. Nothing may be under way. */
  set(marks: number, frames: number | undefined): void {
    for (const at of [MARKS, FRAMES]) Atomics.store(this.#memory, at, 0)
    Atomics.store(this.#memory, MARKS_DUE, marks)
    Atomics.store(this.#memory, FRAMES_DUE, frames ?? NEVER)
  }

  get marks(): number {
    return Atomics.load(this.#memory, MARKS)
  }

  /** Have all marks come, and all frames where their number was known? */
  get isReached(): boolean {
    const due = Atomics.load(this.#memory, FRAMES_DUE)
    const allFrames = due === NEVER || Atomics.load(this.#memory, FRAMES) >= due
    return allFrames && this.marks >= Atomics.load(this.#memory, MARKS_DUE)
  }

  /** Grows as long as anything happens. */
  get pulse(): number {
    return Atomics.load(this.#memory, FRAMES) + Atomics.load(this.#memory, ALIVE)
  }

  #count(what: number, due: number): void {
    if (Atomics.add(this.#memory, what, 1) + 1 === Atomics.load(this.#memory, due)) this.#onReached()
  }
}
