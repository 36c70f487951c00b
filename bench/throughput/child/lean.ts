// The leanest client that encodes calls and decodes their replies: what JavaScript can do. It sends the calls of a turn
// in one write, finds the callback of a reply by its xid and that of a watch by its path, and decodes every field, a zxid as
// two 32-bit integers. It has no promises, checks, pings, reconnects and chroots. It only knows paths of ASCII, and small frames.
// As the subject `floor`, it also has what our interface promises: a promise for each call, 64-bit integers, and callbacks of
// watches in the order of the promises.
import { Buffer } from 'node:buffer'
import { connect, type Socket } from 'node:net'
import { DATA_BYTES, paths } from '../workloads.ts'
import { driveCallbacks, failIf, thenOrFail, type Make, type Peer } from './subject.ts'
import { PromisedPeer, type PromisedClient } from './zkwire.ts'

type Stat = ReturnType<typeof statAt> | ReturnType<typeof wideStatAt>
interface Event {
  type: number
  state: number
  path: string
}
type Callback = (error: Error | null, stat?: Stat, value?: Buffer | string | string[]) => void

const NOTIFICATION = -1
const opcodes = { delete: 2, getData: 4, setData: 5, getChildren: 12, create: 15, close: -11 }

/** The longest frame, and the most bytes of one read or of one write. */
const LONGEST = 65_536
const EPHEMERAL_SEQUENTIAL = 3
/** All permissions for world:anyone. */
const OPEN_ACL = Buffer.from('000000010000001f00000005776f726c6400000006616e796f6e65', 'hex')
/** Version 0, zxid 0, timeout 60 s, session 0, an empty password of 16 bytes, not read-only. */
const HELLO = Buffer.from(`0000002d00000000${'00'.repeat(8)}0000ea60${'00'.repeat(8)}00000010${'00'.repeat(17)}`, 'hex')

class LeanClient {
  readonly #socket: Socket
  readonly #statAt: (view: DataView, at: number) => Stat
  readonly #calls = new Map<number, { opcode: number; callback: Callback }>()
  readonly #watches = new Map<string, (event: Event) => void>()
  #xid = 0
  #onHandshake: (() => void) | undefined

  #output = Buffer.allocUnsafeSlow(LONGEST)
  #outputView = new DataView(this.#output.buffer)
  /** The bytes of the output from here to `#end` are not written yet. */
  #start = 0
  #end = 0

  /** Reads go to the second half. The start of an incomplete frame is kept before it. */
  readonly #input = Buffer.allocUnsafeSlow(2 * LONGEST)
  readonly #inputView = new DataView(this.#input.buffer)
  #kept = 0

