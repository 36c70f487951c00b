// ZooKeeper's four-letter words: commands by which a server reports its state.
import { systemClock } from '../src/runtime/clock.ts'
import { ask } from '../src/transport/ask.ts'
import { dialTcp } from '../src/transport/tcp.ts'

/**
 * Sends `word` and returns the reply. Rejects if the server cannot be reached, or has not ended its reply after `timeout`
 * milliseconds.
 */
export function fourLetterWord(host: string, port: number, word: string, timeout = 10_000): Promise<string> {
  const limit = { clock: systemClock, timeout }
  return new Promise((resolve, reject) =>
    ask(dialTcp, { host, port }, Buffer.from(word), { limit }, (reply, cause) =>
      cause === undefined ? resolve(reply.toString()) : reject(cause),
    ),
  )
}
