// Frames told to a person: one sentence, and an annotated hex dump, both from the declarations that decode them.
import { createModes, eventTypes, keeperStates, opcodes, xids } from './constants.ts'
import { codeOf } from './errors.ts'
import { JuteError } from './jute-error.ts'
import type { Codec, ItemHeader, Type, TypeOf } from './codec.ts'
import * as operations from './operations.ts'
import type { Operation } from './operations.ts'
import { Reader } from './reader.ts'
import * as r from './records.ts'

export interface Explanation {
  /** Which end wrote it, as far as the bytes tell. */
  from: 'client' | 'server' | 'unknown'
  /** The operation's name, or 'connect', 'event'; '' where the bytes do not tell. */
  op: string
  xid: number | undefined
  /** One line. */
  sentence: string
  /** One line a field: offset, bytes in hex, name, value. */
  dump: string
}

export interface ExplainOptions {
  /** Which end wrote the frame. Left out, it is guessed. */
  from?: 'client' | 'server'
  /** The opcode of the request that a reply answers: a reply does not say. Left out, it is guessed from the length. */
  opcode?: number
  /** True for the first frame of a connection in its direction. Left out, it is guessed. */
  first?: boolean
}

/**
 * Tells what a frame says. It never throws: bytes that make no sense are told as such.
 * @param bytes one whole frame, with or without its four length bytes
 */
export function explain(bytes: Uint8Array, options: ExplainOptions = {}): Explanation {
  // An answer of 16 bytes to xid 12 looks like a frame with its length, until one tries to read it.
  for (const start of startsOf(bytes))
    for (const reading of interpretations(options)) {
      const notes = new Annotator(bytes, start)
      if (start > 0) notes.note(0, start, 'length', String(bytes.length - start))
      const told = reading(notes)
      if (told !== undefined) return { ...told, dump: notes.dump() }
    }
  const harmless = Math.min(bytes.length, SAFE_PREFIX)
  const notes = new Annotator(bytes, harmless)
  if (harmless > 0) notes.note(0, harmless, '', '')
  notes.conceal()
  return {
    from: 'unknown',
    op: '',
    xid: undefined,
    sentence: `${bytes.length} bytes of no known frame`,
    dump: notes.dump(),
  }
}

const startsOf = (bytes: Uint8Array): number[] =>
  bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getInt32(0) === bytes.length - 4 ? [4, 0] : [0]

type Summary = Omit<Explanation, 'dump'>

interface Note {
  at: number
  end: number
  name: string
  value: string
}

/** One way to read the frame; undefined where the bytes do not fit it. */
type Reading = (notes: Annotator) => Summary | undefined

function interpretations({ from, opcode, first }: ExplainOptions): Reading[] {
  const known = opcode === undefined ? undefined : operationsByOpcode().get(opcode)
  const readings: Record<'client' | 'server', Reading[]> = {
    client: first === true ? [] : [request],
    server:
      first === true
        ? [failure(undefined)]
        : [event, bare(xids.ping), bare(xids.auth), bare(xids.setWatches), failure(known?.name), ...replies(known)],
  }
  // A connect frame starts with protocol version 0, which is no request's xid: so it is tried first, unless told otherwise.
  if (first !== false) {
    readings.client.unshift(connectRequest(r.ConnectRequest), connectRequest(r.LegacyConnectRequest))
    readings.server.unshift(connectResponse(r.ConnectResponse), connectResponse(r.LegacyConnectResponse))
  }
  return from === undefined ? [...readings.client, ...readings.server] : readings[from]
}

const connectRequest =
  (codec: Codec<TypeOf<typeof r.LegacyConnectRequest>>): Reading =>
  notes => {
    const request = notes.whole(codec)
    if (request?.protocolVersion !== 0) return undefined
    const session = request.sessionId === 0n ? 'a new session' : `session ${hex(request.sessionId)} again`
    const timeout = `a timeout of ${request.timeOut} ms`
    return {
      from: 'client',
      op: 'connect',
      xid: undefined,
      sentence: `client asks for ${session} with ${timeout}, having seen zxid ${hex(request.lastZxidSeen)}`,
    }
  }

type Welcome = TypeOf<typeof r.LegacyConnectResponse> & { readOnly?: boolean }
const connectResponse =
  (codec: Codec<Welcome>): Reading =>
  notes => {
    const response = notes.whole(codec)
    if (response?.protocolVersion !== 0) return undefined
    const sentence =
      response.timeOut <= 0
        ? 'server says that the session is gone'
        : `server gives session ${hex(response.sessionId)} with a timeout of ${response.timeOut} ms` +
          (response.readOnly ? ', read-only' : '')
    return { from: 'server', op: 'connect', xid: undefined, sentence }
  }

