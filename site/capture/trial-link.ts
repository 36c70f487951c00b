// A trial of the judge as the last part of a link: `trial=` and the file that `zkwire judge --save` writes, compressed
// (deflate without a header) and in base64url. A link is untrusted, and is read as a file is.
import type { OpenedFile } from './read-file.ts'
import { FileError } from './row.ts'

/** No link of a story starts with it. */
const PREFIX = 'trial='
/** In characters: the judge prints at most half of it. */
const LONGEST = 16_000

const DAMAGED =
  'The trial of the link is damaged: copy the whole link that zkwire judge has printed, or open what zkwire judge --save writes.'

/**
 * Returns the file in a link. Undefined if the link is not one of a trial.
 * @throws FileError if it is malformed. The chunks of the file throw it too
 */
export function trialIn(link: string): OpenedFile | undefined {
  if (!link.startsWith(PREFIX)) return undefined
  const text = link.slice(PREFIX.length)
  if (!/^[\w-]+$/.test(text) || text.length > LONGEST) throw new FileError(DAMAGED)
  return { name: 'The trial of the link', chunks: inflated(Buffer.from(text, 'base64')) }
}

/** Not every browser lets a stream be iterated. */
async function* inflated(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  const read = () => reader.read().catch(() => Promise.reject(new FileError(DAMAGED)))
  try {
    for (let next = await read(); !next.done; next = await read()) yield next.value
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
