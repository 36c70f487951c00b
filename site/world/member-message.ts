// The messages between the servers of an ensemble, as the servers sent them, and in words.
import { constants, operations } from '../../src/protocol/entry.ts'
import type { MemberMessage } from '../../src/server/index.ts'

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
  message: MemberMessage,
  n: number,
  { sentAt, arrivesAt }: Pick<ServerMessage, 'sentAt' | 'arrivesAt'>,
  clientOf: (session: bigint) => number | undefined,
): ServerMessage {
  const { from, to, kind, ...rest } = message
  const fields = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, textOf(name, value)]))
  return { n, from, to, kind, sentAt, arrivesAt, sentence: sentenceOf(message, clientOf), fields }
}

/** Formats a session id or a zxid as ZooKeeper prints it. */
const hex = (id: bigint): string => `0x${BigInt.asUintN(64, id).toString(16)}`

/** Formats a zxid with its two halves. */
export const zxidWords = (zxid: bigint): string =>
  `${hex(zxid)}: epoch ${zxid >> 32n}, transaction ${zxid & 0xffff_ffffn}`

function textOf(name: string, value: unknown): string {
  if (name === 'zxid') return zxidWords(value as bigint)
  if (name === 'opcode') return `${String(value)} ${names.get(value as number) ?? ''}`.trim()
  if (name === 'changes') return (value as Changes).map(changeWords).join(', ') || 'none'
  if (Array.isArray(value)) return value.map(textOfOne).join(', ') || 'none'
  return textOfOne(value)
}

const textOfOne = (value: unknown): string => (typeof value === 'bigint' ? hex(value) : String(value))

type Changes = Extract<MemberMessage, { kind: 'proposal' }>['changes']

const names = new Map<number, string>(
  [...Object.values(operations), { opcode: constants.opcodes.createSession, name: 'createSession' }].map(
    ({ opcode, name }) => [opcode, name],
  ),
)

const CHANGES = {
  [constants.eventTypes.NodeCreated]: 'create',
  [constants.eventTypes.NodeDeleted]: 'delete',
  [constants.eventTypes.NodeDataChanged]: 'change',
}
const changeWords = ({ type, path }: Changes[number]): string => `${CHANGES[type]} ${path}`

const WANTS = {
  session: 'opens or continues a session',
  write: 'writes',
  sync: 'calls sync',
  close: 'closes its session',
}

function sentenceOf(message: MemberMessage, clientOf: (session: bigint) => number | undefined): string {
  const [from, to] = [`Server ${message.from}`, `server ${message.to}`]
  switch (message.kind) {
    case 'request': {
      const client = clientOf(message.session)
      const who = client === undefined ? 'a client' : client === 0 ? 'the operator' : `client ${client}`
      return `${from} passes on to its leader, ${to}, that ${who} ${WANTS[message.wants]}.`
    }
    case 'reply':
      return `${from} answers the request that ${to} has passed on: nothing is to be written.`
    case 'proposal':
      return `${from} leads, and proposes transaction ${hex(message.zxid)}: ${to} is to write it to its log.`
    case 'ack':
      return `${from} has written transaction ${hex(message.zxid)} to its log, and tells its leader.`
    case 'commit':
      return `${from} knows that a majority has logged transaction ${hex(message.zxid)}: ${to} is to apply it.`
    case 'ping':
      return `${from} leads, and asks ${to} which sessions it has heard from.`
    case 'pong':
      return `${from} tells its leader which sessions it has heard from.`
  }
}
