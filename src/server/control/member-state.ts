// The state of a server of an ensemble, and the messages between servers, as callbacks get them.
import type { TreeChange } from '../database/transaction.ts'

/**
 * What a server of an ensemble does: it leads, follows, serves only reads ('read-only'), looks for a leader and serves
 * no client ('looking'), or is stopped.
 * @example
 * await using server = await Server.start({ servers: 3 })
 * const modes: MemberMode[] = server.members.map(({ mode }) => mode)
 * modes.sort() // => ['follower', 'follower', 'leader']
 */
export type MemberMode = 'leader' | 'follower' | 'read-only' | 'looking' | 'stopped'

/**
 * What a message says, by its kind. The server that gets it acts on these fields.
 * @example
 * const proposed: bigint[] = []
 * const onMessage = (message: MessageContent) => message.kind === 'proposal' && proposed.push(message.zxid)
 * await using server = await Server.start({ servers: 3, onMessage })
 * await using client = await connect(server.leader?.connectString ?? '')
 * proposed.length = 0
 * await client.create('/a')
 * new Set(proposed) // => new Set([server.leader?.zxid])
 */
export type MessageContent =
  | {
      kind: 'request'
      /** What the client of the follower wants. */
      wants: 'session' | 'write' | 'sync' | 'close'
      /** The session of the client; 0 if it wants a new one. */
      session: bigint
    }
  | {
      kind: 'reply'
      /** The session of the client; 0 if it is refused. */
      session: bigint
    }
  | {
      kind: 'proposal'
      /** The position of the transaction in the log, from 1. */
      entry: number
      zxid: bigint
      /** The session and the opcode of the request that caused it; 0 if no client did. */
      session: bigint
      opcode: number
      /** The nodes that it changes. `type` is that of an event. Empty if it was rejected, or starts a session. */
      changes: readonly Pick<TreeChange, 'type' | 'path'>[]
    }
  | {
      /** An `ack` says that a follower has logged the transaction, and a `commit` that a majority has. */
      kind: 'ack' | 'commit'
      /** The position of the transaction in the log, from 1. The message is about all before it too. */
      entry: number
      zxid: bigint
    }
  | { kind: 'ping' }
  | {
      kind: 'pong'
      /** The sessions from which the follower has heard since the last ping. */
      sessions: readonly bigint[]
    }

/**
 * A message between two servers of an ensemble. A follower passes a client's request on to the leader
 * ('request'), and gets a 'reply' if nothing was written. The leader sends each transaction to the followers
 * ('proposal'), which log it ('ack'), and lets them apply it when a majority has it ('commit'). Each 'ping' of the
 * leader gets a 'pong'. What the message says is in its other fields, by its kind.
 * @example
 * const kinds: MemberMessage['kind'][] = []
 * await using server = await Server.start({ servers: 3, onMessage: ({ kind }) => kinds.push(kind) })
 * await using client = await connect(server.leader?.connectString ?? '')
 * kinds.length = 0
 * await client.create('/a')
 * kinds.filter(kind => kind === 'proposal') // => ['proposal', 'proposal']
 */
export type MemberMessage = {
  /** The number of the server that sends it, from 1. */
  from: number
  /** The number of the server that will get it. */
  to: number
  /** The epoch of the sender. */
  epoch: number
} & MessageContent

/**
 * The state of a server of an ensemble at the time of a change.
 * @example
 * const changes: MemberState[] = []
 * await using server = await Server.start({ servers: 3, onMemberChange: state => changes.push(state) })
 * await server.elect(server.members[0])
 * changes.some(({ id, mode }) => id === 1 && mode === 'leader') // => true
 */
export interface MemberState {
  /** The number of the server, from 1. */
  id: number
  /** The role of the server. */
  mode: MemberMode
  /** The zxid of the last transaction that the server has applied. */
  zxid: bigint
  /** The epoch of the leader that the server leads or followed last. The upper 32 bits of a zxid are its epoch. */
  epoch: number
}
