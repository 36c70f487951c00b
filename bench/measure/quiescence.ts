// Proves with fences, and without sleeping, that all traffic of a phase has passed.
import type { Traffic } from './frame-counter.ts'

export interface Fenceable {
  traffic(): Promise<Traffic>
  fence(which: 'all' | 'trigger'): Promise<void>
}

/**
 * Resolves when the traffic caused so far has ended: no request is in flight, no notification is on the wire, and no
 * waiter is about to send a request.
 *
 * A fence is a request without effect. In each round all sessions send one. The traffic has ended after a round in
 * which all fences were answered and no frame of a scenario passed. This is exact on a standalone server:
 * - All threads report their counts before any of them sends a fence. So there is a moment that belongs to the round of
 *   every thread. Below, "the start of the round" is that moment.
 * - At the start of the round no request was in flight. Otherwise its reply would have arrived before the reply to the
 *   fence, within the round, because a session gets its replies in the order of its requests.
 * - So every write had been answered. The server's last stage (FinalRequestProcessor, a single thread) queues the
 *   notifications of a write before it queues the reply to the write. A fence that was sent after that reply is
 *   answered later than both. Each connection is ordered, so each session received its notifications before the reply
 *   to its fence, within the round. There were none.
 * - No session acts later: scenarios act only in the turn of the event loop in which a frame arrives. (A scenario with
 *   timers would need more. The scenarios here set none while the connection is alive.)
 *
 * In an ensemble, a waiter's server may lag behind the server that answered the write, and answer a read before it
 * applies the write. Therefore the fence is a `sync`: the leader sends the reply in the stream of commits, after all
 * earlier commits (tried on three servers: the counts are those of one server). A standalone server answers a `sync`
 * like a read.
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
