// Jute, ZooKeeper's serialisation: a record is declared once, as a function over the letters of its alphabet.
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/**
 * The alphabet a record is written in. A {@link Reader} is handed in to decode; a scribe that only notes which letters
 * were asked for is handed in once, on first use, to learn the layout.
 */
export interface Letters {
  bool(): boolean
  int(): number
  /** A 64-bit integer that is an identity: session ids, zxids. */
  long(): bigint
  /** A 64-bit integer that is a time in milliseconds. */
  time(): number
  /** UTF-8 that is never null where ZooKeeper uses it. A null on the wire is refused. */
  string(): string
  stringOrNull(): string | null
  /** Bytes; null (length -1) and empty (length 0) are different values, and ZooKeeper keeps both. */
  buffer(): Buffer | null
  strings(): string[]
  vector<T>(of: Codec<T>): T[]
  vectorOrNull<T>(of: Codec<T>): T[] | null
  record<T>(of: Codec<T>): T
}

/** What a letter stands for, as data. */
export type Type =
  | { is: 'bool' | 'int' | 'long' | 'time' | 'string' | 'stringOrNull' | 'buffer' | 'strings' }
  | { is: 'vector' | 'vectorOrNull' | 'record'; of: Codec<unknown> }

export interface Field {
  name: string
  type: Type
}

/** What may be handed in where `T` comes out: any bytes, or a string that is written as UTF-8, for a Buffer. */
export type Encodable<T> = T extends Buffer
  ? Uint8Array | string
  : T extends readonly (infer E)[]
    ? readonly Encodable<E>[]
    : T extends object
      ? { readonly [K in keyof T]: Encodable<T[K]> }
      : T

/** A way between bytes and values of one type. */
export interface Codec<T> {
  readonly name: string
  read(letters: Letters): T
  write(writer: Writer, value: Encodable<T>): void
  /** @throws JuteError where the bytes are not such a value. Bytes behind it are left alone: newer servers may add fields. */
  decode(bytes: Uint8Array): T
  /** @throws JuteError where a string has no UTF-8 form. */
  encode(value: Encodable<T>): Buffer
  readonly shape: Shape
}

/** How the bytes of a codec lie: fields in a row, or items that each follow a header naming their type. */
export type Shape =
  | { is: 'fields'; fields: readonly Field[] }
  | { is: 'tagged'; header: Codec<Tag>; itemFor: (type: number) => Codec<unknown> | undefined }

export interface Tag {
  type: number
  done: boolean
  err: number
}

export type TypeOf<C> = C extends Codec<infer T> ? T : never

/** Declares a record: `declare` says its fields, in wire order. Nothing is computed before first use. */
export function record<T extends object>(name: string, declare: (f: Letters) => T): Codec<T> {
  let shape: Shape | undefined
  let columns: Column[] | undefined
  return {
    name,
    read: declare,
    write(writer, value) {
      columns ??= layoutOf(declare).map(column)
      for (const each of columns) each.write(writer, (value as Row)[each.name], each.of)
    },
    decode: bytes => declare(new Reader(bytes)),
    encode(value) {
      const writer = new Writer()
      this.write(writer, value)
      return writer.take()
    },
    get shape() {
      return (shape ??= { is: 'fields', fields: layoutOf(declare) })
    },
  }
}

type Row = Record<string, unknown>

/** A field made ready for writing. Values are of the field's type by the declaration's own types, hence the casts. */
interface Column {
  name: string
  write: (writer: Writer, value: unknown, of: Codec<unknown> | undefined) => void
  of: Codec<unknown> | undefined
}

const writers: Record<Type['is'], Column['write']> = {
  bool: (w, v) => w.bool(v as boolean),
  int: (w, v) => w.int(v as number),
  long: (w, v) => w.long(v as bigint),
  time: (w, v) => w.time(v as number),
  string: (w, v) => w.string(v as string),
  stringOrNull: (w, v) => (v === null ? w.int(-1) : w.string(v as string)),
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

const column = ({ name, type }: Field): Column => ({
  name,
  write: writers[type.is],
  of: 'of' in type ? type.of : undefined,
})

const layoutOf = (declare: (f: Letters) => object): Field[] =>
  Object.entries(declare(scribe)).map(([name, type]) => ({ name, type: type as Type }))

/** Answers every letter with its own description, so that a declaration run against it yields the layout. */
const scribe: Letters = {
  bool: () => ({ is: 'bool' }) as never,
  int: () => ({ is: 'int' }) as never,
  long: () => ({ is: 'long' }) as never,
  time: () => ({ is: 'time' }) as never,
  string: () => ({ is: 'string' }) as never,
  stringOrNull: () => ({ is: 'stringOrNull' }) as never,
  buffer: () => ({ is: 'buffer' }) as never,
  strings: () => ({ is: 'strings' }) as never,
  vector: of => ({ is: 'vector', of }) as never,
  vectorOrNull: of => ({ is: 'vectorOrNull', of }) as never,
  record: of => ({ is: 'record', of }) as never,
}
