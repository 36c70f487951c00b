// A queue inside one process: one at a time, in the order in which they came.
import { onAbort } from '../session/abort.ts'

export class Turns {
  readonly #waiting = new Set<() => void>()
  #isTaken = false

  get isTaken(): boolean {
    return this.#isTaken
  }

  /** Resolves when it is one's turn, which lasts until `end`. Rejects with the signal's reason. */
  async begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.tryBegin()) return
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        stopListening()
        resolve()
      }
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(enter)
        reject(signal.reason as Error)
      })
      this.#waiting.add(enter)
    })
  }

  /** False where it is somebody's turn. */
  tryBegin(): boolean {
    if (this.#isTaken) return false
    return (this.#isTaken = true)
  }

  end(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#isTaken = false
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
