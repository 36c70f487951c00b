// Reads the fields of a frame with the declarations of its records. For each field it notes the offset, the bytes and
// the value.
import type { Codec, ItemHeader, Type } from './codec.ts'
import { createModes, keeperStates, opcodes } from './constants.ts'
import { hex64 } from './hex.ts'
import { JuteError } from './jute-error.ts'
import type { Operation } from './operation.ts'
import * as operations from './operations.ts'
import { Reader } from './reader.ts'

/** The largest number of annotated fields. A frame of a megabyte can have ten times as many. */
const MAX_FIELDS = 10_000

interface Annotation {
  at: number
  end: number
  name: string
  value: string
}

export class Annotator {
  readonly #bytes: Uint8Array
  readonly #start: number
  readonly #reader: Reader
  readonly #lines: Annotation[] = []
  /** The number of fields without an annotation, because there are too many. */
  #omitted = 0

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes
    this.#start = start
    this.#reader = new Reader(bytes, start)
  }

  /** Returns a new annotator of the same bytes, at the start again and without annotations. */
  restarted(): Annotator {
    return new Annotator(this.#bytes, this.#start)
  }

  get remaining(): number {
    return this.#reader.remaining
  }

  annotate(at: number, end: number, name: string, value: string): void {
    if (this.#lines.length < MAX_FIELDS) this.#lines.push({ at, end, name, value })
    else this.#omitted++
  }

  /** Omits the remaining bytes from the dump, because they may hold a credential. */
  concealRest(): void {
    if (this.remaining > 0)
      this.annotate(this.#reader.offset, this.#bytes.length, 'rest', `${this.remaining} bytes, not shown`)
  }

  /** Decodes and annotates a value. Returns undefined if the bytes do not fit the codec. */
  read<T>(codec: Codec<T>): T | undefined {
    // Most attempts fail, and the stack trace of an error takes longer than the attempt. Reflect.set() never throws.
    const limit: unknown = Reflect.get(Error, 'stackTraceLimit')
    Reflect.set(Error, 'stackTraceLimit', 0)
    try {
      return this.#value({ is: 'record', of: codec }, '') as T
    } catch (error) {
      if (error instanceof JuteError) return undefined
      throw error
    } finally {
      Reflect.set(Error, 'stackTraceLimit', limit)
    }
  }

  /** Like {@link read}, but also returns undefined if bytes remain after the value. */
  readToEnd<T>(codec: Codec<T>): T | undefined {
    const value = this.read(codec)
    return this.remaining === 0 ? value : undefined
  }

  /** Returns one line per field: offset, bytes in hex, name, value. A last line counts the omitted fields, if any. */
  dump(): string {
    const lines = this.#omitted === 0 ? this.#lines : [...this.#lines, this.#rest()]
    const width = lines.reduce((widest, { name }) => Math.max(widest, name.length), 0)
    return lines
      .map(({ at, end, name, value }) => {
        // One byte more than fits, which shows that the value is longer.
        const first = this.#bytes.subarray(at, Math.min(end, at + 17))
        const bytes = SECRET.test(name) ? '' : Buffer.from(first).toString('hex')
        const shown = bytes.length > 32 ? bytes.slice(0, 31) + '…' : bytes.padEnd(32)
        return `${at.toString(16).padStart(4, '0')}  ${shown}  ${name.padEnd(width)}  ${value}`.trimEnd()
      })
      .join('\n')
  }

  #rest(): Annotation {
    const [at, end] = [this.#lines.at(-1)?.end ?? 0, this.#bytes.length]
    return { at, end, name: 'rest', value: `${end - at} bytes in ${this.#omitted} fields, not shown` }
  }

  #value(type: Type, name: string): unknown {
    if (type.is === 'record') return this.#record(type.of, name)
    const at = this.#reader.offset
    if (type.is === 'vector' || type.is === 'vectorOrNull') {
      const count = this.#reader.int()
      this.annotate(at, at + 4, name, count === -1 ? 'null' : `${count} elements`)
      if (count === -1) return null
      if (count < 0 || count > this.remaining) throw new JuteError(`a vector of ${count} elements`)
      return Array.from({ length: count }, (_, i) => this.#value({ is: 'record', of: type.of }, `${name}[${i}]`))
    }
    const value = this.#reader[type.is]()
    this.annotate(at, this.#reader.offset, name, formatValue(name, value))
    return value
  }

  #record({ layout }: Codec<unknown>, prefix: string): unknown {
    const below = (name: string) => (prefix === '' ? name : `${prefix}.${name}`)
    if (layout.is === 'fields')
      return Object.fromEntries(layout.fields.map(({ name, type }) => [name, this.#value(type, below(name))]))
    const items: unknown[] = []
    for (;;) {
      const at = below(String(items.length))
      const header = this.#record(layout.header, at) as ItemHeader
      // The list ends with a `done` header of type error. Bytes that end otherwise are not a multi, and must not be
      // shown as one.
      if (header.done && header.type === opcodes.error) return items
      const item = header.done ? undefined : layout.itemFor(header.type)
      if (item === undefined) throw new JuteError(`an item of type ${header.type}`)
      const op = operationsByOpcode().get(header.type)?.name ?? 'error'
      items.push({ [op]: this.#record(item, at) })
    }
  }
}

let byOpcode: Map<number, Operation<unknown, unknown>> | undefined
export const operationsByOpcode = () =>
  (byOpcode ??= new Map(Object.values(operations).map(op => [op.opcode, op as Operation<unknown, unknown>])))

export function nameIn(names: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(names).find(name => names[name] === value) ?? `unknown (${value})`
}

/** The fields whose numbers have names, with these names. */
const vocabularies: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  flags: createModes,
  state: keeperStates,
}

/** Fields that hold, or may hold, a password or a credential. Neither their values nor their bytes are shown. */
const SECRET = /(^|\.)(passwd|auth|token|rest)$/

function formatValue(name: string, value: unknown): string {
  const field = name.slice(name.lastIndexOf('.') + 1)
  if (value === null) return 'null'
  if (SECRET.test(name)) return `${(value as Uint8Array).length} bytes, not shown`
  if (typeof value === 'bigint') return hex64(value)
  if (Buffer.isBuffer(value)) return formatBytes(value)
  if (Array.isArray(value))
    return `${value.length}: ${value.map(each => formatName(each as string)).join(' ')}`.trimEnd()
  if (field === 'type' && name !== 'type') return nameIn(opcodes, value as number)
  const names = vocabularies[field]
  return names ? nameIn(names, value as number) : quoted(value)
}

/** Characters that end a line, control a terminal, or change the direction of the text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Returns the value as JSON, in which a string has no unprintable character. */
const quoted = (value: unknown): string =>
  JSON.stringify(value).replace(UNPRINTABLE, character =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

/** Returns a name as it is, or quoted if it has an unprintable character, because a client may choose any name. */
export const formatName = (name: string): string => (name.search(UNPRINTABLE) === -1 ? name : quoted(name))

function formatBytes(bytes: Buffer): string {
  const string = bytes.toString('utf8')
  const shown = /^[\x20-\x7e]*$/.test(string) ? JSON.stringify(string) : '<' + bytes.toString('hex', 0, 16) + '>'
  return bytes.length <= 40 ? shown : `${bytes.length} bytes`
}

/** The number of elements of a list that are shown. */
const FEW = 3

/** Formats a body as one line of `name: value`. Long lists and long data are shortened, and secrets are omitted. */
export function formatFields(body: unknown): string {
  const fields = Object.entries(body as object)
  // A record has a few fields, and a multi can have any number of items.
  const few = Array.isArray(body) ? fields.slice(0, FEW) : fields
  const shown = few.map(([name, value]) => formatField(name, value))
  if (fields.length > few.length) shown.push(`… ${fields.length} in all`)
  return shown.length === 0 ? '' : ` {${shown.join(', ')}}`
}

function formatField(name: string, value: unknown): string {
  if (value !== null && typeof value === 'object' && !Buffer.isBuffer(value)) {
    if (!Array.isArray(value))
      return 'czxid' in value ? `${name}: czxid ${hex64(value.czxid as bigint)}` : name + formatFields(value)
    const few = value
      .slice(0, FEW)
      .map(each => (typeof each === 'string' ? formatName(each) : formatFields(each).trim()))
    return `${name}: [${few.join(', ')}${value.length > FEW ? `, … ${value.length} in all` : ''}]`
  }
  return `${name}: ${formatValue(name, value)}`
}
