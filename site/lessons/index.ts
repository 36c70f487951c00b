// The lessons, in the order in which they build on each other.
import { cutOffFollower, lateWrite, lostAnswer, reconnectStorm, stalledHolder, twoHolders } from './fault-lessons.ts'
import { catchUp, election, quorum } from './ensemble-lessons.ts'
import { history } from './history-lesson.ts'
import type { Lesson } from './lesson.ts'
import { chain, doubleBarrier, herd, listAfterWakeUp, oneTrip, readersHerd, tickets } from './lock-lessons.ts'
import { observer } from './observer-lesson.ts'
import { handshake, oneShotWatch, order } from './protocol-lessons.ts'

export const LESSONS: readonly Lesson[] = [
  ...[handshake, order, oneShotWatch],
  ...[herd, chain, listAfterWakeUp, oneTrip, tickets, readersHerd, doubleBarrier],
  ...[stalledHolder, lateWrite, lostAnswer, reconnectStorm],
  ...[quorum, election, catchUp, observer, cutOffFollower, history, twoHolders],
]
