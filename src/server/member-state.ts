// The state of a server of an ensemble, as callbacks get it.

/**
 * What a server of an ensemble does: it leads, follows, serves only reads ('read-only'), looks for a leader and serves
 * no client ('looking'), or is stopped.
 */
export type MemberMode = 'leader' | 'follower' | 'read-only' | 'looking' | 'stopped'

/** The state of a server of an ensemble at the time of a change. */
export interface MemberState {
  /** The number of the server, from 1. */
  id: number
  mode: MemberMode
  /** The zxid of the last transaction that the server has applied. */
  zxid: bigint
  /** The epoch of the leader that the server leads or followed last. The upper 32 bits of a zxid are its epoch. */
  epoch: number
}
