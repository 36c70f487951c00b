// Describes frames to people: a sentence and an annotated hex dump, both from the declarations that decode the frame.
import { Annotator, formatFields, formatName, nameIn, operationsByOpcode } from './annotator.ts'
import type { Codec, TypeOf } from './codec.ts'
import { eventTypes, opcodes, xids } from './constants.ts'
import { codeOf } from './errors.ts'
import { hex64 } from './hex.ts'
import type { Operation } from './operation.ts'
import * as r from './records.ts'

/**
 * A description of one frame.
 * @example
 * const explanation: Explanation = explain(records.RequestHeader.encode({ xid: -2, type: 11 }))
 * explanation.from // => 'client'
 * explanation.op // => 'ping'
 */
export interface Explanation {
  /** The end that wrote the frame, or 'unknown' if the bytes fit neither. */
  from: 'client' | 'server' | 'unknown'
  /**
   * The operation's name, 'connect' or 'event'. Several names joined by ' or ' if the bytes fit the replies of all of
   * them. '' if the bytes do not determine it, or if they are a request that cannot be read.
   */
  op: string
  /** The xid of the request or the event. Undefined for a connect frame and for unknown bytes. */
  xid: number | undefined
  /** A one-line description. */
  sentence: string
  /**
   * One line per field: offset, bytes in hex, name, value. Credentials are omitted, and so are all fields after the
   * first 10,000.
   */
  dump: string
}

/**
 * What the caller knows about a frame.
 * @example
 * const options: ExplainOptions = { from: 'server', opcode: constants.opcodes.exists }
 * explain(Buffer.from('000000010000000000000002ffffff9b', 'hex'), options).sentence
 * // => 'server answers #1 exists: NONODE, zxid 0x2'
 */
export interface ExplainOptions {
  /** The end that wrote the frame. Default: guessed from the bytes. */
  from?: 'client' | 'server' | undefined
  /** The opcode of the request that a reply answers; replies do not contain it. Default: guessed from the bytes. */
  opcode?: number | undefined
  /**
   * True if the frame is the first that its sender has sent on the connection, false if it is a later one. Default:
   * guessed from the bytes.
   */
  first?: boolean | undefined
}

/**
 * Describes a frame. Never throws: bytes that are no known frame get a description that says so.
 * @param bytes one whole frame, with or without its four length bytes
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.exists, { path: '/app', watch: true }, 1024)
 * explain(writer.take()).sentence // => 'client #1 exists {path: "/app", watch: true}'
 */
export function explain(bytes: Uint8Array, options: ExplainOptions = {}): Explanation {
  // A reply of 16 bytes to xid 12 starts as if its xid were a length prefix, so both starts must be tried.
  for (const start of startsOf(bytes))
    for (const interpret of interpretations(options)) {
      const annotator = new Annotator(bytes, start)
      if (start > 0) annotator.annotate(0, start, 'length', String(bytes.length - start))
      const summary = interpret(annotator)
      if (summary !== undefined) return { ...summary, dump: annotator.dump() }
    }
  return unreadRequest(bytes, options) ?? unknownFrame(bytes)
}

function unknownFrame(bytes: Uint8Array): Explanation {
  const shown = Math.min(bytes.length, SAFE_PREFIX)
  const annotator = new Annotator(bytes, shown)
  if (shown > 0) annotator.annotate(0, shown, '', '')
  annotator.concealRest()
  return {
    from: 'unknown',
    op: '',
    xid: undefined,
    sentence: `${bytes.length} bytes of no known frame`,
    dump: annotator.dump(),
  }
}

/** The largest opcode that bytes may have that are not known to be a request. ClickHouse Keeper's are near 500. */
const LARGEST_GUESS = 0xffff

/**
 * Describes a request whose operation is unknown, as those of ClickHouse Keeper are, or whose body does not fit it.
 * Returns undefined if the bytes cannot be one.
 */
function unreadRequest(bytes: Uint8Array, { from, first }: ExplainOptions): Explanation | undefined {
  if (from === 'server' || first === true) return undefined
  const [start = 0] = startsOf(bytes)
  const annotator = new Annotator(bytes, start)
  if (start > 0) annotator.annotate(0, start, 'length', String(bytes.length - start))
  const header = annotator.read(r.RequestHeader)
  if (header === undefined || header.type <= 0) return undefined
  const isKnown = operationsByOpcode().has(header.type)
  // Without the sender or the length, almost any bytes could be such a request.
  if (from === undefined && (start === 0 || header.xid < 0 || isKnown || header.type > LARGEST_GUESS)) return undefined
  const what = `${annotator.remaining} bytes ${isKnown ? 'that are no such request' : 'of an unknown operation'}`
  annotator.concealRest()
  return {
    from: 'client',
    op: '',
    xid: header.xid,
    sentence: `client ${xidLabel(header.xid)}${labelOf(header.type)}: ${what}`,
    dump: annotator.dump(),
  }
}

