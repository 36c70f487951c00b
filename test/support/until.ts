// Waiting for what no event tells of.
import { systemClock, type Clock } from '../../src/runtime/clock.ts'

interface Patience {
  /** Milliseconds. */
  within?: number
  clock?: Clock
}

/** Asks again and again; gives up in time for the test to say so, and for the process to end. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { within = 15_000, clock = systemClock }: Patience = {},
): Promise<void> {
  const deadline = clock.now() + within
  while (!(await condition())) {
    if (clock.now() > deadline) throw new Error(`it did not come true within ${within} ms: ${condition.toString()}`)
    await new Promise<void>(resolve => void clock.setTimeout(resolve, 1))
  }
}
