// The declaration of one operation: its opcode, its request and its response.
import type { Codec } from './codec.ts'

/**
 * The server-side watch that an operation's `watch` flag sets. `exist` is a data watch on a node that may be absent.
 */
export type WatchKind = 'data' | 'exist' | 'children'

/** One operation of the protocol. */
export interface Operation<Q, R> {
  readonly name: string
  readonly opcode: number
  readonly request: Codec<Q>
  readonly response: Codec<R>
  readonly watch: WatchKind | undefined
  /** The client's method that sends this operation. Several operations can share one method. */
  readonly method: string
}

/** Declares an operation. By default it sets no watch, and its method has the same name. */
export function operation<Q, R>(
  name: string,
  opcode: number,
  request: Codec<Q>,
  response: Codec<R>,
  { watch, method = name }: { watch?: WatchKind; method?: string } = {},
): Operation<Q, R> {
  return { name, opcode, request, response, watch, method }
}
