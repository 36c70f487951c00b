// Explains a capture: each connection is a conversation, told in the order of the packets.
import { Conversation, type Line } from '../conversation/conversation.ts'
import { CaptureReader } from './capture-reader.ts'
import { Connections, type ConnectionListener, type Opening } from './connections.ts'
import type { Packet } from './packet.ts'
import { isReadableLink, segmentOf } from './segment.ts'

/** Called with each line, the seconds since the first packet, and the number of the connection, counted from 1. */
export type OnCapturedLine = (seconds: number, connection: number, line: Line) => void

export class CaptureExplainer {
  readonly #onLine: OnCapturedLine
  readonly #reader = new CaptureReader(packet => this.#onPacket(packet))
  readonly #connections: Connections
  readonly #conversations: Conversation[] = []
  #now = 0
  #begun: number | undefined
  #packets = 0
  /** The packets that have no segment, by the reason. */
  readonly #unread = { other: 0, fragment: 0, malformed: 0, link: 0 }

  /** @param serverPort the port of the server, for connections that were opened before the capture began */
  constructor(onLine: OnCapturedLine, serverPort?: number) {
    this.#onLine = onLine
    this.#connections = new Connections(opening => this.#listenerOf(opening), serverPort)
  }

  /**
   * Reads the next bytes of the capture.
   * @param now a clock in milliseconds, which decides how long missing segments are awaited
   * @throws CaptureError if the bytes are not a capture, or are damaged
   */
  push(chunk: Buffer, now: number): void {
    this.#now = now
    this.#reader.push(chunk)
  }

  /** Gives up segments that were awaited too long. */
  giveUp(now: number): void {
    this.#connections.giveUp(now)
  }

  /** The capture has ended. Explains what is left. */
  finish(): void {
    this.#connections.finish()
    for (const conversation of this.#conversations) conversation.end()
  }

  /** Returns the counts as one line: what was read, and what could not be. */
  summary(): string {
    const { other, fragment, malformed, link } = this.#unread
    const { count, repeated } = this.#connections
    const parts = [
      `packets: ${this.#packets}`,
      `connections: ${count}`,
      repeated > 0 && `bytes sent again: ${repeated}`,
      other > 0 && `packets without TCP: ${other}`,
      fragment > 0 && `fragments of packets, which are not joined: ${fragment}`,
      malformed > 0 && `packets cut off within their headers: ${malformed}`,
      link > 0 && `packets from a kind of network that is not known: ${link}`,
      this.#reader.isIncomplete && 'the capture breaks off within a packet',
    ]
    return parts.filter(each => each !== false).join('; ')
  }

  #onPacket(packet: Packet): void {
    this.#packets++
    this.#begun ??= packet.time
    const segment = isReadableLink(packet.linkType) ? segmentOf(packet) : 'link'
    if (typeof segment === 'string') this.#unread[segment]++
    else this.#connections.push(segment, this.#now)
  }

  #listenerOf({ number, client, server, isJoined, time }: Opening): ConnectionListener {
    let at = time
    const report = (line: Line) => this.#onLine(Math.max(0, at - (this.#begun ?? at)), number, line)
    const note = (sentence: string, more: Pick<Line, 'ends' | 'isClosed'>) =>
      report({ sentence, dump: '', isPing: false, ...more })
    const conversation = new Conversation(report, isJoined)
    this.#conversations.push(conversation)
    const opening = isJoined
      ? `was open before: client ${client}, server ${server}`
      : `opened by ${client} to ${server}`
    note(opening, { ends: { client, server, isJoined } })
    return {
      bytes: (from, bytes, time) => {
        at = time
        conversation.push(from, bytes)
      },
      lost: (from, count, time) => {
        at = time
        conversation.lost(from, count)
      },
      closed: (from, time) => {
        at = time
        note(`closed by the ${from}`, { isClosed: true })
      },
      reset: (from, ahead, time) => {
        at = time
        const distance = `, with a number ${ahead} bytes ahead: the capture lacks these bytes, or the reset had no effect`
        note(`reset by the ${from}${ahead > 0 ? distance : ''}`, { isClosed: true })
      },
    }
  }
}