/** Returns where the content may start. None if the bytes are too few, because the attempts take long. */
const startsOf = (bytes: Uint8Array): number[] =>
  (bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getInt32(0) === bytes.length - 4
    ? [4, 0]
    : [0]
  ).filter(start => bytes.length - start >= SHORTEST)

/** The content of the shortest frame: a request without a body. */
const SHORTEST = 8

/**
 * The number of first bytes that hold no credential. The earliest credential is a token, after the xid, the opcode and
 * the length.
 */
const SAFE_PREFIX = 12

type Summary = Omit<Explanation, 'dump'>

/** Describes the frame as one kind of frame. Returns undefined if the bytes do not fit. */
type Interpretation = (annotator: Annotator) => Summary | undefined

function interpretations({ from, opcode, first }: ExplainOptions): Interpretation[] {
  const asked = opcode === undefined ? undefined : { opcode, operation: operationsByOpcode().get(opcode) }
  const byEnd: Record<'client' | 'server', Interpretation[]> = {
    client: first === true ? [] : [request],
    server:
      first === true
        ? [refusal]
        : [
            event,
            headerOnly(xids.ping),
            headerOnly(xids.auth),
            headerOnly(xids.setWatches),
            failure(asked),
            ...replies(asked),
          ],
  }
  // Connect frames are tried first: they start with protocol version 0. Few clients give a request the xid 0.
  if (first !== false) {
    byEnd.client.unshift(connectRequest(r.ConnectRequest), connectRequest(r.LegacyConnectRequest))
    // What answers a request is none, though a reply to the xid 0 can look like one.
    if (asked === undefined)
      byEnd.server.unshift(connectResponse(r.ConnectResponse), connectResponse(r.LegacyConnectResponse))
  }
  return from === undefined ? [...byEnd.client, ...byEnd.server] : byEnd[from]
}

const connectRequest =
  (codec: Codec<TypeOf<typeof r.LegacyConnectRequest>>): Interpretation =>
  annotator => {
    const request = annotator.readToEnd(codec)
    if (request?.protocolVersion !== 0) return undefined
    const session = request.sessionId === 0n ? 'a new session' : `session ${hex64(request.sessionId)} again`
    const timeout = `a timeout of ${request.timeOut} ms`
    return {
      from: 'client',
      op: 'connect',
      xid: undefined,
      sentence: `client asks for ${session} with ${timeout}, having seen zxid ${hex64(request.lastZxidSeen)}`,
    }
  }

const connectResponse =
  (codec: Codec<TypeOf<typeof r.LegacyConnectResponse> & { readOnly?: boolean }>): Interpretation =>
  annotator => {
    const response = annotator.readToEnd(codec)
    if (response?.protocolVersion !== 0) return undefined
    const sentence =
      response.timeOut <= 0
        ? 'server says that the session is gone'
        : `server gives session ${hex64(response.sessionId)} with a timeout of ${response.timeOut} ms` +
          (response.readOnly ? ', read-only' : '')
    return { from: 'server', op: 'connect', xid: undefined, sentence }
  }

const request: Interpretation = annotator => {
  const header = annotator.read(r.RequestHeader)
  const op = header && operationsByOpcode().get(header.type)
  if (header === undefined || op === undefined) return undefined
  const body = annotator.readToEnd(op.request)
  if (body === undefined) return undefined
  return {
    from: 'client',
    op: op.name,
    xid: header.xid,
    sentence: `client ${xidLabel(header.xid)}${op.name}${formatFields(body)}`,
  }
}

const event: Interpretation = annotator => {
  const header = annotator.read(r.ReplyHeader)
  if (header?.xid !== xids.notification) return undefined
  const body = annotator.readToEnd(r.WatcherEvent)
  if (body === undefined) return undefined
  const type = nameIn(eventTypes, body.type)
  return {
    from: 'server',
    op: 'event',
    xid: header.xid,
    sentence: `server notifies: ${type} ${formatName(String(body.path))}`,
  }
}

