// Counters that all threads share, so that the thread that counts the last expected frame can report the end of a phase
// at once.

const [MARKS, MARKS_DUE, FRAMES, FRAMES_DUE, OTHER_FRAMES] = [0, 1, 2, 3, 4]
const NEVER = 0x7fff_ffff

export type ProgressMemory = Int32Array<SharedArrayBuffer>

export const progressMemory = (): ProgressMemory =>
  new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT))

export class ProgressCounters {
  readonly #memory: ProgressMemory
  readonly #onReached: () => void

  /** @param onReached called when a counter reaches its expected value, in the thread that reaches it */
  constructor(memory: ProgressMemory, onReached: () => void) {
    this.#memory = memory
    this.#onReached = onReached
  }

  marked(): void {
    this.#count(MARKS, MARKS_DUE)
  }

  framePassed(): void {
    this.#count(FRAMES, FRAMES_DUE)
  }

  /**
   * Adds what passed in another process.
   * @returns true if all that is expected has now passed
   */
  passed({ marks, frames, otherFrames }: { marks: number; frames: number; otherFrames: number }): boolean {
    Atomics.add(this.#memory, MARKS, marks)
    Atomics.add(this.#memory, FRAMES, frames)
    Atomics.add(this.#memory, OTHER_FRAMES, otherFrames)
    return this.isReached
  }

  /** Counts a frame that belongs to no phase. Only {@link activity} includes it. */
  otherFramePassed(): void {
    Atomics.add(this.#memory, OTHER_FRAMES, 1)
  }

  /** Resets the counters to 0. Call it only while no frame is in flight. */
  set(marks: number, frames: number | undefined): void {
    for (const at of [MARKS, FRAMES]) Atomics.store(this.#memory, at, 0)
    Atomics.store(this.#memory, MARKS_DUE, marks)
    Atomics.store(this.#memory, FRAMES_DUE, frames ?? NEVER)
  }

  get marks(): number {
    return Atomics.load(this.#memory, MARKS)
  }

  /** True if all expected marks are counted, and all expected frames if their number is known. */
  get isReached(): boolean {
    const due = Atomics.load(this.#memory, FRAMES_DUE)
    const allFrames = due === NEVER || Atomics.load(this.#memory, FRAMES) >= due
    return allFrames && this.marks >= Atomics.load(this.#memory, MARKS_DUE)
  }

  /** Increases with every frame. */
  get activity(): number {
    return Atomics.load(this.#memory, FRAMES) + Atomics.load(this.#memory, OTHER_FRAMES)
  }

  #count(counter: number, due: number): void {
    if (Atomics.add(this.#memory, counter, 1) + 1 === Atomics.load(this.#memory, due)) this.#onReached()
  }
}
