// How the watch manager sends its requests, which the session's requests do for it.
import type { Encodable, Operation } from '../../protocol/index.ts'

/** Sends a request that adds or removes a watch at the server: `submit` of the session's requests. */
export type SubmitWatchRequest = <Q, R, V>(
  op: Operation<Q, R>,
  body: Encodable<Q>,
  path: string,
  result: (reply: R) => V,
  signal: AbortSignal | undefined,
  details: WatchRequestDetails<V>,
) => Promise<V>

interface WatchRequestDetails<V> {
  /** An error number that resolves the call to this value. */
  expectedError?: { errno: number; value: V } | undefined
  /** Called once when no further reply can arrive: after the reply, or when it is certain that none will arrive. */
  onSettled?: (() => void) | undefined
}
