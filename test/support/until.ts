// Waiting for what no event tells of.
import { setTimeout as delay } from 'node:timers/promises'

/** Asks again and again; gives up in time for the test to say so, and for the process to end. */
export async function until(condition: () => boolean | Promise<boolean>, { within = 15_000 } = {}): Promise<void> {
  const deadline = performance.now() + within
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`it did not come true within ${within} ms: ${condition.toString()}`)
    await delay(1)
  }
}
