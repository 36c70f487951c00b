// Bugs of `zkwire explain` and `zkwire trace`.
import type { PlantedBug } from '../planted-bug.ts'

const stream = { file: 'src/cli/capture/stream.ts', caughtBy: 'test/cli/capture/connections.test.ts' }
const connections = { file: 'src/cli/capture/connections.ts', caughtBy: 'test/cli/capture/connections.test.ts' }
const segments = { file: 'src/cli/capture/segment.ts', caughtBy: 'test/cli/capture/segment.test.ts' }
const captures = { caughtBy: 'test/cli/capture/capture-reader.test.ts' }
const gaps = { caughtBy: 'test/cli/conversation/gaps.test.ts' }

export const cliCaptureBugs: readonly PlantedBug[] = [
  {
    ...stream,
    bug: 'bytes that were sent again are explained twice',
    from: 'bytes: first.payload.subarray(old)',
    to: 'bytes: first.payload',
  },
  {
    ...stream,
    bug: 'the bytes of a connection get lost when the numbers of its segments start again at 0',
    from: 'this.#near + ((seq - this.#near) | 0)',
    to: 'seq',
  },
  {
    ...stream,
    bug: 'a segment that comes before its predecessor is put after its successor',
    from: 'index > 0 && (this.#held[index - 1]?.at ?? 0) > piece.at',
    to: 'index > this.#held.length',
  },
  {
    ...connections,
    bug: 'a reply is explained before its request if its segment was captured first',
    from: 'if (!isForced && ack !== undefined',
    to: 'if (isForced && ack !== undefined',
  },
  {
    ...connections,
    bug: 'a segment that is out of order counts as lost at once if its receiver has confirmed it',
    from: 'const PATIENCE = 1000',
    to: 'const PATIENCE = 0',
  },
  {
    ...connections,
    bug: 'two connections between the same ports are taken for one',
    from: 'if (this.#opened !== undefined) return seq !== this.#opened',
    to: 'if (this.#opened !== undefined) return false',
  },
  {
    ...segments,
    bug: 'the padding of a short packet counts as bytes of its connection',
    from: 'ip.subarray(header, total), total - header)',
    to: 'ip.subarray(header), total - header)',
  },
  {
    ...segments,
    bug: 'a packet with the tag of a VLAN is not found',
    from: 'for (; VLAN_TAGS.includes(type); end += 4)',
    to: 'for (; VLAN_TAGS.includes(type); end += 2)',
  },
  {
    ...captures,
    file: 'src/cli/capture/pcap.ts',
    bug: 'a capture is read in the wrong byte order',
    from: 'isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)',
    to: 'isLittleEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)',
  },
  {
    ...captures,
    file: 'src/cli/capture/pcapng.ts',
    bug: 'the second section of a pcapng file has the interfaces of the first',
    from: '      interfaces = []\n',
    to: '',
  },
  {
    ...gaps,
    file: 'src/cli/conversation/frame-stream.ts',
    bug: 'after missing bytes within a frame, the next frame is not found at once',
    from: 'count <= this.#needed - this.#length',
    to: 'false',
  },
  {
    ...gaps,
    file: 'src/cli/conversation/recognise.ts',
    bug: 'bytes within a frame are taken for a frame because they start like one',
    from: 'like the header of a longer one.\n  if (frame === undefined) return undefined',
    to: 'like the header of a longer one.\n  if (frame === undefined) return true',
  },
  {
    file: 'src/cli/capture/hex-explainer.ts',
    caughtBy: 'test/cli/capture/hex-explainer.test.ts',
    bug: 'a reply in hex does not name the operation of its request',
    from: 'opcode === undefined ? first : explain(bytes, { ...known, opcode })',
    to: 'first',
  },
]
