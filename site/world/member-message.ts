// The messages between the servers of an ensemble, as the servers sent them, and in words.
import { constants, operations } from '../../src/protocol/entry.ts'
import type { MemberMessage, MessageContent } from '../../src/server/index.ts'

/** A message between two servers: what one sent, and the other acts on when it arrives. It has fields, and no bytes. */
export interface ServerMessage {
  /** The number of the message, from 1, in the order in which the messages were sent. */
  readonly n: number
  readonly from: number
  readonly to: number
  readonly kind: MemberMessage['kind']
  /** Virtual milliseconds since the start. */
  readonly sentAt: number
  readonly arrivesAt: number
  /** What the message means, as a sentence. */
  readonly sentence: string
  /** The fields by their names, as text: zxids and session ids in hex. */
  readonly fields: Readonly<Record<string, string>>
}

/** @param clientOf returns the client of a session */
export function serverMessageOf(
  { delay, ...message }: MemberMessage,
  n: number,
  sentAt: number,
  clientOf: (session: bigint) => number | undefined,
): ServerMessage {
  const { from, to, kind, ...rest } = message
  // A transaction is shown as the fields of its message.
  const all = Object.entries({ ...rest, ...('transaction' in message && message.transaction) })
  const fields = all
    .filter(([name]) => name !== 'transaction')
    .map(([name, value]) => [name, textOf(name, value)] as const)
  const sentence = sentenceOf(message, clientOf)
  return { n, from, to, kind, sentAt, arrivesAt: sentAt + delay, sentence, fields: Object.fromEntries(fields) }
}

/** Formats a session id or a zxid as ZooKeeper prints it. */
const hex = (id: bigint): string => `0x${BigInt.asUintN(64, id).toString(16)}`

/** Formats a zxid with its two halves. */
export const zxidWords = (zxid: bigint): string =>
  `${hex(zxid)}: epoch ${zxid >> 32n}, transaction ${zxid & 0xffff_ffffn}`

function textOf(name: string, value: unknown): string {
  if (name === 'zxid') return (value as bigint) < 0n ? 'none' : zxidWords(value as bigint)
  if (name === 'opcode') return `${String(value)} ${names.get(value as number) ?? ''}`.trim()
  if (name === 'txns') return (value as Transaction['txns']).map(txnWords).join(', ') || 'nothing'
  if (name === 'transactions') return (value as readonly Transaction[]).map(transactionWords).join('; ') || 'none'
  if (name === 'identities') return (value as { scheme: string; id: string }[]).map(identityWords).join(', ')
  if (name === 'time') return new Date(value as number).toISOString()
  if (name === 'state' && String(value).length > 60)
    return `${String(value).length} characters: ${String(value).slice(0, 60)}…`
  if (value instanceof Uint8Array) return bytesWords(value)
  if (Array.isArray(value)) return value.map(textOfOne).join(', ') || 'none'
  return textOfOne(value)
}

const textOfOne = (value: unknown): string => (typeof value === 'bigint' ? hex(value) : String(value))

type Transaction = Extract<MessageContent, { kind: 'diff' }>['transactions'][number]

const names = new Map<number, string>(
  [...Object.values(operations), { opcode: constants.opcodes.createSession, name: 'createSession' }].map(
    ({ opcode, name }) => [opcode, name],
  ),
)

const identityWords = ({ scheme, id }: { scheme: string; id: string }): string => `${scheme}:${id}`

const bytesWords = (bytes: Uint8Array): string =>
  `${bytes.length} bytes: ${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(' ')}`

function txnWords(txn: Transaction['txns'][number]): string {
  if (txn.type === 'error') return `nothing, because the request was rejected with ${txn.err}`
  return 'path' in txn ? `${txn.type} ${txn.path}` : txn.type
}

const transactionWords = ({ zxid, txns }: Transaction): string => `${hex(zxid)}: ${textOf('txns', txns)}`

function sentenceOf(
  message: Omit<MemberMessage, 'delay'> & MessageContent,
  clientOf: (session: bigint) => number | undefined,
): string {
  const [from, to] = [`Server ${message.from}`, `server ${message.to}`]
  switch (message.kind) {
    case 'vote': {
      const vote = message.leader === message.from ? 'itself' : `server ${message.leader}`
      if (message.leader === 0) return `${from} is an observer and has no vote: it asks ${to} which server leads.`
      if (message.state === 'leading') return `${from} tells ${to} that it leads.`
      if (message.state === 'following') return `${from} tells ${to} that it follows server ${message.leader}.`
      return `${from} looks for a leader, and votes for ${vote}, whose log ends with ${hex(message.zxid)}.`
    }
    case 'followerInfo':
    case 'observerInfo':
      return `${from} wants to follow ${to}${message.kind === 'observerInfo' ? ' without a vote' : ''}, and has accepted no epoch after ${message.acceptedEpoch}.`
    case 'leaderInfo':
      return `${from} is to lead, and asks ${to} to accept epoch ${message.newEpoch}, which is greater than all before.`
    case 'ackEpoch':
      return `${from} accepts the new epoch, and tells ${to} that its log ends with ${hex(message.zxid)}.`
    case 'trunc':
      return `${from} tells ${to} to remove all from its log that comes after ${hex(message.zxid)}: no majority had it.`
    case 'snap':
      return `${from} sends ${to} all its nodes and sessions, because its own log does not reach back far enough.`
    case 'diff':
      return message.transactions.length === 0
        ? `${from} tells ${to} that its log lacks nothing.`
        : `${from} sends ${to} what its log lacks: ${count(message.transactions.length)}.`
    case 'newLeader':
      return `${from} tells ${to} that it has the whole log of epoch ${message.newEpoch} now, and asks for an ack.`
    case 'upToDate':
      return `${from} tells ${to} that a majority follows: it may apply its log, and serve clients.`
    case 'request':
      return `${from} passes on to its leader, ${to}, the ${names.get(message.opcode) ?? 'request'} of ${whoOf(clientOf(message.session))}.`
    case 'createSession':
      return `${from} passes on to its leader, ${to}, that a client opens a session.`
    case 'revalidate':
      return `${from} asks its leader, ${to}, whether the session of ${whoOf(clientOf(message.session))} still lives.`
    case 'reply':
      return `${from} answers what ${to} has passed on. It has written nothing for it.`
    case 'proposal':
      return `${from} leads, and proposes transaction ${hex(message.transaction.zxid)}: ${to} is to write it to its log.`
    case 'inform':
      return `${from} tells ${to}, an observer, to apply transaction ${hex(message.transaction.zxid)}: a majority has it.`
    case 'ack':
      return `${from} has written transaction ${hex(message.zxid)} and all before it to its log, and tells its leader.`
    case 'commit':
      return `${from} knows that a majority has logged transaction ${hex(message.zxid)}: ${to} is to apply it.`
    case 'ping':
      return `${from} leads, and asks ${to} which sessions it has heard from.`
    case 'pong':
      return `${from} tells its leader which sessions it has heard from.`
  }
}

const count = (n: number): string => (n === 1 ? '1 transaction' : `${n} transactions`)

const whoOf = (client: number | undefined): string =>
  client === undefined ? 'a client' : client === 0 ? 'the operator' : `client ${client}`
