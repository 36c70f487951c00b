// What travels between a client and a server in an explored world: frames to the server, and packets of frames to the client.
// Each content exists once, so its number stands for it.
import {
  eventTypes,
  explain,
  opcodes,
  Reader,
  WatcherEvent,
  xids,
  type ExplainOptions,
} from '../../src/protocol/index.ts'

/** A frame that a client sends. */
export interface Frame {
  readonly id: number
  readonly bytes: Buffer
  /** Where it says which zxid the client has seen last; undefined if it does not say so. */
  readonly zxidAt: number | undefined
}

/** What a server sends at once. */
export interface Packet {
  readonly id: number
  /**
   * The number of what it tells a client, which does not include the zxid in the header of each reply. A client does nothing
   * with it but keep the greatest and send that when it connects again: `Known` in world.ts does so in its place.
   */
  readonly told: number
  readonly bytes: Buffer
  /** True if it starts with the server's answer to the handshake, which has no header. */
  readonly isFirst: boolean
}

export interface Known {
  /** The greatest zxid in the header of a reply. */
  readonly zxid: bigint
  /** That zxid when the last event that reported a deletion was received. */
  readonly atDeletion: bigint
}

/** A frame has its length, a request then its xid and its opcode. A reply has its xid, then the zxid, and then its error. */
const XID = 4
const OPCODE = 8
const ZXID = 8
const REPLY = 20
/** The length of a ping's request: no frame is shorter. */
const MIN_FRAME = 12
const WATCHES: readonly number[] = [opcodes.setWatches, opcodes.setWatches2]

export class Packets {
  readonly #frames = new Map<string, Frame>()
  readonly #packets = new Map<string, Packet>()
  readonly #numbers = new Map<string, number>()

  /** @param isFirst true for the first frame of a connection */
  frame(bytes: Buffer, isFirst: boolean): Frame {
    const says = isFirst || (bytes.length >= MIN_FRAME && WATCHES.includes(bytes.readInt32BE(OPCODE)))
    return this.#frame(bytes, says && bytes.length >= REPLY ? (isFirst ? OPCODE : MIN_FRAME) : undefined)
  }

  #frame(bytes: Buffer, zxidAt: number | undefined): Frame {
    return once(this.#frames, `${zxidAt} ${bytes.toString('latin1')}`, id => ({
      id,
      bytes: Buffer.from(bytes),
      zxidAt,
    }))
  }

  /** Returns the frame as a client sends it that has seen this zxid last. */
  having(frame: Frame, zxid: bigint): Frame {
    if (frame.zxidAt === undefined || frame.bytes.readBigInt64BE(frame.zxidAt) === zxid) return frame
    const bytes = Buffer.from(frame.bytes)
    bytes.writeBigInt64BE(zxid, frame.zxidAt)
    return this.#frame(bytes, frame.zxidAt)
  }

  packet(bytes: Buffer, isFirst: boolean): Packet {
    const text = `${isFirst} ${bytes.toString('latin1')}`
    const known = this.#packets.get(text)
    if (known !== undefined) return known
    const told = this.number(toldBy(bytes, isFirst))
    return once(this.#packets, text, id => ({ id, told, bytes: Buffer.from(bytes), isFirst }))
  }

  /** Returns the same number for the same text. */
  number(text: string): number {
    return once(this.#numbers, text, id => id)
  }

  joined(packets: readonly Packet[]): Packet {
    return this.packet(Buffer.concat(packets.map(({ bytes }) => bytes)), packets[0]?.isFirst === true)
  }
}

function once<T>(all: Map<string, T>, key: string, make: (id: number) => T): T {
  const known = all.get(key)
  if (known !== undefined) return known
  const made = make(all.size)
  all.set(key, made)
  return made
}

function toldBy(bytes: Buffer, isFirst: boolean): string {
  const parts = [String(isFirst)]
  for (const frame of framesIn(bytes)) {
    const hasHeader = frame.length >= REPLY && !(isFirst && parts.length === 1)
    parts.push(
      hasHeader ? frame.toString('latin1', 0, ZXID) + frame.toString('latin1', ZXID + 8) : frame.toString('latin1'),
    )
  }
  return parts.join('|')
}

/** Returns what a client knows after it has received a packet. */
export function knownAfter(known: Known, { bytes, isFirst }: Packet): Known {
  let { zxid, atDeletion } = known
  let isHandshake = isFirst
  for (const frame of framesIn(bytes)) {
    if (!isHandshake && frame.length >= REPLY) {
      if (frame.readInt32BE(XID) === xids.notification) {
        if (WatcherEvent.read(new Reader(frame, REPLY)).type === eventTypes.NodeDeleted) atDeletion = zxid
      } else if (frame.readBigInt64BE(ZXID) > zxid) zxid = frame.readBigInt64BE(ZXID)
    }
    isHandshake = false
  }
  return zxid === known.zxid && atDeletion === known.atDeletion ? known : { zxid, atDeletion }
}

export function* framesIn({ buffer, byteOffset, length }: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(buffer, byteOffset, length)
  for (let at = 0; at < bytes.length;) {
    // The words that ask for a server's state, and the answers, have no length.
    const end = bytes.length < MIN_FRAME ? bytes.length : at + 4 + bytes.readInt32BE(at)
    yield bytes.subarray(at, end)
    at = end
  }
}

/** Returns the xid and the opcode of a request. */
export const requestOf = ({ bytes }: Frame): readonly [xid: number, opcode: number] | undefined =>
  bytes.length < MIN_FRAME ? undefined : [bytes.readInt32BE(XID), bytes.readInt32BE(OPCODE)]

export const describeFrame = ({ bytes }: Frame): string => sentenceOf(bytes, { from: 'client' })

/** @param opcodeOf returns the opcode of the request with this xid, because replies do not contain it */
export const describePacket = ({ bytes }: Packet, opcodeOf: (xid: number) => number | undefined): string =>
  [...framesIn(bytes)]
    .map(frame =>
      sentenceOf(frame, {
        from: 'server',
        opcode: frame.length < MIN_FRAME ? undefined : opcodeOf(frame.readInt32BE(XID)),
      }),
    )
    .join(', then ')

/** Describes a frame, without what is the same in all of them, and with the digits of each uuid that no other one has. */
const sentenceOf = (frame: Buffer, options: ExplainOptions): string =>
  explain(frame, options)
    .sentence.replace(/, acl: \[[^\]]*\]/, '')
    .replace(/^(?:client|server answers) /, '')
    .replace(/[\da-f]{4}([\da-f]{4})(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '…$1')
