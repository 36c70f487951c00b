// Waits for conditions that no event reports.
import { systemClock, type Clock } from '../src/runtime/clock.ts'

interface UntilOptions {
  /** The deadline in milliseconds. Default 15 s. */
  within?: number
  clock?: Clock
}

/**
 * Polls the condition until it is true. Rejects at the deadline, so that the test fails with a message and the process
 * can end.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { within = 15_000, clock = systemClock }: UntilOptions = {},
): Promise<void> {
  const deadline = clock.now() + within
  while (!(await condition())) {
    if (clock.now() > deadline)
      throw new Error(`the condition was not true within ${within} ms: ${condition.toString()}`)
    await new Promise<void>(resolve => void clock.setTimeout(resolve, 1))
  }
}
