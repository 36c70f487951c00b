// Asks a server one question on a stream of its own, which concerns no session: a four-letter word, by which a server
// reports its state, or bytes that only a server with TLS answers.
import type { Clock } from '../runtime/clock.ts'
import type { Address, Dial, Transport } from './transport.ts'

/**
 * Sends the question when the stream is open.
 * @param enough the number of bytes after which no more of the answer is read. Default: it is read until the server ends it
 * @param limit how long the whole answer may take, in milliseconds. Default: as long as the stream is open
 * @param onEnd called once with what has arrived, unless the transport is destroyed first; `cause` says why the answer is
 * incomplete. If dial throws, it is called before this returns.
 */
export function ask(
  dial: Dial,
  address: Address,
  question: Buffer,
  { enough = Infinity, limit }: { enough?: number; limit?: { readonly clock: Clock; readonly timeout: number } },
  onEnd: (answer: Buffer, cause?: Error) => void,
): Transport {
  const chunks: Buffer[] = []
  let length = 0
  let isOver = false
  let transport: Transport | undefined
  const destroy = () => {
    isOver = true
    limit?.clock.clearTimeout(timer)
    transport?.destroy()
  }
  const end = (cause?: Error) => {
    if (isOver) return
    destroy()
    onEnd(Buffer.concat(chunks), cause)
  }
  const timer = limit?.clock.setTimeout(() => {
    const what = length === 0 ? 'silent' : 'has not ended its answer'
    end(new Error(`${what} for ${limit.timeout / 1000} s`))
  }, limit.timeout)
  const handler = {
    opened: () => transport?.write(question),
    received: (chunk: Buffer) => {
      if (isOver) return
      chunks.push(Buffer.from(chunk))
      length += chunk.length
      if (length >= enough) end()
    },
    closed: end,
  }
  try {
    transport = dial(address, handler)
  } catch (error) {
    end(error as Error)
  }
  return { write: more => transport?.write(more), destroy }
}
