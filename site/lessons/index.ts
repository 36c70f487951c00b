// The lessons, in the order in which they build on each other.
import { cutOffFollower, lostAnswer, stalledHolder } from './fault-lessons.ts'
import type { Lesson } from './lesson.ts'
import { chain, herd, listAfterWakeUp, oneTrip } from './lock-lessons.ts'
import { handshake, oneShotWatch, order } from './protocol-lessons.ts'

export const LESSONS: readonly Lesson[] = [
  ...[handshake, order, oneShotWatch],
  ...[herd, chain, listAfterWakeUp, oneTrip],
  ...[stalledHolder, lostAnswer, cutOffFollower],
]
