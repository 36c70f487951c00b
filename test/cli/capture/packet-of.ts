// Builds packets and capture files byte by byte.
import type { Packet } from '../../../src/cli/capture/packet.ts'

export const links = { loopback: 0, ethernet: 1, raw: 101, openBsdLoopback: 108, cooked: 113, cooked2: 276 } as const

interface TcpFields {
  from?: string
  to?: string
  fromPort: number
  toPort: number
  seq: number
  ack?: number
  /** Letters of tcpdump: S, F, R. */
  flags?: string
  payload?: Uint8Array
}

function tcpHeader({ fromPort, toPort, seq, ack, flags = '', payload = Buffer.alloc(0) }: TcpFields): Buffer {
  // With twelve bytes of options, as most segments have.
  const header = Buffer.alloc(32, 1)
  header.writeUInt16BE(fromPort, 0)
  header.writeUInt16BE(toPort, 2)
  header.writeUInt32BE(seq >>> 0, 4)
  header.writeUInt32BE((ack ?? 0) >>> 0, 8)
  header.writeUInt8(8 << 4, 12)
  const bit = (letter: string, value: number) => (flags.includes(letter) ? value : 0)
  header.writeUInt8(bit('F', 1) | bit('S', 2) | bit('R', 4) | (ack === undefined ? 0 : 0x10), 13)
  return Buffer.concat([header, payload])
}

const bytesOf = (address: string) => Buffer.from(address.split('.').map(Number))

export function ipv4(fields: TcpFields, { protocol = 6, fragment = 0 } = {}): Buffer {
  const tcp = tcpHeader(fields)
  const header = Buffer.alloc(24)
  header.writeUInt8(0x46, 0)
  header.writeUInt16BE(header.length + tcp.length, 2)
  header.writeUInt16BE(fragment, 6)
  header.writeUInt8(protocol, 9)
  header.set(bytesOf(fields.from ?? '10.0.0.1'), 12)
  header.set(bytesOf(fields.to ?? '10.0.0.2'), 16)
  return Buffer.concat([header, tcp])
}

/** From ::1 to ::1, with a header of hop-by-hop options before TCP. */
export function ipv6(fields: TcpFields): Buffer {
  const tcp = tcpHeader(fields)
  const header = Buffer.alloc(48)
  header.writeUInt8(0x60, 0)
  header.writeUInt16BE(8 + tcp.length, 4)
  header.writeUInt8(1, 8 + 15)
  header.writeUInt8(1, 24 + 15)
  header.writeUInt8(6, 40)
  return Buffer.concat([header, tcp])
}

/** Puts the header of the link before an IP packet. */
export function linked(linkType: number, ip: Buffer, vlans = 0): Buffer {
  const type = Buffer.from(ip.readUInt8(0) >> 4 === 4 ? '0800' : '86dd', 'hex')
  const tags = Buffer.from('8100002a'.repeat(vlans), 'hex')
  switch (linkType) {
    case links.ethernet:
      return Buffer.concat([Buffer.alloc(12, 2), tags, type, ip])
    case links.cooked:
      return Buffer.concat([Buffer.alloc(14, 0), type, ip])
    case links.cooked2:
      return Buffer.concat([type, Buffer.alloc(18), ip])
    case links.loopback:
    case links.openBsdLoopback:
      return Buffer.concat([Buffer.from('02000000', 'hex'), ip])
    default:
      return ip
  }
}

export const packetOf = (bytes: Buffer, linkType: number = links.raw, time = 1.5): Packet => ({ time, linkType, bytes })

interface FileOptions {
  isLittleEndian?: boolean
  /** The units of time in a second. */
  fractions?: number
  /** The longest captured part of a packet. */
  limit?: number
}

export function pcapFile(packets: readonly Packet[], options: FileOptions = {}): Buffer {
  const { isLittleEndian = true, fractions = 1e6, limit = 262_144 } = options
  const uint32s = (...values: number[]) => numbers(isLittleEndian, ...values)
  const magic = fractions === 1e6 ? 0xa1b2c3d4 : 0xa1b23c4d
  const header = uint32s(magic, isLittleEndian ? 0x40002 : 0x20004, 0, 0, limit, packets[0]?.linkType ?? 1)
  const records = packets.flatMap(({ time, bytes }) => {
    const captured = bytes.subarray(0, limit)
    const fraction = Math.round((time % 1) * fractions)
    return [uint32s(Math.floor(time), fraction, captured.length, bytes.length), captured]
  })
  return Buffer.concat([header, ...records])
}

/** Each packet is in an enhanced packet block; the first also in a block of an unknown type. */
export function pcapngFile(
  packets: readonly Packet[],
  { isLittleEndian = true, fractions = 1e6 }: FileOptions = {},
): Buffer {
  const uint32s = (...values: number[]) => numbers(isLittleEndian, ...values)
  const block = (type: number, body: Buffer) => {
    const length = 12 + Math.ceil(body.length / 4) * 4
    const padding = Buffer.alloc(length - 12 - body.length)
    return Buffer.concat([uint32s(type, length), body, padding, uint32s(length)])
  }
  const section = block(0x0a0d0d0a, uint32s(0x1a2b3c4d, isLittleEndian ? 1 : 0x10000, 0xffffffff, 0xffffffff))
  const resolution = Buffer.concat([
    isLittleEndian ? Buffer.from('09000100', 'hex') : Buffer.from('00090001', 'hex'),
    Buffer.from([Math.log10(fractions), 0, 0, 0]),
    Buffer.alloc(4),
  ])
  const linkType = packets[0]?.linkType ?? 1
  const description = Buffer.concat([uint32s(isLittleEndian ? linkType : linkType * 0x10000, 0), resolution])
  const blocks = packets.map(({ time, bytes }) => {
    const units = BigInt(Math.floor(time)) * BigInt(fractions) + BigInt(Math.round((time % 1) * fractions))
    return block(
      6,
      Buffer.concat([uint32s(0, Number(units >> 32n), Number(units & 0xffffffffn), bytes.length, bytes.length), bytes]),
    )
  })
  return Buffer.concat([section, block(1, description), block(0xbad, Buffer.alloc(5)), ...blocks])
}

function numbers(isLittleEndian: boolean, ...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries())
    if (isLittleEndian) bytes.writeUInt32LE(value, 4 * i)
    else bytes.writeUInt32BE(value, 4 * i)
  return bytes
}