const request: Reading = notes => {
  const header = notes.part(r.RequestHeader)
  const op = header && operationsByOpcode().get(header.type)
  if (header === undefined || op === undefined) return undefined
  const body = notes.whole(op.request)
  if (body === undefined) return undefined
  return {
    from: 'client',
    op: op.name,
    xid: header.xid,
    sentence: `client ${number(header.xid)}${op.name}${args(body)}`,
  }
}

const event: Reading = notes => {
  const header = notes.part(r.ReplyHeader)
  if (header?.xid !== xids.notification) return undefined
  const body = notes.whole(r.WatcherEvent)
  if (body === undefined) return undefined
  const type = nameIn(eventTypes, body.type)
  return { from: 'server', op: 'event', xid: header.xid, sentence: `server notifies: ${type} ${body.path}` }
}

/** A reply that is only a header, to what has an xid of its own. */
const bare =
  (xid: number): Reading =>
  notes => {
    const header = notes.part(r.ReplyHeader)
    if (header?.xid !== xid || notes.left > 0) return undefined
    const op = nameIn(xids, xid)
    return {
      from: 'server',
      op,
      xid,
      sentence: `server answers ${op}: ${outcome(header.err)}, zxid ${hex(header.zxid)}`,
    }
  }

const failure =
  (op: string | undefined): Reading =>
  notes => {
    const header = notes.part(r.ReplyHeader)
    if (header === undefined || header.err >= 0 || notes.left > 0) return undefined
    return replied(header, op, outcome(header.err))
  }

/** A reply: with its opcode, as told; without, as the operations whose reply has just these bytes, if they agree. */
function replies(known: Operation<unknown, unknown> | undefined): Reading[] {
  if (known !== undefined) return [success(known.response, known.name), remainder(known.name)]
  return [
    notes => {
      const fitting = new Map<Codec<unknown>, string[]>()
      for (const op of operationsByOpcode().values()) {
        if (success(op.response, op.name)(notes.again()) === undefined) continue
        fitting.set(op.response, [...(fitting.get(op.response) ?? []), op.name])
      }
      const [only, ...others] = fitting
      if (only === undefined || others.length > 0) return undefined
      return success(only[0], only[1].join(' or '))(notes)
    },
    remainder(undefined),
  ]
}

const success =
  (response: Codec<unknown>, op: string): Reading =>
  notes => {
    const header = notes.part(r.ReplyHeader)
    if (header === undefined || header.xid <= 0 || header.err !== 0) return undefined
    const body = notes.whole(response)
    return body === undefined ? undefined : replied(header, op, `OK${args(body)}`)
  }

/** A reply of which only the header is understood. */
const remainder =
  (op: string | undefined): Reading =>
  notes => {
    const header = notes.part(r.ReplyHeader)
    if (header === undefined || header.xid <= 0 || header.err > 0) return undefined
    const what = op === undefined ? 'of an operation that the frame does not name' : 'that are no such reply'
    const told = replied(header, op, `${outcome(header.err)}, ${notes.left} bytes ${what}`)
    notes.conceal()
    return told
  }

const replied = ({ xid, zxid }: { xid: number; zxid: bigint }, op: string | undefined, what: string): Summary => ({
  from: 'server',
  op: op ?? '',
  xid,
  sentence: `server answers ${number(xid)}${op === undefined ? '' : op + ': '}${what}, zxid ${hex(zxid)}`,
})

let byOpcode: Map<number, Operation<unknown, unknown>> | undefined
const operationsByOpcode = () =>
  (byOpcode ??= new Map(
    Object.values(operations)
      .filter(value => typeof value === 'object')
      .map(op => [op.opcode, op as Operation<unknown, unknown>]),
  ))

