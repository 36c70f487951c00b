// The state of a server of an ensemble, as callbacks get it.

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
 * A message between two servers of an ensemble, by its purpose. A follower passes a client's request on to the leader
 * ('request'), and gets a 'reply' if nothing was written. The leader sends each transaction to the followers
 * ('proposal'), which log it ('ack'), and lets them apply it when a majority has it ('commit'). Each 'ping' of the
 * leader gets a 'pong'.
 * @example
 * const kinds: MemberMessage['kind'][] = []
 * await using server = await Server.start({ servers: 3, onMessage: ({ kind }) => kinds.push(kind) })
 * await using client = await connect(server.leader?.connectString ?? '')
 * kinds.length = 0
 * await client.create('/a')
 * kinds.filter(kind => kind === 'proposal') // => ['proposal', 'proposal']
 */
export interface MemberMessage {
  /** The number of the server that sends it, from 1. */
  from: number
  /** The number of the server that will get it. */
  to: number
  /** What the message is for. A `proposal` is logged, answered by an `ack`, and then applied at the `commit`. */
  kind: 'request' | 'reply' | 'proposal' | 'ack' | 'commit' | 'ping' | 'pong'
}

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
