// The pause of a lock that polls. npm redlock has its own, by the same two numbers, which are its defaults.
import { setTimeout as delay } from 'node:timers/promises'

/** The mean of the pause, and how much longer or shorter it is by chance, ms. */
const [MEAN, JITTER] = [200, 100]

export const pauseOfPoll = (): Promise<void> => delay(MEAN + (2 * Math.random() - 1) * JITTER)