/** Reads fields out of a frame and notes where each of them stands. */
class Annotator {
  readonly #bytes: Uint8Array
  readonly #start: number
  readonly #reader: Reader
  readonly #lines: Note[] = []

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.#start = start
    this.#reader = new Reader(bytes, start)
  }

  again(): Annotator {
    return new Annotator(this.#bytes, this.#start)
  }

  get left(): number {
    return this.#reader.remaining
  }

  note(at: number, end: number, name: string, value: string): void {
    this.#lines.push({ at, end, name, value })
  }

  /** Leaves what is left out of the dump: nobody knows what is in it, so it may be a credential. */
  conceal(): void {
    if (this.left > 0) this.note(this.#reader.offset, this.#bytes.length, 'rest', `${this.left} bytes, not shown`)
  }

  /** The value of a codec that stands here, or undefined where none does. */
  part<T>(codec: Codec<T>): T | undefined {
    try {
      return this.#value({ is: 'record', of: codec }, '') as T
    } catch (error) {
      if (error instanceof JuteError) return undefined
      throw error
    }
  }

  /** As {@link part}, of a codec that must fill the rest of the frame. */
  whole<T>(codec: Codec<T>): T | undefined {
    const value = this.part(codec)
    return this.left === 0 ? value : undefined
  }

  dump(): string {
    const width = Math.max(0, ...this.#lines.map(line => line.name.length))
    return this.#lines
      .map(({ at, end, name, value }) => {
        const bytes = SECRET.test(name) ? '' : Buffer.from(this.#bytes.subarray(at, end)).toString('hex')
        const shown = bytes.length > 32 ? bytes.slice(0, 31) + '…' : bytes.padEnd(32)
        return `${at.toString(16).padStart(4, '0')}  ${shown}  ${name.padEnd(width)}  ${value}`.trimEnd()
      })
      .join('\n')
  }

  #value(type: Type, name: string): unknown {
    if (type.is === 'record') return this.#shaped(type.of, name)
    const at = this.#reader.offset
    if (type.is === 'vector' || type.is === 'vectorOrNull') {
      const count = this.#reader.int()
      this.note(at, at + 4, name, count === -1 ? 'null' : `${count} elements`)
      if (count === -1) return null
      if (count < 0 || count > this.left) throw new JuteError(`a vector of ${count} elements`)
      return Array.from({ length: count }, (_, i) => this.#value({ is: 'record', of: type.of }, `${name}[${i}]`))
    }
    const value = this.#reader[type.is]()
    this.note(at, this.#reader.offset, name, valueOf(name, value))
    return value
  }

  #shaped({ layout }: Codec<unknown>, prefix: string): unknown {
    const below = (name: string) => (prefix === '' ? name : `${prefix}.${name}`)
    if (layout.is === 'fields')
      return Object.fromEntries(layout.fields.map(({ name, type }) => [name, this.#value(type, below(name))]))
    const items: unknown[] = []
    for (;;) {
      const at = below(String(items.length))
      const header = this.#shaped(layout.header, at) as ItemHeader
      // What ends the items is an error in form. Anything else is no multi, and its bytes are not to be told as one.
      if (header.done && header.type === opcodes.error) return items
      const item = header.done ? undefined : layout.itemFor(header.type)
      if (item === undefined) throw new JuteError(`an item of type ${header.type}`)
      const op = operationsByOpcode().get(header.type)?.name ?? 'error'
      items.push({ [op]: this.#shaped(item, at) })
    }
  }
}

const hex = (id: bigint | undefined) => '0x' + BigInt.asUintN(64, id ?? 0n).toString(16)
const number = (xid: number) => (xid > 0 ? `#${xid} ` : '')
const outcome = (err: number) => (err === 0 ? 'OK' : codeOf(err) === 'UNKNOWN' ? `error ${err}` : codeOf(err))

function nameIn(names: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(names).find(name => names[name] === value) ?? `unknown (${value})`
}

/** Numbers that have a name in ZooKeeper, by field. */
const vocabularies: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  flags: createModes,
  state: keeperStates,
}

/** Passwords and credentials are never shown, neither as values nor as bytes; nor is what may hold one. */
const SECRET = /(^|\.)(passwd|auth|token|rest)$/

/** No frame has a credential in its first bytes: the first is a token behind xid, opcode and length. */
const SAFE_PREFIX = 12

function valueOf(name: string, value: unknown): string {
  const field = name.slice(name.lastIndexOf('.') + 1)
  if (value === null) return 'null'
  if (SECRET.test(name)) return `${(value as Uint8Array).length} bytes, not shown`
  if (typeof value === 'bigint') return hex(value)
  if (Buffer.isBuffer(value)) return text(value)
  if (Array.isArray(value)) return `${value.length}: ${(value as string[]).join(' ')}`.trimEnd()
  if (field === 'type' && name !== 'type') return nameIn(opcodes, value as number)
  const names = vocabularies[field]
  return names ? nameIn(names, value as number) : JSON.stringify(value)
}

function text(bytes: Buffer): string {
  const string = bytes.toString('utf8')
  const shown = /^[\x20-\x7e]*$/.test(string) ? JSON.stringify(string) : '<' + bytes.toString('hex', 0, 16) + '>'
  return bytes.length <= 40 ? shown : `${bytes.length} bytes`
}

/** A body in one line: its fields as in a call, long parts cut, secrets left out. */
function args(body: unknown): string {
  const shown = Object.entries(body as object).map(([name, value]) => brief(name, value))
  return shown.length === 0 ? '' : ` {${shown.join(', ')}}`
}

function brief(name: string, value: unknown): string {
  if (value !== null && typeof value === 'object' && !Buffer.isBuffer(value)) {
    if (!Array.isArray(value))
      return 'czxid' in value ? `${name}: czxid ${hex(value.czxid as bigint)}` : name + args(value)
    const few = value.slice(0, 3).map(each => (typeof each === 'string' ? each : args(each).trim()))
    return `${name}: [${few.join(', ')}${value.length > 3 ? `, … ${value.length} in all` : ''}]`
  }
  return `${name}: ${valueOf(name, value)}`
}
