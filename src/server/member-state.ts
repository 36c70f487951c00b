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
  mode: MemberMode
  /** The zxid of the last transaction that the server has applied. */
  zxid: bigint
  /** The epoch of the leader that the server leads or followed last. The upper 32 bits of a zxid are its epoch. */
  epoch: number
}
