// Cuts what is written to the wires into frames, and numbers them.
import { constants, operations } from '../../src/protocol/entry.ts'
import type { FrameKind, WireFrame } from './wire-frame.ts'

export type LoggedFrame = { -readonly [K in keyof WireFrame]: WireFrame[K] }

/** What the start of a frame says. */
export interface FrameStart {
  readonly isConnect: boolean
  readonly xid: number | undefined
  /** Of a request. An answer has that of its request. */
  readonly opcode: number | undefined
}

/** One connection, as its frames are logged. */
export class ConnectionLog {
  readonly #log: FrameLog
  readonly #client: number
  readonly #server: number
  readonly #connection: number
  readonly #rest = { up: NOTHING, down: NOTHING }
  readonly #isFirst = { up: true, down: true }
  /** The requests that have no answer yet, in the order in which they were sent. */
  readonly #unanswered: LoggedFrame[] = []

  constructor(log: FrameLog, client: number, server: number, connection: number) {
    this.#log = log
    this.#client = client
    this.#server = server
    this.#connection = connection
  }

  /** The requests that have no answer yet. Pings and connect requests do not count. */
  get unanswered(): readonly WireFrame[] {
    return this.#unanswered.filter(({ kind }) => kind === 'request')
  }

  /** Logs the frames that these bytes complete. */
  write(direction: WireFrame['direction'], chunk: Uint8Array, sentAt: number): LoggedFrame[] {
    const bytes = joined(this.#rest[direction], chunk)
    const frames: LoggedFrame[] = []
    let at = 0
    for (;;) {
      const end = at + 4 + (bytes.length - at < 4 ? Infinity : int32(bytes, at))
      if (end > bytes.length) break
      const frame = bytes.slice(at, end)
      const isConnect = this.#isFirst[direction]
      this.#isFirst[direction] = false
      const xid = isConnect ? undefined : int32(frame, 4)
      const opcode = direction === 'up' && !isConnect ? int32(frame, 8) : undefined
      frames.push(this.add(direction, frame, sentAt, { isConnect, xid, opcode }))
      at = end
    }
    this.#rest[direction] = bytes.slice(at)
    return frames
  }

  /** Logs one whole frame. */
  add(direction: WireFrame['direction'], bytes: Uint8Array, sentAt: number, start: FrameStart): LoggedFrame {
    const { isConnect, xid } = start
    const request = direction === 'down' ? this.#answeredBy(xid) : undefined
    const opcode = start.opcode ?? request?.opcode
    const kind = isConnect ? 'connect' : kindOf(direction, xid, opcode)
    const frame: LoggedFrame = {
      n: this.#log.nextNumber,
      client: this.#client,
      server: this.#server,
      connection: this.#connection,
      direction,
      kind,
      op: kind === 'notification' ? 'event' : isConnect ? 'connect' : nameOf(opcode),
      xid,
      opcode,
      answers: request?.n,
      sentAt,
      arrivesAt: Infinity,
      lostAt: undefined,
      bytes,
    }
    if (direction === 'up') this.#unanswered.push(frame)
    this.#log.add(frame)
    return frame
  }

  /** Takes the oldest request with this xid out of those without an answer. */
  #answeredBy(xid: number | undefined): LoggedFrame | undefined {
    if (xid === constants.xids.notification) return undefined
    const index = this.#unanswered.findIndex(request => request.xid === xid)
    return index === -1 ? undefined : this.#unanswered.splice(index, 1)[0]
  }
}

/** All frames of a world. */
export class FrameLog {
  readonly #frames: LoggedFrame[] = []
  /** Called after each frame. */
  onFrame: () => void = () => undefined

  get all(): readonly WireFrame[] {
    return this.#frames
  }

  get nextNumber(): number {
    return this.#frames.length + 1
  }

  add(frame: LoggedFrame): void {
    this.#frames.push(frame)
    this.onFrame()
  }
}

function kindOf(direction: 'up' | 'down', xid: number | undefined, opcode: number | undefined): FrameKind {
  if (xid === constants.xids.ping || opcode === constants.opcodes.ping) return 'ping'
  if (direction === 'up') return 'request'
  return xid === constants.xids.notification ? 'notification' : 'answer'
}

const names = new Map<number | undefined, string>(Object.values(operations).map(({ opcode, name }) => [opcode, name]))
const nameOf = (opcode: number | undefined): string => names.get(opcode) ?? ''

const NOTHING = new Uint8Array(0)

const int32 = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(at)

/** Always returns a copy, because the writer may reuse its chunk. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length)
  all.set(a)
  all.set(b, a.length)
  return all
}
