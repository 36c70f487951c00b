// A request of the watch manager, which the session's requests send.
import type { Encodable, Operation } from '../../protocol/index.ts'

/** A request that adds or removes a watch at the server. */
export interface WatchRequest<Q, R, V> {
  op: Operation<Q, R>
  body: Encodable<Q>
  path: string
  result: (reply: R) => V
  expectedError?: { errno: number; value: V } | undefined
  signal?: AbortSignal | undefined
  /** Called once when no further reply can arrive: after the reply, or when it is certain that none will arrive. */
  onSettled?: (() => void) | undefined
}
