// Jute, ZooKeeper's serialization. A record is declared once, as a function that reads its fields.
import type { Codec, Encodable, Field, FieldReader, Layout, Type } from './codec.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

export type * from './codec.ts'

/**
 * Declares a record, and returns its codec. The layout is computed on first use.
 * @param name the name of the record in zookeeper.jute
 * @param declare reads the fields in the order of the wire, and returns the record
 * @example
 * const Point = record('Point', f => ({ x: f.int(), y: f.int() }))
 * Point.encode({ x: 1, y: 2 }).toString('hex') // => '0000000100000002'
 */
export const record = <T extends object>(name: string, declare: (f: FieldReader) => T): Codec<T> =>
  new RecordCodec(name, declare)

/** A class, so that V8 sees codecs of one shape. */
class RecordCodec<T extends object> implements Codec<T> {
  readonly name: string
  readonly read: (f: FieldReader) => T
  #layout: Layout | undefined
  #fieldWriters: readonly FieldWriter[] | undefined

  constructor(name: string, declare: (f: FieldReader) => T) {
    this.name = name
    this.read = declare
  }

  write(writer: Writer, value: Encodable<T>): void {
    this.#fieldWriters ??= layoutOf(this.read).map(fieldWriter)
    for (const each of this.#fieldWriters) each.write(writer, (value as FieldValues)[each.name], each.of)
  }

  decode(bytes: Uint8Array): T {
    return this.read(new Reader(bytes))
  }

  encode(value: Encodable<T>): Buffer {
    const writer = new Writer()
    this.write(writer, value)
    return writer.take()
  }

  get layout(): Layout {
    return (this.#layout ??= { is: 'fields', fields: layoutOf(this.read) })
  }
}

type FieldValues = Record<string, unknown>

/** A field with the function that writes it. `record()` types the values, which makes the casts in `writers` safe. */
interface FieldWriter {
  name: string
  write: (writer: Writer, value: unknown, of: Codec<unknown> | undefined) => void
  of: Codec<unknown> | undefined
}

const writers: Record<Type['is'], FieldWriter['write']> = {
  bool: (w, v) => w.bool(v as boolean),
  int: (w, v) => w.int(v as number),
  long: (w, v) => w.long(v as bigint),
  time: (w, v) => w.time(v as number),
  string: (w, v) => w.string(v as string),
  stringOrNull: (w, v) => (v === null ? w.int(-1) : w.string(v as string)),
  stringOrEmpty: (w, v) => w.string(v as string),
  buffer: (w, v) => w.buffer(v as Uint8Array | string | null),
  strings(w, v) {
    const all = v as readonly string[]
    w.int(all.length)
    for (const each of all) w.string(each)
  },
  vector(w, v, of) {
    const all = v as readonly unknown[]
    w.int(all.length)
    for (const each of all) of?.write(w, each)
  },
  vectorOrNull: (w, v, of) => (v === null ? w.int(-1) : writers.vector(w, v, of)),
  record: (w, v, of) => of?.write(w, v),
}

const fieldWriter = ({ name, type }: Field): FieldWriter => ({
  name,
  write: writers[type.is],
  of: 'of' in type ? type.of : undefined,
})

const layoutOf = (declare: (f: FieldReader) => object): Field[] =>
  Object.entries(declare(recorder)).map(([name, type]) => ({ name, type: type as Type }))

/** Returns the type of each field instead of a value. A declaration called with it yields the layout. */
const recorder = Object.fromEntries(
  Object.keys(writers).map(is => [is, (of?: Codec<unknown>) => (of === undefined ? { is } : { is, of })]),
) as unknown as FieldReader
