// The few parts of protocol buffers that etcd's requests need: numbers, bytes, and messages in messages. Pure.

/** The fields of a message by their numbers. A number is a varint; an array repeats its field. */
export interface Message {
  [field: number]: FieldValue | readonly FieldValue[]
}

type FieldValue = bigint | number | string | Uint8Array | Message

const VARINT = 0
const BYTES = 2

export function encode(message: Message): Buffer {
  const parts: Buffer[] = []
  for (const [field, value] of Object.entries(message))
    for (const each of Array.isArray(value) ? (value as readonly FieldValue[]) : [value as FieldValue]) {
      if (typeof each === 'number' || typeof each === 'bigint') {
        parts.push(varint((Number(field) << 3) | VARINT), varint(each))
        continue
      }
      const bytes = typeof each === 'string' || each instanceof Uint8Array ? Buffer.from(each as string) : encode(each)
      parts.push(varint((Number(field) << 3) | BYTES), varint(bytes.length), bytes)
    }
  return Buffer.concat(parts)
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(left)])
}

/** A message as it was read. */
export class Fields {
  readonly #numbers = new Map<number, bigint>()
  readonly #bytes = new Map<number, Buffer[]>()

  /** @throws Error if a field is neither a varint nor bytes */
  constructor(message: Buffer) {
    let at = 0
    const read = (): bigint => {
      let [value, shift] = [0n, 0n]
      for (;;) {
        const byte = message[at++] ?? 0
        value |= BigInt(byte & 0x7f) << shift
        if (byte < 0x80) return value
        shift += 7n
      }
    }
    while (at < message.length) {
      const tag = Number(read())
      const field = tag >> 3
      if ((tag & 7) === VARINT) this.#numbers.set(field, BigInt.asIntN(64, read()))
      else if ((tag & 7) === BYTES) {
        const length = Number(read())
        this.#bytes.set(field, [...(this.#bytes.get(field) ?? []), message.subarray(at, at + length)])
        at += length
      } else throw new Error(`field ${field} has the wire type ${tag & 7}, which no message of etcd's locks has`)
    }
  }

  /** The value of a number; 0 if the message does not have it. */
  number(field: number): bigint {
    return this.#numbers.get(field) ?? 0n
  }

  bytes(field: number): Buffer {
    return this.#bytes.get(field)?.at(-1) ?? Buffer.alloc(0)
  }

  message(field: number): Fields {
    return new Fields(this.bytes(field))
  }

  messages(field: number): Fields[] {
    return (this.#bytes.get(field) ?? []).map(each => new Fields(each))
  }
}
