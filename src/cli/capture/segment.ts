// One packet to the TCP segment in it.
import type { Packet } from './packet.ts'

export interface Segment {
  /** The time of the capture, in seconds since 1970. */
  time: number
  /** The sender, as 'address:port'. */
  from: string
  /** The receiver, as 'address:port'. */
  to: string
  fromPort: number
  toPort: number
  /** The number of the first byte, modulo 2^32. */
  seq: number
  /** The number of the next byte that the sender expects, modulo 2^32. Undefined without the flag ACK. */
  ack: number | undefined
  isSyn: boolean
  isFin: boolean
  isReset: boolean
  payload: Buffer
  /** The number of bytes that follow the payload on the wire, and that the limit of the capture has cut off. */
  cutOff: number
}

/** Why a packet has no segment: it is not TCP, or a fragment of a larger packet, or too short for its headers. */
export type NoSegment = 'other' | 'fragment' | 'malformed'

const IPV4 = 0x0800
const IPV6 = 0x86dd
const TCP = 6

/** The types of the tags that a VLAN puts before the type of the packet (802.1Q, 802.1ad, and an older one). */
const VLAN_TAGS: readonly number[] = [0x8100, 0x88a8, 0x9100]

/** Where the type of the network's packet is, by link type: after the header's addresses, or at its start. */
const TYPE_AT: Readonly<Record<number, { typeAt: number; end: number }>> = {
  1: { typeAt: 12, end: 14 }, // Ethernet
  113: { typeAt: 14, end: 16 }, // Linux cooked capture, `tcpdump -i any`
  276: { typeAt: 0, end: 20 }, // its second version
}

/** The length of the header before the IP packet, by link types that have no type field, or one of the host's own. */
const IP_AT: Readonly<Record<number, number>> = {
  0: 4, // loopback of BSD and macOS
  108: 4, // loopback of OpenBSD
  12: 0, // raw IP
  14: 0,
  101: 0,
  228: 0,
  229: 0,
}

/** True if packets with this kind of header can be read. */
export const isReadableLink = (linkType: number): boolean => linkType in TYPE_AT || linkType in IP_AT

export function segmentOf(packet: Packet): Segment | NoSegment {
  try {
    const ip = ipPacketOf(packet)
    if (ip === undefined) return 'other'
    const version = ip.readUInt8(0) >> 4
    const datagram = version === 4 ? ipv4(ip) : version === 6 ? ipv6(ip) : 'other'
    return typeof datagram === 'string' ? datagram : tcp(packet.time, datagram)
  } catch (error) {
    if (error instanceof RangeError) return 'malformed'
    throw error
  }
}

function ipPacketOf({ linkType, bytes }: Packet): Buffer | undefined {
  const start = IP_AT[linkType]
  if (start !== undefined) return bytes.subarray(start)
  const link = TYPE_AT[linkType]
  if (link === undefined) return undefined
  let { end } = link
  let type = bytes.readUInt16BE(link.typeAt)
  // A tag has two bytes of its own, and the type of what follows.
  for (; VLAN_TAGS.includes(type); end += 4) type = bytes.readUInt16BE(end + 2)
  return type === IPV4 || type === IPV6 ? bytes.subarray(end) : undefined
}

/** A TCP segment with its addresses. */
interface Datagram {
  from: string
  to: string
  bytes: Buffer
  /** The length on the wire. */
  length: number
}

function ipv4(ip: Buffer): Datagram | NoSegment {
  if (ip.readUInt8(9) !== TCP) return 'other'
  // The flag "more fragments", and the offset of this one.
  if ((ip.readUInt16BE(6) & 0x3fff) !== 0) return 'fragment'
  const header = (ip.readUInt8(0) & 0xf) * 4
  // Hardware that cuts large packets itself hands the capture one with the length 0.
  const total = ip.readUInt16BE(2) || ip.length
  const address = (at: number) => ip.subarray(at, at + 4).join('.')
  return datagram(address(12), address(16), ip.subarray(header, total), total - header)
}

const HOP_BY_HOP = 0
const ROUTING = 43
const FRAGMENT = 44
const AUTHENTICATION = 51
const DESTINATION = 60

function ipv6(ip: Buffer): Datagram | NoSegment {
  const total = 40 + (ip.readUInt16BE(4) || ip.length - 40)
  let next = ip.readUInt8(6)
  let at = 40
  while ([HOP_BY_HOP, ROUTING, DESTINATION, AUTHENTICATION].includes(next)) {
    const units = ip.readUInt8(at + 1)
    const length = next === AUTHENTICATION ? (units + 2) * 4 : (units + 1) * 8
    next = ip.readUInt8(at)
    at += length
  }
  if (next === FRAGMENT) return 'fragment'
  if (next !== TCP) return 'other'
  const address = (start: number) => {
    const groups = Array.from({ length: 8 }, (_, i) => ip.readUInt16BE(start + 2 * i).toString(16))
    // The URL standard shortens the address.
    return new URL(`http://[${groups.join(':')}]`).hostname
  }
  return datagram(address(8), address(24), ip.subarray(at, total), total - at)
}

const datagram = (from: string, to: string, bytes: Buffer, length: number): Datagram => ({ from, to, bytes, length })

function tcp(time: number, { from, to, bytes, length }: Datagram): Segment | NoSegment {
  const [fromPort, toPort] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)]
  const header = (bytes.readUInt8(12) >> 4) * 4
  const flags = bytes.readUInt8(13)
  if (header < 20 || header > length) return 'malformed'
  const payload = bytes.subarray(header)
  return {
    time,
    from: `${from}:${fromPort}`,
    to: `${to}:${toPort}`,
    fromPort,
    toPort,
    seq: bytes.readUInt32BE(4),
    ack: (flags & 0x10) === 0 ? undefined : bytes.readUInt32BE(8),
    isSyn: (flags & 0x02) !== 0,
    isFin: (flags & 0x01) !== 0,
    isReset: (flags & 0x04) !== 0,
    payload,
    cutOff: Math.max(0, length - header - payload.length),
  }
}
