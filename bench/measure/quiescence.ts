// Has everything come that was caused? Proven by fences, never by sleeping.
import type { Traffic } from './frame-counter.ts'

export interface Fenceable {
  traffic(): Promise<Traffic>
  fence(which: 'all' | 'trigger'): Promise<void>
}

/**
 * Resolves when nothing that was caused before is still under way: no request without its answer, no notification on
 * the wire, no waiter about to act.
 *
 * A fence is a request of no effect. All sessions send one, and when all are answered in a round in which no frame of a
 * scenario passed, all is quiet. Why that is exact on a standalone server:
 * - All threads have told their counts before any of them is asked to fence. So there is a moment that is in the round of each
 *   of them, and below "the round began" means that moment.
 * - When the round began, no request was without an answer: its answer would have come before the fence's, in the
 *   round, since a session is answered in the order in which it asked.
 * - So every write had been answered. The server's last stage (FinalRequestProcessor, one thread) puts the
 *   notifications of a write into the outgoing queues of their sessions before it puts the write's own answer into its
 *   queue, and a fence that is sent after that answer came is answered after both. A connection keeps its order, so
 *   each session heard its notifications before its fence's answer: in the round. There were none.
 * - Nothing will act by itself: what a scenario does, it does in the turn in which a frame wakes it. (One that sets
 *   timers would need more. Those here set none while the connection holds.)
 *
 * In an ensemble, a waiter's server may lag behind the one that answered the write, and answer a read without having
 * applied it. Hence the fence is a `sync`: the leader sends its answer down the stream of commits, behind all that were
 * committed before (tried on three servers: the counts are those of one). A standalone server answers it like a read.
 */
export async function awaitQuiescence(sessions: Fenceable, which: 'all' | 'trigger' = 'all'): Promise<Traffic> {
  for (let before = await sessions.traffic(); ;) {
    await sessions.fence(which)
    const after = await sessions.traffic()
    if (framesOf(after) === framesOf(before)) return after
    before = after
  }
}

const framesOf = ({ work, handshakes }: Traffic) =>
  work.framesSent + work.framesReceived + handshakes.framesSent + handshakes.framesReceived
