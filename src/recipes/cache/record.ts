// What a cache keeps of one node: the bytes of its name, its Stat and its data. Objects would need ten times the memory.
import { jsonSafe, type Stat } from '../../protocol/index.ts'

/** How the data of a node is kept. `none`: the node's data is null. `omitted`: it is left out. */
export type DataForm = 'plain' | 'none' | 'omitted' | 'encoded'

const forms: readonly DataForm[] = ['plain', 'none', 'omitted', 'encoded']

/** The fields that most nodes have at their default. A record contains the others only. */
const rare = [
  ['mzxid', 'long', ({ czxid }: Stat) => czxid],
  ['pzxid', 'long', ({ czxid }: Stat) => czxid],
  ['mtime', 'time', ({ ctime }: Stat) => ctime],
  ['ephemeralOwner', 'long', () => 0n],
  ['version', 'int', () => 0],
  ['cversion', 'int', () => 0],
  ['aversion', 'int', () => 0],
  ['numChildren', 'int', () => 0],
  ['dataLength', 'int', (_: Stat, kept: number) => kept],
] as const

const sizes = { long: 8, time: 8, int: 4 } as const
/** The bytes of the flags, the czxid and the ctime. */
const FIXED = 2 + 8 + 8
/** The most bytes of a record besides its key and its data. */
const MOST = FIXED + rare.reduce((sum, [, type]) => sum + sizes[type], 2 * 5)

/** The bytes of a name in UTF-8, as a string of characters below 256. */
export const keyOf = (name: string): string => (/[^\0-\x7f]/.test(name) ? Buffer.from(name).toString('latin1') : name)

/** The inverse of {@link keyOf}. */
export const nameOfKey = (key: string): string => (/[^\0-\x7f]/.test(key) ? Buffer.from(key, 'latin1').toString() : key)

/** Writes a whole number in as few bytes as possible. Returns the index after it. */
function writeCount(bytes: Buffer, value: number, at: number): number {
  let rest = value
  for (; rest > 127; rest >>>= 7) bytes[at++] = rest | 128
  bytes[at] = rest
  return at + 1
}

/** Reads a number that {@link writeCount} wrote. */
function readCount(bytes: Buffer, at: number): [value: number, end: number] {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] as number
    value |= (byte & 127) << shift
    if (byte <= 127) return [value, at]
  }
}

/** Reused for each record, because a record is copied out of it at once. */
let scratch = Buffer.alloc(1024)
/** One large node must not keep its memory for ever. */
const LARGE = 64 * 1024

/**
 * Returns the bytes of a record, which the next call overwrites.
 * @param key {@link keyOf} the node's name
 * @param data the bytes to keep
 */
export function pack(key: string, stat: Stat, form: DataForm, data: Uint8Array): Buffer {
  const most = key.length + data.length + MOST
  if (most > scratch.length || scratch.length > LARGE) scratch = Buffer.alloc(Math.max(most, 1024))
  const bytes = scratch
  // Its length comes first, and is known last.
  const start = 5
  let at = writeCount(bytes, key.length, start)
  at += bytes.write(key, at, 'latin1')
  const flagsAt = at
  at = bytes.writeBigInt64BE(stat.czxid, at + 2)
  at = bytes.writeDoubleBE(stat.ctime, at)
  let flags = forms.indexOf(form) << rare.length
  for (const [i, [name, type, byDefault]] of rare.entries()) {
    const value = stat[name]
    if (value === byDefault(stat, data.length)) continue
    flags |= 1 << i
    if (type === 'long') at = bytes.writeBigInt64BE(value as bigint, at)
    else if (type === 'time') at = bytes.writeDoubleBE(value as number, at)
    else at = bytes.writeInt32BE(value as number, at)
  }
  bytes.writeUInt16BE(flags, flagsAt)
  bytes.set(data, at)
  const length = at + data.length - start
  const before = start - (length < 1 << 7 ? 1 : length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : length < 1 << 28 ? 4 : 5)
  writeCount(bytes, length, before)
  return bytes.subarray(before, start + length)
}

/** Returns the record that begins at an index. */
export function recordAt(bytes: Buffer, at: number): Buffer {
  const [length, end] = readCount(bytes, at)
  return bytes.subarray(at, end + length)
}

export function keyIn(bytes: Buffer, at = 0): string {
  const [length, start] = readCount(bytes, readCount(bytes, at)[1])
  return bytes.toString('latin1', start, start + length)
}

/** Returns true if the record that begins at an index has this key. */
export function hasKey(bytes: Buffer, at: number, key: string): boolean {
  const [length, start] = readCount(bytes, readCount(bytes, at)[1])
  if (length !== key.length) return false
  for (let i = 0; i < length; i++) if (bytes[start + i] !== key.charCodeAt(i)) return false
  return true
}

export interface Unpacked {
  stat: Stat
  form: DataForm
  /** The bytes that are kept of the data: a part of the record. */
  data: Buffer
}

export function unpack(record: Buffer): Unpacked {
  const [keyLength, keyStart] = readCount(record, readCount(record, 0)[1])
  const start = keyStart + keyLength
  const flags = record.readUInt16BE(start)
  const has = (i: number) => (flags & (1 << i)) !== 0
  const stat = { czxid: record.readBigInt64BE(start + 2), ctime: record.readDoubleBE(start + 10) } as Stat
  let at = start + FIXED
  const dataStart = rare.reduce((end, [, type], i) => (has(i) ? end + sizes[type] : end), at)
  const data = record.subarray(dataStart)
  const read = (type: keyof typeof sizes): bigint | number => {
    const from = at
    at += sizes[type]
    if (type === 'long') return record.readBigInt64BE(from)
    return type === 'time' ? record.readDoubleBE(from) : record.readInt32BE(from)
  }
  const others = Object.fromEntries(
    rare.map(([name, type, byDefault], i) => [name, has(i) ? read(type) : byDefault(stat, data.length)]),
  ) as unknown as Stat
  const { czxid, ctime } = stat
  const { mzxid, mtime, version, cversion, aversion, ephemeralOwner, dataLength, numChildren, pzxid } = others
  return {
    // In the order of the record Stat.
    stat: jsonSafe({
      ...{ czxid, mzxid, ctime, mtime, version, cversion, aversion },
      ...{ ephemeralOwner, dataLength, numChildren, pzxid },
    }),
    form: forms[flags >> rare.length] as DataForm,
    data,
  }
}
