// Jute, ZooKeeper's serialization. A record is declared once, as a function that reads its fields.
import type { Codec, Encodable, Field, FieldReader, Layout, Type } from './codec.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

export type * from './codec.ts'

/**
 * Declares a record, and returns its codec. The layout is computed on first use.
 * @param name the name of the record in zookeeper.jute
 * @param declare reads the fields in the order of the wire, and returns the record
 * @param write writes the same fields in the same order. Default: a loop over the fields, which takes longer
 * @example
 * const Point = record('Point', f => ({ x: f.int(), y: f.int() }))
 * Point.encode({ x: 1, y: 2 }).toString('hex') // => '0000000100000002'
 */
export const record = <T extends object>(
  name: string,
  declare: (f: FieldReader) => T,
  write: Codec<T>['write'] = writeByName(declare),
): Codec<T> => new JuteCodec(name, declare, write)

/** A class, so that all codecs have one shape for V8. */
export class JuteCodec<T extends object> implements Codec<T> {
  readonly name: string
  readonly read: Codec<T>['read']
  readonly write: Codec<T>['write']
  #layout: Layout | undefined

  /** @param layout Default: that of the fields which `read` reads */
  constructor(name: string, read: Codec<T>['read'], write: Codec<T>['write'], layout?: Layout) {
    this.name = name
    this.read = read
    this.write = write
    this.#layout = layout
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

/** Returns a function that writes the fields of a declaration. */
function writeByName<T extends object>(declare: (f: FieldReader) => T): Codec<T>['write'] {
  let fieldWriters: readonly FieldWriter[] | undefined
  return (writer, value) => {
    fieldWriters ??= layoutOf(declare).map(fieldWriter)
    for (const each of fieldWriters) each.write(writer, (value as Record<string, unknown>)[each.name], each.of)
  }
}

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

const layoutOf = (declare: (f: FieldReader) => unknown): Field[] =>
  Object.entries(declare(recorder) as object).map(([name, type]) => ({ name, type: type as Type }))

/** Returns the type of each field instead of a value. A declaration called with it yields the layout. */
const recorder = Object.fromEntries(
  Object.keys(writers).map(is => [is, (of?: Codec<unknown>) => (of === undefined ? { is } : { is, of })]),
) as unknown as FieldReader
