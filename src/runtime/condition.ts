// Waiting for something that another part of the program changes.
import { onAbort } from './abort.ts'

/** A condition variable: tasks wait for a change, and check then whether it is the one they need. */
export class Condition {
  #waiting = new Set<() => void>()

  /**
   * Resolves at the next {@link notify}.
   * @throws the signal's reason if the signal aborts first
   */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const wake = () => {
        stopListening()
        resolve()
      }
      this.#waiting.add(wake)
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(wake)
        reject(signal?.reason as Error)
      })
    })
  }

  /** Wakes all tasks that wait. */
  notify(): void {
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }
}