/** The reply to a request with a reserved xid: only a header. */
const headerOnly =
  (xid: number): Interpretation =>
  annotator => {
    const header = annotator.read(r.ReplyHeader)
    if (header?.xid !== xid || annotator.remaining > 0) return undefined
    const op = nameIn(xids, xid)
    return {
      from: 'server',
      op,
      xid,
      sentence: `server answers ${op}: ${outcome(header.err)}, zxid ${hex64(header.zxid)}`,
    }
  }

/** The answer to a connect request that the server cannot accept: a reply header, which answers no xid. */
const refusal: Interpretation = annotator => {
  const header = annotator.read(r.ReplyHeader)
  if (header === undefined || header.err >= 0 || annotator.remaining > 0) return undefined
  return replySummary({ ...header, xid: undefined }, '', outcome(header.err))
}

/** What is known of the request that a reply answers. `operation` is undefined if its opcode is unknown. */
type Asked = { opcode: number; operation: Operation<unknown, unknown> | undefined } | undefined

const failure =
  (asked: Asked): Interpretation =>
  annotator => {
    const header = annotator.read(r.ReplyHeader)
    if (header === undefined || header.err >= 0 || annotator.remaining > 0) return undefined
    return unreadReply(header, asked, outcome(header.err))
  }

/**
 * Returns interpretations as a reply to the request. If that is unknown, the first one tries all operations. It names
 * those whose response fits exactly, provided that they share one codec.
 */
function replies(asked: Asked): Interpretation[] {
  const operation = asked?.operation
  if (operation !== undefined) return [success(operation.response, operation.name), unparsedReply(asked)]
  if (asked !== undefined) return [unparsedReply(asked)]
  return [
    annotator => {
      // Before each operation is tried, because each attempt that fails takes long.
      if (successHeader(annotator.restarted()) === undefined) return undefined
      const namesByCodec = new Map<Codec<unknown>, string[]>()
      for (const op of operationsByOpcode().values()) {
        if (success(op.response, op.name)(annotator.restarted()) === undefined) continue
        namesByCodec.set(op.response, [...(namesByCodec.get(op.response) ?? []), op.name])
      }
      const [only, ...others] = namesByCodec
      if (only === undefined || others.length > 0) return undefined
      return success(only[0], only[1].join(' or '))(annotator)
    },
    unparsedReply(undefined),
  ]
}

function successHeader(annotator: Annotator): TypeOf<typeof r.ReplyHeader> | undefined {
  const header = annotator.read(r.ReplyHeader)
  return header === undefined || header.xid < 0 || header.err !== 0 ? undefined : header
}

const success =
  (response: Codec<unknown>, op: string): Interpretation =>
  annotator => {
    const header = successHeader(annotator)
    const body = header && annotator.readToEnd(response)
    return header === undefined || body === undefined ? undefined : replySummary(header, op, `OK${formatFields(body)}`)
  }

/** A reply with a readable header and an unknown body. */
const unparsedReply =
  (asked: Asked): Interpretation =>
  annotator => {
    const header = annotator.read(r.ReplyHeader)
    if (header === undefined || header.xid < 0 || header.err > 0) return undefined
    const what =
      asked === undefined
        ? 'of an operation that the frame does not name'
        : asked.operation === undefined
          ? 'of an unknown operation'
          : 'that are no such reply'
    const summary = unreadReply(header, asked, `${outcome(header.err)}, ${annotator.remaining} bytes ${what}`)
    annotator.concealRest()
    return summary
  }

type ReplyHeader = TypeOf<typeof r.ReplyHeader>

/** Describes a reply of which only the header is read. */
const unreadReply = (header: ReplyHeader, asked: Asked, what: string): Summary =>
  replySummary(header, asked?.operation?.name ?? '', what, asked && labelOf(asked.opcode))

const replySummary = (
  { xid, zxid }: { xid: number | undefined; zxid: bigint },
  op: string,
  what: string,
  label = op,
): Summary => ({
  from: 'server',
  op,
  xid,
  sentence: `server answers ${xidLabel(xid)}${label === '' ? '' : label + ': '}${what}, zxid ${hex64(zxid)}`,
})

/** The reserved xids are negative. node-zookeeper-client begins with 0, and Go's client comes to it in the end. */
const xidLabel = (xid: number | undefined) => (xid !== undefined && xid >= 0 ? `#${xid} ` : '')
const labelOf = (opcode: number) =>
  Object.values<number>(opcodes).includes(opcode) ? nameIn(opcodes, opcode) : `opcode ${opcode}`
const outcome = (err: number) => (err === 0 ? 'OK' : codeOf(err) === 'UNKNOWN' ? `error ${err}` : codeOf(err))
