// ZooKeeper's four-letter words: a server tells about itself to whoever sends one.
import { connect } from 'node:net'

/** What the server says to `word`. Rejects where it is not reached, or silent for `patience` milliseconds. */
export function fourLetterWord(host: string, port: number, word: string, patience = 10_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const answer: Buffer[] = []
    const socket = connect({ host, port }, () => socket.write(word))
    socket.setTimeout(patience, () => socket.destroy(new Error(`${host}:${port} did not answer ${word} in time`)))
    socket.on('data', chunk => answer.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(answer).toString()))
  })
}
