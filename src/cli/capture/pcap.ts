// The older format of captures, which `tcpdump -w` writes (draft-ietf-opsawg-pcap).
import { LONGEST_BLOCK, type FormatReader, type OnPacket } from './packet.ts'

/** The header of the file after its magic number: version, unused fields, limit of the capture, link type. */
const FILE_HEADER = 20
/** The header of a packet: seconds, their fraction, captured length, length on the wire. */
const PACKET_HEADER = 16
/** The link type has 28 bits. The bits above say whether packets end with a checksum of Ethernet. */
const LINK_TYPE = 0xfff_ffff

/** @param fractions the units of time in a second: 1e6 or 1e9, as the magic number says */
export function* pcap(onPacket: OnPacket, isLittleEndian: boolean, fractions: number): FormatReader {
  const uint32 = (bytes: Buffer, at: number) => (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  const linkType = uint32(yield FILE_HEADER, 16) & LINK_TYPE
  for (let count = 1; ; count++) {
    const header = yield PACKET_HEADER
    const length = uint32(header, 8)
    if (length > LONGEST_BLOCK) return `the capture is damaged: its packet ${count} claims to have ${length} bytes`
    const bytes = yield length
    onPacket({ time: uint32(header, 0) + uint32(header, 4) / fractions, linkType, bytes })
  }
}
