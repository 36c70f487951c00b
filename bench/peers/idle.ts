// Waits until contenders and server have nothing left to do.
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { isAsleep } from '../../environment/procfs.ts'

/** The interval between two looks at the threads, ms. It is longer than the pauses of zoo_lock (0.5 ms). */
const INTERVAL = 2
/** The number of consecutive looks that must find all threads asleep. */
const LOOKS = 2

export interface Busy {
  /** The processes of the contenders and of the server. */
  pids: readonly number[]
  /** The number of frames that have passed so far. */
  passed: () => number
  /** The time for which no frame must have passed, ms. Default 0; needed if a proxy delays frames. */
  silence?: number
}

/**
 * Resolves when the traffic caused so far has ended.
 *
 * A thread that waits for bytes is runnable as soon as the bytes arrive, even if the machine is too busy to run it. So
 * the traffic has ended when all threads of both processes sleep, and no frame has passed since. Two consecutive looks
 * must find that, because a thread may also sleep in a short pause of its own. Between the looks, the event loop of
 * this process reads the sockets of the proxies.
 */
export async function awaitIdle({ pids, passed, silence = 0 }: Busy): Promise<void> {
  let [looks, last, since] = [0, passed(), performance.now()]
  while (looks < LOOKS || performance.now() - since < silence) {
    await delay(INTERVAL)
    // If frames have just passed, the threads need no look.
    const areAsleep = passed() === last && pids.every(isAsleep)
    await turn()
    await turn()
    const now = passed()
    looks = areAsleep && now === last ? looks + 1 : 0
    if (now !== last) since = performance.now()
    last = now
  }
}
