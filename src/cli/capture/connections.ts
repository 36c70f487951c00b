// All TCP connections of a capture: which end is the server, what each end sent, and what the capture lacks.
import type { End } from '../conversation/conversation.ts'
import type { Segment } from './segment.ts'
import { Stream } from './stream.ts'

/** Receives what happens on one connection, in the order in which its ends saw it. */
export interface ConnectionListener {
  /** The next bytes from one end. `time` is in seconds since 1970. */
  bytes(from: End, bytes: Buffer, time: number): void
  /** The capture lacks `count` bytes from one end. */
  lost(from: End, count: number, time: number): void
  /** One end has closed its direction. */
  closed(from: End, time: number): void
  /**
   * A reset was sent in the name of one end. Bytes may follow, because the other end obeys only a reset with the number
   * that it expects. `ahead` is by how many bytes the number is beyond all bytes of the capture.
   */
  reset(from: End, ahead: number, time: number): void
}

/** What is known of a connection when its first segment is read. */
export interface Opening {
  /** Counted from 1. */
  number: number
  client: string
  server: string
  /** True if the capture begins after the connection was opened. */
  isJoined: boolean
  time: number
}

export type OnOpening = (opening: Opening) => ConnectionListener

/**
 * How often holes are looked at while packets are read, in milliseconds.
 */
const CHECK_INTERVAL = 100
/**
 * How long a hole waits for its bytes, in milliseconds, if the receiver has confirmed that it got them: segments that
 * are out of order in a capture are close together.
 */
const PATIENCE = 1000
/** The same, if the receiver may still lack the bytes and the sender may send them again. */
const LONG_PATIENCE = 30_000
/** The largest number of bytes held behind a hole. */
const MOST_HELD = 16 * 1024 * 1024

const ZOOKEEPER_PORTS: readonly number[] = [2181, 2281]

export class Connections {
  readonly #onOpening: OnOpening
  readonly #isServerPort: (port: number) => boolean
  readonly #byEnds = new Map<string, Connection>()
  /** Those that wait for bytes, because only they need to be looked at again. */
  readonly #waiting = new Set<Connection>()
  readonly #elapsed = new Elapsed()
  #checked = 0
  #count = 0
  #repeated = 0

  /** @param serverPort the port of the server, for connections that were opened before the capture began */
  constructor(onOpening: OnOpening, serverPort?: number) {
    this.#onOpening = onOpening
    this.#isServerPort = port => (serverPort === undefined ? ZOOKEEPER_PORTS.includes(port) : port === serverPort)
  }

  /** The number of connections so far. */
  get count(): number {
    return this.#count
  }

  /** The number of bytes so far that came more than once. */
  get repeated(): number {
    return [...this.#byEnds.values()].reduce((sum, { repeated }) => sum + repeated, this.#repeated)
  }

  /** @param now the reader's clock, in milliseconds */
  push(segment: Segment, now: number): void {
    const key = [segment.from, segment.to].sort().join(' ')
    let connection = this.#byEnds.get(key)
    if (connection === undefined || connection.isSucceededBy(segment)) {
      if (connection !== undefined) this.#end(connection)
      connection = new Connection(segment, this.#clientIsSender(segment), ++this.#count, this.#onOpening)
      this.#byEnds.set(key, connection)
    }
    const elapsed = this.#elapsed.at(now, 1000 * segment.time)
    if (elapsed - this.#checked >= CHECK_INTERVAL) this.#giveUp(elapsed)
    connection.push(segment, elapsed)
    this.#note(connection)
  }

  /** Gives up holes that have waited too long, while no packet comes. */
  giveUp(now: number): void {
    this.#giveUp(this.#elapsed.at(now))
  }

  #giveUp(elapsed: number): void {
    this.#checked = elapsed
    for (const connection of this.#waiting) {
      connection.giveUp(elapsed)
      this.#note(connection)
    }
  }

  #note(connection: Connection): void {
    if (connection.isWaiting) this.#waiting.add(connection)
    else this.#waiting.delete(connection)
  }

  #end(connection: Connection): void {
    connection.finish()
    this.#waiting.delete(connection)
    this.#repeated += connection.repeated
  }

  /** The capture has ended: gives up all holes. */
  finish(): void {
    for (const connection of this.#byEnds.values()) connection.finish()
  }

  #clientIsSender({ isSyn, ack, fromPort, toPort }: Segment): boolean {
    if (isSyn) return ack === undefined
    const [fromServer, toServer] = [this.#isServerPort(fromPort), this.#isServerPort(toPort)]
    // Systems choose the ports of clients from the high numbers.
    return fromServer === toServer ? fromPort > toPort : toServer
  }
}

/**
 * The time since the first packet, in milliseconds: that of the reader in a live capture, and that of the packets in a
 * file, which is read faster than it was captured.
 */
class Elapsed {
  #elapsed = 0
  #now: number | undefined
  #latest: number | undefined

  at(now: number, captured = this.#latest ?? 0): number {
    this.#elapsed += Math.max(0, now - (this.#now ?? now), captured - (this.#latest ?? captured))
    this.#now = now
    this.#latest = Math.max(this.#latest ?? captured, captured)
    return this.#elapsed
  }
}

/** A reset, and the positions of both ends up to which bytes come before it. */
interface Reset extends Readonly<Record<End, number>> {
  readonly from: End
  readonly ahead: number
  readonly time: number
}

class Connection {
  readonly #client: string
  readonly #listener: ConnectionListener
  readonly #streams: Record<End, Stream> = { client: new Stream(), server: new Stream() }
  /** The number of the client's SYN. */
  #opened: number | undefined
  #time: number
  /** The resets that wait for the bytes before them. */
  readonly #resets: Reset[] = []
  /** The position of each end's last reset, because many programs send several. */
  readonly #resetAt: Partial<Record<End, number>> = {}

