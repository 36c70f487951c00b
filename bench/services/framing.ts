// Counts the frames in a byte stream of each service's protocol, without keeping the bytes. Pure.

/** Takes the next bytes of one direction of one connection, and returns how many frames end in them. */
export type FrameCounting = (chunk: Uint8Array) => number

export type Protocol = 'zookeeper' | 'redis' | 'http2' | 'postgresql'

/** Returns the counting of one direction of a new connection. */
export const countingOf = (protocol: Protocol, from: 'client' | 'server'): FrameCounting => makers[protocol](from)

const makers: Record<Protocol, (from: 'client' | 'server') => FrameCounting> = {
  zookeeper: () => byLength(4, header => 4 + uint32(header, 0)),
  redis: redisFrames,
  http2: from => {
    const frames = byLength(9, header => 9 + (uint32(header, 0) >>> 8))
    return from === 'server' ? frames : after(HTTP2_PREFACE, frames)
  },
  postgresql: from => {
    const messages = byLength(5, header => 1 + uint32(header, 1))
    return from === 'server' ? messages : startupThen(messages)
  },
}

/** A client of HTTP/2 begins with these bytes: `PRI * HTTP/2.0`, and an empty message. They are no frame. */
const HTTP2_PREFACE = 24

const uint32 = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0

/**
 * Counts frames that begin with a header of fixed size.
 * @param sizeOf returns the size of the whole frame
 */
function byLength(headerSize: number, sizeOf: (header: Uint8Array) => number): FrameCounting {
  const header = new Uint8Array(headerSize)
  let [read, left] = [0, 0]
  return chunk => {
    let frames = 0
    for (let at = 0; at < chunk.length;) {
      if (read < headerSize) {
        header[read++] = chunk[at++] ?? 0
        if (read < headerSize) continue
        left = sizeOf(header) - headerSize
      }
      const taken = Math.min(left, chunk.length - at)
      at += taken
      left -= taken
      if (left > 0) continue
      frames++
      read = 0
    }
    return frames
  }
}

function after(skipped: number, rest: FrameCounting): FrameCounting {
  return chunk => {
    const taken = Math.min(skipped, chunk.length)
    skipped -= taken
    return rest(chunk.subarray(taken))
  }
}

/** The first message of a client of PostgreSQL has no type. It begins with its length, and counts as one. */
function startupThen(messages: FrameCounting): FrameCounting {
  let isFirst = true
  const first = byLength(4, header => uint32(header, 0))
  // A client sends nothing else before the server has answered its first message.
  return chunk => {
    if (!isFirst) return messages(chunk)
    const ended = first(chunk)
    isFirst = ended === 0
    return ended
  }
}

const LINE_FEED = 10
const [DOLLAR, STAR] = [36, 42]

/** Counts whole values of RESP 2, the protocol of Redis: a command or a reply is one value, with all its parts. */
function redisFrames(): FrameCounting {
  let line: number[] = []
  let skipped = 0
  // The parts that are still missing of each open array.
  const open: number[] = []
  const end = (): number => {
    while (open.length > 0) {
      const missing = (open.pop() ?? 1) - 1
      if (missing > 0) {
        open.push(missing)
        return 0
      }
    }
    return 1
  }
  return chunk => {
    let frames = 0
    for (let at = 0; at < chunk.length;) {
      if (skipped > 0) {
        const taken = Math.min(skipped, chunk.length - at)
        at += taken
        skipped -= taken
        if (skipped === 0) frames += end()
        continue
      }
      const byte = chunk[at++] ?? 0
      if (byte !== LINE_FEED) {
        line.push(byte)
        continue
      }
      const [kind] = line
      const size = Number(String.fromCharCode(...line.slice(1, -1)))
      line = []
      if (kind === DOLLAR && size >= 0) skipped = size + 2
      else if (kind === STAR && size > 0) open.push(size)
      else frames += end()
    }
    return frames
  }
}
