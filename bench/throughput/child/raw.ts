// The lower limit of costs: a socket that replays prepared frames and only counts the replies, by their length.
import { Buffer } from 'node:buffer'
import { connect, type Socket } from 'node:net'
import { DATA_BYTES, paths, type Steady } from '../workloads.ts'
import type { Gauge, Make, Peer } from './subject.ts'

type Protocol = typeof import('../../../src/protocol/index.ts')

/** Shared by all sockets, because no received bytes are kept. */
const memory = Buffer.allocUnsafeSlow(65_536)

export const raw: Make = async ({ dist, port, directory }) => {
  const protocol = (await import(`${dist}/protocol/index.js`)) as Protocol
  const frames = framesOf(protocol, directory)
  return {
    open: () =>
      new Promise<Peer>(resolve => {
        const replies = new Replies()
        const socket: Socket = connect({
          host: '127.0.0.1',
          port,
          noDelay: true,
          onread: { buffer: memory, callback: (length, bytes) => replies.count(bytes as Buffer, length) },
        })
        socket.on('connect', () => socket.write(frames.hello))
        socket.on('error', error => {
          throw error
        })
        replies.onReplies = () => resolve(peerOf(socket, replies, frames))
      }),
  }
}

/** Counts frames by their length bytes. */
class Replies {
  onReplies: (count: number) => void = () => undefined
  /** The number of missing bytes of the current frame. */
  #left = 0
  #length = 0
  #lengthBytes = 0

  count(bytes: Buffer, end: number): true {
    let count = 0
    let at = 0
    while (at < end) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, end - at)
        at += taken
        this.#left -= taken
        if (this.#left === 0) count++
      } else if (this.#lengthBytes === 0 && end - at >= 4) {
        this.#left = bytes.readInt32BE(at)
        at += 4
      } else {
        this.#length = (this.#length << 8) | (bytes[at++] ?? 0)
        if (++this.#lengthBytes < 4) continue
        this.#left = this.#length
        this.#length = this.#lengthBytes = 0
      }
    }
    if (count > 0) this.onReplies(count)
    return true
  }
}

interface Frames {
  hello: Buffer
  close: Buffer
  of: Record<Exclude<Steady, 'createAndDelete'>, Buffer>
  watch: (path: string) => Buffer
  create: Buffer
  delete: Buffer
}

function framesOf({ ConnectRequest, RequestHeader, operations, Writer }: Protocol, directory: string): Frames {
  const frame = (write: (writer: InstanceType<Protocol['Writer']>) => void): Buffer => {
    const writer = new Writer()
    writer.frame(() => write(writer))
    return writer.take()
  }
  const request = <Q>(op: { opcode: number; request: { write(writer: never, body: Q): void } }, body: Q): Buffer =>
    frame(writer => {
      RequestHeader.write(writer, { xid: 1, type: op.opcode })
      op.request.write(writer as never, body)
    })
  const data = Buffer.alloc(DATA_BYTES, 'x')
  const hello = {
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: 60_000,
    sessionId: 0n,
    passwd: Buffer.alloc(16),
    readOnly: false,
  }
  const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
  return {
    hello: frame(writer => ConnectRequest.write(writer, hello)),
    close: request(operations.closeSession, {}),
    of: {
      getData: request(operations.getData, { path: paths.data, watch: false }),
      setData: request(operations.setData, { path: paths.data, data, version: -1 }),
      getChildren: request(operations.getChildren2, { path: paths.list, watch: false }),
    },
    watch: path => request(operations.getData, { path, watch: true }),
    create: request(operations.create2, { path: `${directory}/n-`, data, acl, flags: 3 }),
    delete: request(operations.delete, { path: `${directory}/n-0000000000`, version: -1 }),
  }
}

function peerOf(socket: Socket, replies: Replies, frames: Frames): Peer {
  return {
    drive: (op, inFlight, gauge) =>
      op === 'createAndDelete'
        ? createAndDelete(socket, replies, frames, inFlight, gauge)
        : replay(socket, replies, frames.of[op], inFlight, gauge),
    watch: (path, fired) =>
      new Promise(resolve => {
        replies.onReplies = () => {
          replies.onReplies = fired
          resolve()
        }
        socket.write(frames.watch(path))
      }),
    close: () =>
      new Promise(resolve => {
        // Ignore the reply to closeSession.
        replies.onReplies = () => undefined
        socket.once('close', () => resolve())
        socket.end(frames.close)
      }),
  }
}

function replay(socket: Socket, replies: Replies, frame: Buffer, inFlight: number, gauge: Gauge): Promise<void> {
  const all = Buffer.concat(Array.from({ length: inFlight }, () => frame))
  const send = (count: number) => {
    for (let i = 0; i < count; i++) gauge.began()
    socket.write(all.subarray(0, count * frame.length))
  }
  return new Promise(resolve => {
    let inFlightNow = inFlight
    replies.onReplies = count => {
      for (let i = 0; i < count; i++) gauge.ended()
      if (!gauge.isOver) send(count)
      else if ((inFlightNow -= count) === 0) resolve()
    }
    send(inFlight)
  })
}

/**
 * The next sequence number of each socket's directory. It is known in advance, because no other client creates nodes
 * there.
 */
const created = new WeakMap<Socket, number>()

function createAndDelete(
  socket: Socket,
  replies: Replies,
  frames: Frames,
  inFlight: number,
  gauge: Gauge,
): Promise<void> {
  const CREATE = -1
  /** For each request in flight, in order: the number of the node to delete, or CREATE. */
  const inFlightNow = new Int32Array(1024)
  let first = 0
  let next = 0
  let number = created.get(socket) ?? 0
  /** The numbers that the creates in flight will get. */
  const numbers = new Int32Array(1024)
  return new Promise(resolve => {
    let isLast = 0
    const send = (what: Int32Array, count: number) => {
      const bytes = Buffer.allocUnsafe(
        what
          .subarray(0, count)
          .reduce((sum, each) => sum + (each === CREATE ? frames.create : frames.delete).length, 0),
      )
      let at = 0
      for (let i = 0; i < count; i++) {
        gauge.began()
        const node = what[i] ?? 0
        const slot = next++ % inFlightNow.length
        inFlightNow[slot] = node
        if (node === CREATE) {
          numbers[slot] = number++
          at += frames.create.copy(bytes, at)
        } else {
          at += frames.delete.copy(bytes, at)
          let rest = node
          // The ten digits precede the four bytes of the version.
          for (let digit = at - 5; rest > 0; digit--, rest = (rest / 10) | 0) bytes[digit] = 48 + (rest % 10)
        }
      }
      socket.write(bytes)
    }
    const what = new Int32Array(1024)
    replies.onReplies = count => {
      let sent = 0
      for (let i = 0; i < count; i++) {
        gauge.ended()
        const slot = first++ % inFlightNow.length
        const wasCreate = inFlightNow[slot] === CREATE
        if (wasCreate) what[sent++] = numbers[slot] ?? 0
        else if (!gauge.isOver) what[sent++] = CREATE
        else isLast++
      }
      created.set(socket, number)
      if (sent > 0) send(what, sent)
      else if (isLast === inFlight) resolve()
    }
    what.fill(CREATE, 0, inFlight)
    send(what, inFlight)
  })
}
