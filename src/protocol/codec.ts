// What a codec is: a way between bytes and values, and the letters it is written in.
import type { Writer } from './writer.ts'

/**
 * The alphabet a record is written in. A {@link Reader} is handed in to decode; a scribe that only notes which letters
 * were asked for is handed in once, on first use, to learn the layout.
 */
export interface FieldReader {
  bool(): boolean
  int(): number
  /** A 64-bit integer that is an identity: session ids, zxids. */
  long(): bigint
  /** A 64-bit integer that is a time in milliseconds. */
  time(): number
  /** UTF-8 that is never null where ZooKeeper uses it. A null on the wire is refused. */
  string(): string
  stringOrNull(): string | null
  /** Null is read as empty, and never written: kazoo writes null for an empty string. */
  stringOrEmpty(): string
  /** Bytes; null (length -1) and empty (length 0) are different values, and ZooKeeper keeps both. */
  buffer(): Buffer | null
  strings(): string[]
  vector<T>(of: Codec<T>): T[]
  vectorOrNull<T>(of: Codec<T>): T[] | null
  record<T>(of: Codec<T>): T
}

/** What a letter stands for, as data. */
export type Type =
  | { is: 'bool' | 'int' | 'long' | 'time' | 'string' | 'stringOrNull' | 'stringOrEmpty' | 'buffer' | 'strings' }
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
  read(letters: FieldReader): T
  write(writer: Writer, value: Encodable<T>): void
  /** @throws JuteError where the bytes are not such a value. Bytes behind it are left alone: newer servers may add fields. */
  decode(bytes: Uint8Array): T
  /** @throws JuteError where a string has no UTF-8 form. */
  encode(value: Encodable<T>): Buffer
  readonly layout: Layout
}

/** How the bytes of a codec lie: fields in a row, or items that each follow a header naming their type. */
export type Layout =
  | { is: 'fields'; fields: readonly Field[] }
  | { is: 'tagged'; header: Codec<ItemHeader>; itemFor: (type: number) => Codec<unknown> | undefined }

export interface ItemHeader {
  type: number
  done: boolean
  err: number
}

export type TypeOf<C> = C extends Codec<infer T> ? T : never
