// What the formats of captures have in common.

export interface Packet {
  /** The time of the capture, in seconds since 1970. */
  time: number
  /** The kind of the first header (https://www.tcpdump.org/linktypes.html). */
  linkType: number
  /** The captured bytes. A packet that was longer than the limit of the capture lacks its end. */
  bytes: Buffer
}

export type OnPacket = (packet: Packet) => void

/** The bytes are not a capture, or a damaged one. The message is one sentence for the user. */
export class CaptureError extends Error {}

/**
 * Reads a file format in straight lines: yields the number of bytes that it needs next, and gets exactly these. It
 * returns only if the bytes are not a file of the format; the result says why.
 */
export type FormatReader = Generator<number, string, Buffer>

/**
 * The longest packet or block in bytes. tcpdump captures at most 256 KiB of a packet; a block of pcapng may have long
 * comments. A larger length is damage, and the reader must not wait for its bytes.
 */
export const LONGEST_BLOCK = 16 * 1024 * 1024
