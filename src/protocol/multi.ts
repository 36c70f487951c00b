// multi and multiRead: a list of items, each after a header with its type. A header with `done` ends the list.
import type { Codec, Encodable, FieldReader } from './codec.ts'
import { JuteCodec } from './jute.ts'
import { JuteError } from './jute-error.ts'
import type { Writer } from './writer.ts'
import {
  CheckVersionRequest,
  Create2Response,
  CreateRequest,
  CreateResponse,
  CreateTTLRequest,
  DeleteRequest,
  ErrorResponse,
  GetChildrenRequest,
  GetChildrenResponse,
  GetDataRequest,
  GetDataResponse,
  SetDataRequest,
  SetDataResponse,
} from './node-records.ts'
import { EmptyRecord, MultiHeader } from './records.ts'
import { opcodes } from './constants.ts'

/**
 * One operation or its result. `type` is an opcode, or -1 for an error.
 * @example
 * type Check = records.MultiItem<{ 13: typeof records.CheckVersionRequest }>
 * const item: Check = { type: 13, body: { path: '/a', version: 3 } }
 * records.MultiRequest.encode([item]).length // => 28
 */
export type MultiItem<T extends ItemCodecs> = {
  [K in keyof T]: { type: K; body: T[K] extends Codec<infer V> ? V : never }
}[keyof T]

type ItemCodecs = Record<number, Codec<unknown>>

function taggedList<T extends ItemCodecs>(name: string, itemErr: number, items: T): Codec<MultiItem<T>[]> {
  type Items = MultiItem<T>[]
  const codecFor = (type: number) => items[type]
  const read = (f: FieldReader): Items => {
    const all: { type: number; body: unknown }[] = []
    for (let header = MultiHeader.read(f); !header.done; header = MultiHeader.read(f)) {
      const codec = codecFor(header.type)
      if (codec === undefined) throw new JuteError(`an item of unknown type ${header.type} in ${name}`)
      // ClickHouse Keeper writes the error of a read only into the header, and leaves the type as it is.
      const isBareError = itemErr === 0 && header.err !== 0 && header.type !== opcodes.error
      all.push(
        isBareError ? { type: opcodes.error, body: { err: header.err } } : { type: header.type, body: codec.read(f) },
      )
    }
    return all as Items
  }
  const write = (writer: Writer, value: Encodable<Items>) => {
    for (const { type, body } of value as readonly { type: number; body: unknown }[]) {
      // The server writes an error number twice, in the header and in the body (MultiResponse.serialize).
      const err = type === opcodes.error ? (body as { err: number }).err : itemErr
      MultiHeader.write(writer, { type, done: false, err })
      codecFor(type)?.write(writer, body)
    }
    MultiHeader.write(writer, { type: -1, done: true, err: -1 })
  }
  return new JuteCodec(name, read, write, { is: 'tagged', header: MultiHeader, itemFor: codecFor })
}

/**
 * The operations of a multi.
 * @example
 * const items = [{ type: constants.opcodes.check, body: { path: '/a', version: 3 } }]
 * records.MultiRequest.encode(items).length // => 28
 */
export const MultiRequest = taggedList('MultiRequest', -1, {
  [opcodes.create]: CreateRequest,
  [opcodes.create2]: CreateRequest,
  [opcodes.createContainer]: CreateRequest,
  [opcodes.createTTL]: CreateTTLRequest,
  [opcodes.delete]: DeleteRequest,
  [opcodes.setData]: SetDataRequest,
  [opcodes.check]: CheckVersionRequest,
})

/**
 * The reads of a multiRead.
 * @example
 * const items = [{ type: constants.opcodes.getData, body: { path: '/a', watch: false } }]
 * records.MultiReadRequest.decode(records.MultiReadRequest.encode(items)) // => items
 */
export const MultiReadRequest = taggedList('MultiReadRequest', -1, {
  [opcodes.getChildren]: GetChildrenRequest,
  [opcodes.getData]: GetDataRequest,
})

/**
 * The results of a multi or a multiRead. Each is decoded by the type in its own header, not by the operation. Servers
 * before 3.7.2, and 3.8.0 and 3.8.1, answer a create2 with type create and no Stat (ZOOKEEPER-4026). If one operation of
 * a multi fails, all results are errors: those before it have number 0, and those after it RUNTIMEINCONSISTENCY. Each
 * read of a multiRead fails on its own.
 * @example
 * const items = [{ type: constants.opcodes.error, body: { err: errnos.NONODE } }]
 * records.MultiResponse.decode(records.MultiResponse.encode(items)) // => items
 */
export const MultiResponse = taggedList('MultiResponse', 0, {
  [opcodes.create]: CreateResponse,
  [opcodes.create2]: Create2Response,
  [opcodes.delete]: EmptyRecord,
  [opcodes.setData]: SetDataResponse,
  [opcodes.check]: EmptyRecord,
  [opcodes.getChildren]: GetChildrenResponse,
  [opcodes.getData]: GetDataResponse,
  [opcodes.error]: ErrorResponse,
})
