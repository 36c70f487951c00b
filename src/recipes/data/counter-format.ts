// How a counter is stored: the bytes of Curator's and kazoo's counters. Pure functions.

export type CounterFormat = 'int64' | 'int32' | 'decimal'

interface Format {
  /** The smallest and the largest value. */
  readonly range: readonly [least: bigint, greatest: bigint] | undefined
  /** Returns undefined if the bytes are none of this format. */
  decode(bytes: Buffer): bigint | undefined
  encode(value: bigint): Buffer
}

const integer = (bits: 32 | 64): Format => ({
  range: [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n],
  decode(bytes) {
    if (bytes.length !== bits / 8) return undefined
    return bits === 32 ? BigInt(bytes.readInt32BE()) : bytes.readBigInt64BE()
  },
  encode(value) {
    const bytes = Buffer.alloc(bits / 8)
    if (bits === 32) bytes.writeInt32BE(Number(value))
    else bytes.writeBigInt64BE(value)
    return bytes
  },
})

export const formats: Readonly<Record<CounterFormat, () => Format>> = {
  int64: () => integer(64),
  int32: () => integer(32),
  decimal: () => ({
    range: undefined,
    decode: bytes => (/^-?\d+$/.test(bytes.toString('latin1')) ? BigInt(bytes.toString('latin1')) : undefined),
    encode: value => Buffer.from(String(value)),
  }),
}

/** Returns why the format cannot store the value, or undefined if it can. */
export function rangeProblem(format: CounterFormat, value: bigint): string | undefined {
  const { range } = formats[format]()
  if (range === undefined || (value >= range[0] && value <= range[1])) return undefined
  return `${value} is outside the range of ${format}, which is ${range[0]} to ${range[1]}`
}