  constructor(port: number, stat: (view: DataView, at: number) => Stat, onHandshake: () => void) {
    this.#statAt = stat
    this.#onHandshake = onHandshake
    this.#socket = connect({
      ...{ host: '127.0.0.1', port, noDelay: true },
      onread: { buffer: this.#input.subarray(LONGEST), callback: length => this.#received(length) },
    })
    this.#socket.on('connect', () => this.#socket.write(HELLO))
    this.#socket.on('error', error => {
      throw error
    })
  }

  /** @param watch is called with the next event of the path */
  getData(path: string, callback: Callback, watch?: (event: Event) => void): void {
    if (watch !== undefined) this.#watches.set(path, watch)
    this.#begin(opcodes.getData, 5 + path.length, callback)
    this.#string(path)
    this.#output[this.#end++] = watch === undefined ? 0 : 1
  }

  getChildren(path: string, callback: Callback): void {
    this.#begin(opcodes.getChildren, 5 + path.length, callback)
    this.#string(path)
    this.#output[this.#end++] = 0
  }

  setData(path: string, data: Buffer, version: number, callback: Callback): void {
    this.#begin(opcodes.setData, 12 + path.length + data.length, callback)
    this.#string(path)
    this.#int(data.length)
    this.#bytes(data)
    this.#int(version)
  }

  create(path: string, data: Buffer, flags: number, callback: Callback): void {
    this.#begin(opcodes.create, 12 + path.length + data.length + OPEN_ACL.length, callback)
    this.#string(path)
    this.#int(data.length)
    this.#bytes(data)
    this.#bytes(OPEN_ACL)
    this.#int(flags)
  }

  delete(path: string, version: number, callback: Callback): void {
    this.#begin(opcodes.delete, 8 + path.length, callback)
    this.#string(path)
    this.#int(version)
  }

  close(callback: () => void): void {
    this.#begin(opcodes.close, 0, () => this.#socket.end(callback))
  }

  #begin(opcode: number, bodyLength: number, callback: Callback): void {
    if (this.#end + 12 + bodyLength > LONGEST) {
      this.#flush()
      // The socket may still be reading the old output.
      this.#output = Buffer.allocUnsafeSlow(LONGEST)
      this.#outputView = new DataView(this.#output.buffer)
      this.#start = this.#end = 0
    }
    if (this.#end === this.#start) queueMicrotask(() => this.#flush())
    const xid = ++this.#xid
    this.#calls.set(xid, { opcode, callback })
    this.#int(8 + bodyLength)
    this.#int(xid)
    this.#int(opcode)
  }

  #flush(): void {
    if (this.#end > this.#start) this.#socket.write(this.#output.subarray(this.#start, this.#end))
    this.#start = this.#end
  }

  #int(value: number): void {
    this.#outputView.setInt32(this.#end, value)
    this.#end += 4
  }

  #string(text: string): void {
    this.#int(text.length)
    for (let i = 0; i < text.length; i++) this.#output[this.#end++] = text.charCodeAt(i)
  }

  #bytes(value: Buffer): void {
    this.#output.set(value, this.#end)
    this.#end += value.length
  }

  #received(length: number): true {
    const total = LONGEST + length
    let at = LONGEST - this.#kept
    while (total - at >= 4) {
      const end = at + 4 + this.#inputView.getInt32(at)
      if (end > total) break
      if (this.#onHandshake === undefined) this.#onReply(at + 4)
      else this.#onHandshake()
      this.#onHandshake = undefined
      at = end
    }
    this.#kept = total - at
    this.#input.copyWithin(LONGEST - this.#kept, at, total)
    return true
  }

  #onEvent(at: number): void {
    const view = this.#inputView
    const end = at + 12 + view.getInt32(at + 8)
    const path = this.#input.toString('latin1', at + 12, end)
    const watch = this.#watches.get(path)
    this.#watches.delete(path)
    watch?.({ type: view.getInt32(at), state: view.getInt32(at + 4), path })
  }

  #onReply(at: number): void {
    const bytes = this.#input
    const view = this.#inputView
    const xid = view.getInt32(at)
    if (xid === NOTIFICATION) return this.#onEvent(at + 16)
    const call = this.#calls.get(xid)
    if (call === undefined) throw new Error(`a reply to xid ${xid}`)
    this.#calls.delete(xid)
    const { opcode, callback } = call
    const err = view.getInt32(at + 12)
    if (err !== 0) return callback(new Error(`error ${err}`))
    const body = at + 16
    switch (opcode) {
      case opcodes.getData: {
        const stat = body + 4 + view.getInt32(body)
        const data = Buffer.allocUnsafe(stat - body - 4)
        bytes.copy(data, 0, body + 4, stat)
        return callback(null, this.#statAt(view, stat), data)
      }
      case opcodes.setData:
        return callback(null, this.#statAt(view, body))
      case opcodes.create: {
        const stat = body + 4 + view.getInt32(body)
        return callback(null, this.#statAt(view, stat), bytes.toString('latin1', body + 4, stat))
      }
      case opcodes.getChildren: {
        const names: string[] = []
        let next = body + 4
        for (let left = view.getInt32(body); left > 0; left--) {
          const end = next + 4 + view.getInt32(next)
          names.push(bytes.toString('utf8', next + 4, end))
          next = end
        }
        return callback(null, this.#statAt(view, next), names)
      }
      default:
        return callback(null)
    }
  }
}

const timeAt = (view: DataView, at: number): number => view.getInt32(at) * 0x1_0000_0000 + view.getUint32(at + 4)

const statAt = (view: DataView, at: number) => ({
  czxidHigh: view.getInt32(at),
  czxidLow: view.getInt32(at + 4),
  mzxidHigh: view.getInt32(at + 8),
  mzxidLow: view.getInt32(at + 12),
  ctime: timeAt(view, at + 16),
  mtime: timeAt(view, at + 24),
  version: view.getInt32(at + 32),
  cversion: view.getInt32(at + 36),
  aversion: view.getInt32(at + 40),
  ownerHigh: view.getInt32(at + 44),
  ownerLow: view.getInt32(at + 48),
  dataLength: view.getInt32(at + 52),
  numChildren: view.getInt32(at + 56),
  pzxidHigh: view.getInt32(at + 60),
  pzxidLow: view.getInt32(at + 64),
})

/** The fields of our interface, in one object literal. */
const wideStatAt = (view: DataView, at: number) => ({
  czxid: view.getBigInt64(at),
  mzxid: view.getBigInt64(at + 8),
  ctime: timeAt(view, at + 16),
  mtime: timeAt(view, at + 24),
  version: view.getInt32(at + 32),
  cversion: view.getInt32(at + 36),
  aversion: view.getInt32(at + 40),
  ephemeralOwner: view.getBigInt64(at + 44),
  dataLength: view.getInt32(at + 52),
  numChildren: view.getInt32(at + 56),
  pzxid: view.getBigInt64(at + 60),
})

const opened = (port: number, stat: (view: DataView, at: number) => Stat) =>
  new Promise<LeanClient>(resolve => {
    const client: LeanClient = new LeanClient(port, stat, () => resolve(client))
  })

export const lean: Make = ({ port, directory }) =>
  Promise.resolve({ open: async () => peerOf(await opened(port, statAt), directory) })

export const floor: Make = ({ port, directory }) =>
  Promise.resolve({ open: async () => new FloorPeer(promised(await opened(port, wideStatAt)), directory) })

interface WatchingClient extends PromisedClient {
  getData(path: string, watch?: () => void): Promise<unknown>
}

class FloorPeer extends PromisedPeer<WatchingClient> {
  override async watch(path: string, fired: () => void): Promise<void> {
    await this.client.getData(path, () => void Promise.resolve().then(fired))
  }
}

function promised(client: LeanClient): WatchingClient {
  const call = <T>(begin: (callback: Callback) => void, result: (stat: Stat, value: unknown) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      begin((error, stat, value) => (error === null ? resolve(result(stat as Stat, value)) : reject(error)))
    })
  return {
    getData: (path, watch) =>
      call(
        done => client.getData(path, done, watch),
        (stat, data) => ({ data, stat }),
      ),
    getChildren: path =>
      call(
        done => client.getChildren(path, done),
        (stat, children) => ({ children, stat }),
      ),
    setData: (path, value) =>
      call(
        done => client.setData(path, value, -1, done),
        stat => stat,
      ),
    create: (path, value) =>
      call(
        done => client.create(path, value, EPHEMERAL_SEQUENTIAL, done),
        (stat, made) => ({ path: made as string, stat }),
      ),
    delete: path =>
      call(
        done => client.delete(path, -1, done),
        () => undefined,
      ),
    close: () => new Promise(resolve => client.close(resolve)),
  }
}

const data = Buffer.alloc(DATA_BYTES, 'x')

function peerOf(client: LeanClient, directory: string): Peer {
  const created: (string | undefined)[] = []
  const begin = {
    getData: (_loop: number, done: () => void) => {
      client.getData(paths.data, thenOrFail(done))
    },
    setData: (_loop: number, done: () => void) => {
      client.setData(paths.data, data, -1, thenOrFail(done))
    },
    getChildren: (_loop: number, done: () => void) => {
      client.getChildren(paths.list, thenOrFail(done))
    },
    createAndDelete: (loop: number, done: () => void) => {
      const path = created[loop]
      created[loop] = undefined
      if (path !== undefined) client.delete(path, -1, thenOrFail(done))
      else
        client.create(`${directory}/n-`, data, EPHEMERAL_SEQUENTIAL, (error, _stat, made) => {
          failIf(error)
          created[loop] = made as string
          done()
        })
    },
  }
  return {
    drive: (op, inFlight, gauge) => driveCallbacks(inFlight, gauge, begin[op]),
    watch: (path, fired) => new Promise(resolve => client.getData(path, thenOrFail(resolve), fired)),
    close: () => new Promise(resolve => client.close(resolve)),
  }
}