  constructor(first: Segment, clientIsSender: boolean, number: number, onOpening: OnOpening) {
    const [client, server] = clientIsSender ? [first.from, first.to] : [first.to, first.from]
    this.#client = client
    this.#time = first.time
    this.#listener = onOpening({ number, client, server, isJoined: !first.isSyn, time: first.time })
  }

  get repeated(): number {
    return this.#streams.client.repeated + this.#streams.server.repeated
  }

  /** True if an end waits for bytes: for a hole to be filled, or for those that the other end had sent before. */
  get isWaiting(): boolean {
    return this.#streams.client.peek() !== undefined || this.#streams.server.peek() !== undefined
  }

  /** True if the segment opens another connection between the same ports. */
  isSucceededBy({ isSyn, ack, seq, from }: Segment): boolean {
    if (!isSyn || ack !== undefined || from !== this.#client) return false
    if (this.#opened !== undefined) return seq !== this.#opened
    // The SYN of this connection may be read late. Then the stream goes on right after it.
    const { next } = this.#streams.client
    return next !== undefined && next !== this.#streams.client.positionOf(seq) + 1
  }

  push(segment: Segment, now: number): void {
    const from: End = segment.from === this.#client ? 'client' : 'server'
    const [stream, other] = [this.#streams[from], this.#streams[from === 'client' ? 'server' : 'client']]
    if (segment.isReset) return this.#reset(from, segment)
    const at = stream.positionOf(segment.seq) + (segment.isSyn ? 1 : 0)
    const ack = segment.ack === undefined ? undefined : other.positionOf(segment.ack)
    if (segment.isSyn) stream.start(at)
    if (segment.isSyn && ack !== undefined) other.start(ack)
    if (segment.isSyn && from === 'client') this.#opened = segment.seq
    if (ack !== undefined) other.acknowledge(ack, now)
    const { payload, cutOff, time, isFin } = segment
    if (payload.length + cutOff > 0 || isFin)
      stream.hold({ at, payload, cutOff, isEnd: isFin, ack, time, arrived: now })
    this.#deliver()
    while (stream.heldBytes > MOST_HELD) this.#giveUp(Infinity)
  }

  giveUp(now: number): void {
    while (this.#giveUp(now));
  }

  finish(): void {
    this.giveUp(Infinity)
    while (this.#deliverReset(true));
  }

  /**
   * A reset has its place after all bytes that were captured before it, whatever its numbers are: firewalls and programs
   * such as tcpkill guess them, and other bytes follow if the other end does not obey.
   */
  #reset(from: End, { seq, time }: Segment): void {
    const { client, server } = this.#streams
    const { end } = this.#streams[from]
    if (this.#resetAt[from] === end) return
    this.#resetAt[from] = end
    // Numbers start again after 4 GiB.
    this.#resets.push({ from, time, ahead: Math.max(0, (seq - end) | 0), client: client.end, server: server.end })
    this.#deliver()
  }

  /** Passes on everything that is next. A segment waits for those that its sender had received before. */
  #deliver(): void {
    while (this.#deliverReset() || this.#deliverFrom('client') || this.#deliverFrom('server'));
  }

  #deliverReset(isForced = false): boolean {
    const [first] = this.#resets
    if (first === undefined) return false
    const isDue = (end: End) => (this.#streams[end].next ?? -Infinity) >= first[end]
    if (!isForced && !(isDue('client') && isDue('server'))) return false
    this.#resets.shift()
    this.#time = first.time
    this.#listener.reset(first.from, first.ahead, first.time)
    return true
  }

  #deliverFrom(from: End, isForced = false): boolean {
    const stream = this.#streams[from]
    const next = stream.peek()
    if (next === undefined || !('piece' in next)) return false
    const { ack, time, isEnd } = next.piece
    const heard = this.#streams[from === 'client' ? 'server' : 'client'].next
    if (!isForced && ack !== undefined && ack > (heard ?? -Infinity)) return false
    this.#time = time
    const { bytes, cutOff } = stream.take()
    if (bytes.length > 0) this.#listener.bytes(from, bytes, time)
    if (cutOff > 0) this.#listener.lost(from, cutOff, time)
    if (isEnd) this.#listener.closed(from, time)
    return true
  }

  /** Gives up one hole that has waited too long. Returns false if there is none. */
  #giveUp(now: number): boolean {
    let isWaiting = false
    for (const from of ['client', 'server'] as const) {
      const next = this.#streams[from].peek()
      if (next === undefined) continue
      isWaiting = true
      if ('piece' in next || now - next.since < (next.isAcknowledged ? PATIENCE : LONG_PATIENCE)) continue
      this.#streams[from].skip(next.hole)
      // If the capture begins within the connection, both directions begin together, so that their order is kept.
      if (next.hole === 0) this.#streams[from === 'client' ? 'server' : 'client'].begin()
      if (next.hole > 0) this.#listener.lost(from, next.hole, this.#time)
      this.#deliver()
      return true
    }
    // Neither end has a hole, but each waits for the other: numbers that no real connection has.
    return isWaiting && now === Infinity && (this.#deliverFrom('client', true) || this.#deliverFrom('server', true))
  }
}
