// The types of codecs, which convert between bytes and values, and of the fields that records are declared with.
import type { Writer } from './writer.ts'

/**
 * Reads fields one by one. A record is declared as a function of a FieldReader. Called with a {@link Reader}, it
 * decodes. Called with a recorder, which returns the type of each field instead of its value, it yields the layout.
 * @example
 * const readPoint = (f: FieldReader) => ({ x: f.int(), y: f.int() })
 * readPoint(new Reader(Buffer.from('0000000100000002', 'hex'))) // => { x: 1, y: 2 }
 */
export interface FieldReader {
  /** One byte: false if it is 0. */
  bool(): boolean
  /** A signed 32-bit integer. */
  int(): number
  /** A signed 64-bit integer that identifies a session or a transaction. */
  long(): bigint
  /** A signed 64-bit integer that is a time in milliseconds. */
  time(): number
  /**
   * A UTF-8 string that ZooKeeper never sends as null.
   * @throws JuteError if it is null on the wire
   */
  string(): string
  /** A UTF-8 string, or null (length -1). */
  stringOrNull(): string | null
  /** A UTF-8 string. Reads null as '', because kazoo writes null for an empty string. Never writes null. */
  stringOrEmpty(): string
  /** Bytes or null. ZooKeeper stores null (length -1) and empty (length 0) as different values. */
  buffer(): Buffer | null
  /** A list of UTF-8 strings, none of them null. */
  strings(): string[]
  /** A list of records that is never null: their number, and then one after the other. */
  vector<T>(of: Codec<T>): T[]
  /** A list of records, or null (number -1). */
  vectorOrNull<T>(of: Codec<T>): T[] | null
  /** A record within this one. Its fields follow without a header. */
  record<T>(of: Codec<T>): T
}

/** The type of a field, as a value. */
export type Type =
  | { is: 'bool' | 'int' | 'long' | 'time' | 'string' | 'stringOrNull' | 'stringOrEmpty' | 'buffer' | 'strings' }
  | { is: 'vector' | 'vectorOrNull' | 'record'; of: Codec<unknown> }

/** One field of a record: its name and its type. */
export interface Field {
  name: string
  type: Type
}

/**
 * The values that can be encoded as `T`. A Buffer may be given as any Uint8Array, or as a string, which is encoded as
 * UTF-8.
 * @example
 * const request: Encodable<TypeOf<typeof records.GetSASLRequest>> = { token: 'text instead of bytes' }
 * records.GetSASLRequest.encode(request).length // => 25
 */
export type Encodable<T> = T extends Buffer
  ? Uint8Array | string
  : T extends readonly (infer E)[]
    ? readonly Encodable<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Encodable<T[K]> }
      : T

/**
 * Converts between bytes and values of one type.
 * @example
 * const codec: Codec<{ path: string }> = records.SyncRequest
 * codec.decode(codec.encode({ path: '/a' })) // => { path: '/a' }
 */
export interface Codec<T> {
  /** The name of the record in zookeeper.jute. */
  readonly name: string
  /** Reads the fields of a record, one after the other. {@link decode} calls it. */
  read(fields: FieldReader): T
  /** Writes the fields of a record, one after the other. {@link encode} calls it. */
  write(writer: Writer, value: Encodable<T>): void
  /**
   * Returns the value that the bytes begin with. Ignores bytes after it, because newer servers may add fields.
   * @throws JuteError if the bytes are not a `T`
   */
  decode(bytes: Uint8Array): T
  /**
   * Returns the bytes of a value.
   * @throws JuteError if a string has no UTF-8 form
   */
  encode(value: Encodable<T>): Buffer
  /** The order and the types of the fields. */
  readonly layout: Layout
}

/**
 * The layout of the bytes: consecutive fields, or items that each follow a header with their type.
 * @example
 * const layout: Layout = records.RequestHeader.layout
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['xid', 'type']
 */
export type Layout =
  | { is: 'fields'; fields: readonly Field[] }
  | { is: 'tagged'; header: Codec<ItemHeader>; itemFor: (type: number) => Codec<unknown> | undefined }

export interface ItemHeader {
  type: number
  done: boolean
  err: number
}

/**
 * The type of the values of a codec.
 * @example
 * const header: TypeOf<typeof records.ReplyHeader> = { xid: 1, zxid: 2n, err: 0 }
 * records.ReplyHeader.encode(header).length // => 16
 */
export type TypeOf<C> = C extends Codec<infer T> ? T : never
