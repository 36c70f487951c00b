// Counts the round trips from a release to the next holder in a recording. Pure.
import type { RecordedEvent, Recording } from './recording.ts'

/**
 * Returns how many times a frame had to travel to the server and another one back, until the next session had the lock.
 * The delete of the holder's node and the notification of the next session make one round trip. Returns undefined if no
 * session was notified and then got the lock.
 */
export function roundTripsOf({ happenings, actor }: Pick<Recording, 'happenings' | 'actor'>): number | undefined {
  const granted = happenings.findIndex(({ is }) => is === 'mark')
  const next = happenings[granted]?.who
  const notified = happenings.findIndex(({ is, who }) => is === 'event' && who === next)
  if (next === undefined || notified < 0 || notified > granted) return undefined
  // The former holder may already queue again, so its requests count up to the write that releases the lock.
  const released = happenings.findLastIndex(
    ({ op, is, who }, i) => i < notified && who === actor && is === 'request' && /^(?:delete|multi)$/.test(op),
  )
  // The next session did not wait for a request that was not answered yet when it got the lock.
  const waited = happenings.slice(notified, granted)
  const answered = waited.slice(0, waited.findLastIndex(({ is, who }) => is === 'answer' && who === next) + 1)
  return requestsInTurn(happenings.slice(0, released + 1), actor) + requestsInTurn(answered, next)
}

/**
 * Counts the requests of a session that follow an answer. Requests that are sent together count once. The removal of a
 * watch does not count, because no session waits for it.
 */
function requestsInTurn(happenings: readonly RecordedEvent[], session: number): number {
  let [count, isAnswered] = [0, true]
  for (const { is } of happenings.filter(({ who, op }) => who === session && op !== 'removeWatches')) {
    if (is === 'request' && isAnswered) count++
    isAnswered = is !== 'request'
  }
  return count
}
