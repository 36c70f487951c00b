// ZooKeeper's four-letter words: commands by which a server reports its state.
import { connect } from 'node:net'

/**
 * Sends `word` and returns the reply. Rejects if the server cannot be reached or is silent for `timeout` milliseconds.
 */
export function fourLetterWord(host: string, port: number, word: string, timeout = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host, port }, () => socket.write(word))
    socket.setTimeout(timeout, () => socket.destroy(new Error(`${host}:${port} did not answer ${word} in time`)))
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}
