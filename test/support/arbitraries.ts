// Random values for any codec, derived from its layout.
import fc from 'fast-check'
import { opcodes } from '../../src/protocol/constants.ts'
import type { Codec, Type } from '../../src/protocol/jute.ts'

/** Strings without lone surrogates, because UTF-8 cannot encode them. */
export const strings: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '/', '/zookeeper', '__proto__', '\0', 'é', '中', '\uffff', '🦓', '\u{10ffff}'),
)

/** Strings of the basic multilingual plane: each character is one UTF-16 code unit. */
export const bmpStrings: fc.Arbitrary<string> = strings.map(s => s.replace(/[\u{10000}-\u{10ffff}]/gu, '語'))

const ints: fc.Arbitrary<number> = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, 1, -1, 0x7fff_ffff, -0x8000_0000, 0x8000, 0xff),
)

/** 64-bit numbers around the limits of a double: a conversion to Number would change some of them. */
export const edgeCaseLongs: readonly bigint[] = [
  0n,
  1n,
  -1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
]

const longs: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(...edgeCaseLongs),
)

export const times: fc.Arbitrary<number> = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, 1, -1, 2 ** 31, 2 ** 32, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)

const buffers: fc.Arbitrary<Buffer | null> = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
  fc.constant(null),
  fc.constant(Buffer.alloc(0)),
)

const MAX_ELEMENTS = 4

/** Generates values of the type that a codec decodes. */
export function valuesOf<T>(codec: Codec<T>, string: fc.Arbitrary<string> = strings): fc.Arbitrary<T> {
  const { layout } = codec
  const values =
    layout.is === 'fields'
      ? fc.record(Object.fromEntries(layout.fields.map(({ name, type }) => [name, valuesOfType(type, string)])))
      : fc.array(itemsOf(layout.itemFor, string), { maxLength: MAX_ELEMENTS })
  return values as fc.Arbitrary<T>
}

/** Returns every opcode that is valid for an item of a multi. */
export const itemTypes = (itemFor: (type: number) => Codec<unknown> | undefined): number[] =>
  Object.values(opcodes).filter(type => itemFor(type) !== undefined)

function itemsOf(itemFor: (type: number) => Codec<unknown> | undefined, string: fc.Arbitrary<string>) {
  const items = itemTypes(itemFor).map(type => {
    const codec = itemFor(type)
    if (codec === undefined) throw new Error(`no item of type ${type}`)
    return fc.record({ type: fc.constant(type), body: valuesOf(codec, string) })
  })
  return fc.oneof(...items)
}

function valuesOfType(type: Type, string: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  switch (type.is) {
    case 'bool':
      return fc.boolean()
    case 'int':
      return ints
    case 'long':
      return longs
    case 'time':
      return times
    case 'string':
    case 'stringOrEmpty':
      return string
    case 'stringOrNull':
      return fc.option(string)
    case 'buffer':
      return buffers
    case 'strings':
      return fc.array(string, { maxLength: MAX_ELEMENTS })
    case 'vector':
      return fc.array(valuesOf(type.of, string), { maxLength: MAX_ELEMENTS })
    case 'vectorOrNull':
      return fc.option(fc.array(valuesOf(type.of, string), { maxLength: MAX_ELEMENTS }))
    case 'record':
      return valuesOf(type.of, string)
  }
}
