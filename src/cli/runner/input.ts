// The bytes that a command reads.
import { createReadStream } from 'node:fs'
import type { Context } from './command.ts'
import { UsageError } from './failure.ts'

/**
 * Returns the bytes of a file, or of stdin if none is given.
 * @throws UsageError if the file cannot be read
 */
export async function* bytesOf(
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
  file: string | undefined,
): AsyncGenerator<Buffer> {
  const stream = file === undefined ? stdin : createReadStream(file, { signal })
  try {
    for await (const chunk of stream) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  } catch (error) {
    const { code } = error as { code?: string }
    if (file === undefined || code === undefined || signal.aborted) throw error
    throw new UsageError(`cannot read the file ${file} (${code})`)
  }
}
