// The bytes that a command reads. The first ones show if they are in a form that no command reads.
import { createReadStream } from 'node:fs'
import type { Context } from './command.ts'
import { UsageError } from './failure.ts'

/**
 * Returns the bytes of a file, or of stdin if none is given.
 * @throws UsageError if the file cannot be read, or is compressed or UTF-16
 */
export async function* bytesOf(
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
  file: string | undefined,
): AsyncGenerator<Buffer> {
  const stream = file === undefined ? stdin : createReadStream(file, { signal })
  try {
    yield* readable(stream)
  } catch (error) {
    const { code } = error as { code?: string }
    if (file === undefined || code === undefined || signal.aborted) throw error
    throw new UsageError(`cannot read the file ${file} (${code})`)
  }
}

/**
 * Returns the bytes of a stream.
 * @throws UsageError if they are compressed or UTF-16
 */
export async function* readable(stream: NodeJS.ReadableStream): AsyncGenerator<Buffer, void, undefined> {
  // The first bytes, while there are too few to recognise them.
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (start === undefined) {
      yield bytes
      continue
    }
    start = Buffer.concat([start, bytes])
    requireReadable(start)
    if (start.length < LONGEST_MARK) continue
    yield start
    start = undefined
  }
  if (start !== undefined && start.length > 0) yield start
}

/** @throws UsageError */
function requireReadable(start: Buffer): void {
  const hex = start.toString('hex', 0, LONGEST_MARK)
  const [, problem] = FORMS.find(([mark]) => hex.startsWith(mark)) ?? []
  if (problem !== undefined) throw new UsageError(`the input is ${problem}`)
}

const UTF_16 = 'UTF-16, as Windows PowerShell writes it: convert it to UTF-8'

/** How files begin that are often passed by mistake, in hex. */
const FORMS = [
  ['1f8b', 'compressed: pass it through gunzip -c'],
  ['28b52ffd', 'compressed: pass it through zstd -dc'],
  ['fd377a58', 'compressed: pass it through xz -dc'],
  ['425a68', 'compressed: pass it through bzip2 -dc'],
  ['504b0304', 'a zip archive: pass it through unzip -p'],
  ['fffe', UTF_16],
  ['feff', UTF_16],
] as const
const LONGEST_MARK = 4
