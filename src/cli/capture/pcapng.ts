// The newer format of captures, which Wireshark and `tcpdump` of macOS write (draft-ietf-opsawg-pcapng).
import { LONGEST_BLOCK, type FormatReader, type OnPacket, type Packet } from './packet.ts'

const SECTION_HEADER = 0x0a0d0d0a
const INTERFACE_DESCRIPTION = 1
const OLD_PACKET = 2
const SIMPLE_PACKET = 3
const ENHANCED_PACKET = 6

/** The options of an interface that change the meaning of times. */
const TIME_RESOLUTION = 9
const TIME_OFFSET = 14

/** The byte-order magic of a section, as its writer sees it. */
const BYTE_ORDER = 0x1a2b3c4d

interface Interface {
  linkType: number
  /** The longest captured part of a packet, or 0 if there is no limit. */
  limit: number
  /** The units of time in a second. */
  resolution: bigint
  /** Seconds to add to each time. */
  offset: number
}

/** Reads numbers in the byte order of the section. */
class Block {
  readonly bytes: Buffer
  readonly #isLittleEndian: boolean

  constructor(bytes: Buffer, isLittleEndian: boolean) {
    this.bytes = bytes
    this.#isLittleEndian = isLittleEndian
  }

  uint16(at: number): number {
    return this.#isLittleEndian ? this.bytes.readUInt16LE(at) : this.bytes.readUInt16BE(at)
  }

  uint32(at: number): number {
    return this.#isLittleEndian ? this.bytes.readUInt32LE(at) : this.bytes.readUInt32BE(at)
  }

  int64(at: number): number {
    return Number(this.#isLittleEndian ? this.bytes.readBigInt64LE(at) : this.bytes.readBigInt64BE(at))
  }
}

export function* pcapng(onPacket: OnPacket): FormatReader {
  let isLittleEndian = false
  let interfaces: Interface[] = []
  for (let count = 1; ; count++) {
    // The reader of the file has taken the type of the first block, to recognise the format.
    const start = count === 1 ? yield 4 : yield 8
    let head: Buffer = start
    if (count === 1 || start.readUInt32BE(0) === SECTION_HEADER) {
      const magic = yield 4
      head = Buffer.concat([start.subarray(-4), magic])
      isLittleEndian = magic.readUInt32LE(0) === BYTE_ORDER
      if (!isLittleEndian && magic.readUInt32BE(0) !== BYTE_ORDER) return damage(count, 'has no byte order')
      const length = new Block(head, isLittleEndian).uint32(0)
      if (length < 28 || length > LONGEST_BLOCK) return damage(count, `claims to have ${length} bytes`)
      yield length - 12
      interfaces = []
      continue
    }
    const header = new Block(head, isLittleEndian)
    const length = header.uint32(4)
    if (length < 12 || length % 4 !== 0 || length > LONGEST_BLOCK)
      return damage(count, `claims to have ${length} bytes`)
    const body = new Block((yield length - 8).subarray(0, -4), isLittleEndian)
    let packet: Packet | undefined
    try {
      if (header.uint32(0) === INTERFACE_DESCRIPTION) interfaces.push(interfaceOf(body))
      else packet = packetOf(header.uint32(0), body, interfaces)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return damage(count, 'is shorter than its fields')
    }
    if (packet !== undefined) onPacket(packet)
  }
}

const damage = (block: number, problem: string) => `the capture is damaged: its block ${block} ${problem}`

function interfaceOf(body: Block): Interface {
  const { bytes } = body
  const result = { linkType: body.uint16(0), limit: body.uint32(4), resolution: 1_000_000n, offset: 0 }
  for (let at = 8; at + 4 <= bytes.length;) {
    const [code, length] = [body.uint16(at), body.uint16(at + 2)]
    if (code === 0) break
    if (code === TIME_RESOLUTION) {
      const exponent = bytes.readUInt8(at + 4)
      result.resolution = exponent < 0x80 ? 10n ** BigInt(exponent) : 1n << BigInt(exponent & 0x7f)
    }
    if (code === TIME_OFFSET) result.offset = body.int64(at + 4)
    // Options are padded to 32 bits.
    at += 4 + Math.ceil(length / 4) * 4
  }
  return result
}

/** Returns undefined for a block that is not a packet, or a packet of an interface that is not described. */
function packetOf(type: number, body: Block, interfaces: readonly Interface[]): Packet | undefined {
  if (type === SIMPLE_PACKET) {
    const [first] = interfaces
    if (first === undefined) return undefined
    const length = Math.min(body.uint32(0), first.limit || Infinity)
    return { time: 0, linkType: first.linkType, bytes: body.bytes.subarray(4, 4 + length) }
  }
  if (type !== ENHANCED_PACKET && type !== OLD_PACKET) return undefined
  const origin = interfaces[type === OLD_PACKET ? body.uint16(0) : body.uint32(0)]
  if (origin === undefined) return undefined
  const { linkType, resolution, offset } = origin
  const units = (BigInt(body.uint32(4)) << 32n) | BigInt(body.uint32(8))
  // Nanoseconds since 1970 are too many for a number.
  const time = Number(units / resolution) + Number(units % resolution) / Number(resolution) + offset
  const bytes = body.bytes.subarray(20, 20 + body.uint32(12))
  return { time, linkType, bytes }
}
