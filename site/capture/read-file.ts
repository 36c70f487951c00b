// The bytes of a file to its lines, whatever it is. It reads no further than the page can show.
import { isCapture } from '../../src/cli/capture/capture-reader.ts'
import { LIMITS } from '../world/story.ts'
import { JsonReader } from './json-reader.ts'
import { PcapReader } from './pcap-reader.ts'
import { FileError, type FileReader, type Rows } from './row.ts'

/** What a reader opens. */
export interface OpenedFile {
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** How a file begins that is no capture: by `{`, with a byte order mark, as latin1, or white space before it. */
const JSON_START = /^(\u00ef\u00bb\u00bf)?\s*\{/
const UTF_16 = ['fffe', 'feff']
const GZIP = Buffer.of(0x1f, 0x8b)
/** The bytes that tell what a file is. */
const START = 4
/** The most bytes that are read while there is no frame. */
const MOST_WITHOUT_FRAMES = 256 * 1024 * 1024

const WHAT_OPENS =
  'The page opens captures of tcpdump and Wireshark (.pcap, .pcapng), what zkwire trace --json and zkwire explain --json print, and what zkwire judge --save writes.'

/** @throws FileError if the file is empty, of another kind, or damaged before its first frame */
export async function rowsIn({ name, chunks }: OpenedFile): Promise<Rows> {
  let start = Buffer.alloc(0)
  let length = 0
  let reader: FileReader | undefined
  for await (const chunk of chunks) {
    length += chunk.length
    start = Buffer.concat([start, chunk])
    if (start.length < START) continue
    reader ??= readerOf(start)
    if (reader === undefined && start.subarray(0, GZIP.length).equals(GZIP))
      throw new FileError(`${name} is compressed with gzip: unpack it with gunzip, and open what is in it.`)
    if (reader === undefined && UTF_16.includes(start.toString('hex', 0, 2)))
      throw new FileError(`${name} is UTF-16, as Windows PowerShell writes it: convert it to UTF-8, and open it again.`)
    if (reader === undefined) throw new FileError(`${name} is no file that can be played. ${WHAT_OPENS}`)
    reader.push(start)
    start = Buffer.alloc(0)
    const isLong = reader.frames >= LIMITS.frames || (reader.frames === 0 && length > MOST_WITHOUT_FRAMES)
    if (isLong) return { ...reader.end(true), isCut: true }
  }
  if (length === 0) throw new FileError(`${name} is empty. ${WHAT_OPENS}`)
  if (reader === undefined) throw new FileError(`${name} has only ${length} bytes. ${WHAT_OPENS}`)
  return { ...reader.end(false), isCut: false }
}

function readerOf(start: Buffer): FileReader | undefined {
  if (isCapture(start)) return new PcapReader()
  return JSON_START.test(start.toString('latin1')) ? new JsonReader() : undefined
}
