// The state of a server of an ensemble, and the messages between servers, as callbacks get them.
import type { RequestPacket } from '../database/operations.ts'
import type { LoggedTransaction } from '../database/transaction.ts'

/**
 * What a server of an ensemble does: it leads, follows, follows without a vote ('observer'), serves only reads
 * ('read-only'), looks for a leader and serves no client ('looking'), or is stopped.
 * @example
 * await using server = await Server.start({ servers: 3 })
 * const modes: MemberMode[] = server.members.map(({ mode }) => mode)
 * modes.sort() // => ['follower', 'follower', 'leader']
 */
export type MemberMode = 'leader' | 'follower' | 'observer' | 'read-only' | 'looking' | 'stopped'

/**
 * What a message says, by its kind. The server that gets it acts on these fields.
 * @example
 * const proposed: bigint[] = []
 * const onMessage = (message: MessageContent) =>
 *   message.kind === 'proposal' && proposed.push(message.transaction.zxid)
 * await using server = await Server.start({ servers: 3, onMessage })
 * await using client = await connect(server.leader?.connectString ?? '')
 * proposed.length = 0
 * await client.create('/a')
 * new Set(proposed) // => new Set([server.leader?.zxid])
 */
export type MessageContent =
  | {
      /** A server that looks for a leader sends its vote, and one that does not answers with the leader that it has. */
      kind: 'vote'
      /** The number of the server that is to lead. */
      leader: number
      /** The last transaction in the log of that server, and the epoch of its last leader. */
      zxid: bigint
      peerEpoch: number
      /** The number of the election. */
      electionEpoch: number
      state: 'looking' | 'following' | 'leading'
    }
  | {
      /** A server wants to follow, with a vote or as an observer. */
      kind: 'followerInfo' | 'observerInfo'
      /** The last epoch that it has promised to a leader. */
      acceptedEpoch: number
    }
  | {
      /** A `leaderInfo` names the new epoch, and `newLeader` says that the log of the server is as long as the leader's. */
      kind: 'leaderInfo' | 'newLeader'
      newEpoch: number
    }
  | {
      /** The server accepts the new epoch. */
      kind: 'ackEpoch'
      /** The last transaction in its log, and the epoch of its last leader. */
      zxid: bigint
      currentEpoch: number
    }
  | {
      /** The server must remove all transactions after this one from its log. */
      kind: 'trunc'
      zxid: bigint
    }
  | {
      /** The data of the leader, for a server that lacks too many transactions: as in the option `dataFile`. */
      kind: 'snap'
      zxid: bigint
      state: string
    }
  | {
      /** The transactions that the server lacks, up to a zxid. */
      kind: 'diff'
      zxid: bigint
      transactions: readonly LoggedTransaction[]
    }
  | {
      /** The server may serve clients, when it has applied its log up to this transaction. */
      kind: 'upToDate'
      zxid: bigint
    }
  | ({
      /** What the client of a server wants. */
      kind: 'request'
      session: bigint
    } & RequestPacket)
  | {
      /** A client wants a new session, whose id its server has chosen, or wants to continue one. */
      kind: 'createSession' | 'revalidate'
      session: bigint
      /** The timeout that the client wants, in milliseconds. */
      timeout: number
      password: Buffer
    }
  | {
      /** The leader has written nothing for a request. */
      kind: 'reply'
      /** The session and the number of the request. */
      session: bigint
      cxid: number
      /** An error number; 0 if there is no error. */
      err: number
      /** The timeout of a session that continues, in milliseconds; otherwise 0. */
      timeout: number
    }
  | {
      /** A follower is to log the transaction; an observer is to apply it ('inform'), because it is committed. */
      kind: 'proposal' | 'inform'
      transaction: LoggedTransaction
    }
  | {
      /** An `ack` says that a follower has logged the transaction and all before, and a `commit` that a majority has. */
      kind: 'ack' | 'commit'
      zxid: bigint
    }
  | { kind: 'ping' }
  | {
      kind: 'pong'
      /** The sessions that have sent the follower anything since the last ping. */
      sessions: readonly bigint[]
    }

/**
 * A message between two servers of an ensemble. What it says is in its other fields, by its kind. Servers elect a leader
 * by 'vote'. Then each follower asks to follow ('followerInfo'), accepts the new epoch ('leaderInfo', 'ackEpoch'), gets
 * what its log lacks ('trunc', 'snap', 'diff'), and confirms that ('newLeader', 'ack'). When a majority has, all serve
 * clients ('upToDate'). A follower passes a client's request on to the leader ('request', 'createSession',
 * 'revalidate'), and gets a 'reply' if nothing was written. The leader sends each transaction to the followers
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
export type MemberMessage = {
  /** The number of the server that sends it, from 1. */
  from: number
  /** The number of the server that will get it. */
  to: number
  /** The epoch of the sender. */
  epoch: number
  /** How long the message takes, in milliseconds; Infinity if it waits, because the network is cut or a process stands. */
  delay: number
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
