// Has everything come that was caused? Proven by fences, never by sleeping.
import type { Client } from '../src/index.ts'
import type { Meter } from './tap.ts'

/**
 * Resolves when nothing that was caused before is still under way: no request without its answer, no notification on
 * the wire, no waiter about to act.
 *
 * A fence is a request of no effect. All sessions send one, and when all are answered in a round in which no frame of a
 * recipe passed, all is quiet. Why that is exact on a standalone server:
 * - When the round began, no request was without an answer: its answer would have come before the fence's, in the
 *   round, since a session is answered in the order in which it asked.
 * - So every write had been answered. The server's last stage (FinalRequestProcessor, one thread) puts the
 *   notifications of a write into the outgoing queues of their sessions before it puts the write's own answer into its
 *   queue, and a fence that is sent after that answer came is answered after both. A connection keeps its order, so
 *   each session heard its notifications before its fence's answer: in the round. There were none.
 * - Nothing will act by itself: what a recipe does, it does in the turn in which a frame wakes it. (One that sets
 *   timers would need more. Those here set none while the connection holds.)
 *
 * In an ensemble, a waiter's server may lag behind the one that answered the write, and answer a read without having
 * applied it. Hence the fence is a `sync`: the leader sends its answer down the stream of commits, behind all that were
 * committed before (tried on three servers: the counts are those of one). A standalone server answers it like a read.
 */
export async function quiet(
  sessions: readonly Pick<Client, 'sync'>[],
  fencePath: string,
  meter: Pick<Meter, 'frames'>,
): Promise<void> {
  for (;;) {
    const before = meter.frames
    await Promise.all(sessions.map(session => session.sync(fencePath)))
    if (meter.frames === before) return
  }
}
