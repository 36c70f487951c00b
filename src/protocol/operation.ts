// The declaration of one operation: its opcode, its request and its response.
import type { Codec } from './codec.ts'
import { opcodes } from './constants.ts'

/**
 * The server-side watch that an operation's `watch` flag sets. `exist` is a data watch on a node that may be absent.
 * @example
 * const kind: WatchKind | undefined = operations.exists.watch
 * kind // => 'exist'
 */
export type WatchKind = 'data' | 'exist' | 'children'

/**
 * One operation of the protocol.
 * @example
 * const readers: Operation<{ path: string }, unknown>[] = [operations.getACL, operations.sync]
 * readers.map(({ name, opcode }) => `${name} ${opcode}`) // => ['getACL 6', 'sync 9']
 */
export interface Operation<Q, R> {
  /** A name that no other operation has, for example `getData`. */
  readonly name: string
  /** The type in the header of its requests. */
  readonly opcode: number
  /** What follows the header of a request. */
  readonly request: Codec<Q>
  /** What follows the header of a reply without an error. */
  readonly response: Codec<R>
  /** The watch that a request with `watch: true` sets. Undefined if it sets none. */
  readonly watch: WatchKind | undefined
  /** The client's method that sends this operation. Several operations can share one method. */
  readonly method: string
  /** The first minor version of 3.x whose servers know the operation; 0 if all servers do. */
  readonly since: number
  /** True if it changes more than the state of its connection, so that it must not be sent twice. */
  readonly isWrite: boolean
}

type Traits = Pick<Operation<unknown, unknown>, 'watch' | 'method' | 'since' | 'isWrite'>

/** Declares an operation. By default it sets no watch, its method has the same name, and all servers know it. */
export function operation<Q, R>(
  name: keyof typeof opcodes,
  request: Codec<Q>,
  response: Codec<R>,
  { watch, method = name, since = 0, isWrite = false }: Partial<Traits> = {},
): Operation<Q, R> {
  return { name, opcode: opcodes[name], request, response, watch, method, since, isWrite }
}
