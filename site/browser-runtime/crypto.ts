// MD5 (RFC 1321), SHA-1 (RFC 3174), and a comparison in constant time. The hashes of a browser are asynchronous, and it
// has no MD5.

/** Returns a hash, as node:crypto does. Only `update` once and then `digest` is supported. */
export function createHash(algorithm: 'md5' | 'sha1') {
  let input = new Uint8Array(0)
  return {
    update(bytes: Uint8Array) {
      input = Uint8Array.from(bytes)
      return this
    },
    digest: (): Buffer => (algorithm === 'md5' ? md5(input) : sha1(input)),
  }
}

export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.reduce((difference, byte, i) => difference | (byte ^ (b[i] ?? 0)), a.length ^ b.length) === 0
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/** Returns the bytes, a one bit, zeros, and the number of bits as a 64-bit integer: whole blocks of 64 bytes. */
function padded(bytes: Uint8Array, isLittleEndian: boolean): DataView {
  const view = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64))
  bytes.forEach((byte, i) => view.setUint8(i, byte))
  view.setUint8(bytes.length, 0x80)
  view.setBigUint64(view.byteLength - 8, BigInt(bytes.length) * 8n, isLittleEndian)
  return view
}

function bytesOf(words: readonly number[], isLittleEndian: boolean): Buffer {
  const bytes = Buffer.alloc(4 * words.length)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  words.forEach((word, i) => view.setInt32(4 * i, word, isLittleEndian))
  return bytes
}

const SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0)
const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21] as const

function md5(bytes: Uint8Array): Buffer {
  const view = padded(bytes, true)
  let state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476]
  for (let block = 0; block < view.byteLength; block += 64) {
    let [a, b, c, d] = state as [number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const round = i >> 4
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round] as number
      const word = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] as number
      const sum = (a + mixed + (SINES[i] as number) + view.getInt32(block + 4 * (word % 16), true)) | 0
      ;[a, d, c, b] = [d, c, b, (b + rotated(sum, SHIFTS[4 * round + (i % 4)] as number)) | 0]
    }
    state = [a, b, c, d].map((word, i) => (word + (state[i] as number)) | 0)
  }
  return bytesOf(state, true)
}

function sha1(bytes: Uint8Array): Buffer {
  const view = padded(bytes, false)
  let state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0]
  for (let block = 0; block < view.byteLength; block += 64) {
    const words = Array.from({ length: 16 }, (_, i) => view.getInt32(block + 4 * i))
    for (let i = 16; i < 80; i++)
      words.push(
        rotated(
          [3, 8, 14, 16].reduce((mixed, back) => mixed ^ (words[i - back] as number), 0),
          1,
        ),
      )
    let [a, b, c, d, e] = state as [number, number, number, number, number]
    for (let i = 0; i < 80; i++) {
      const round = Math.floor(i / 20)
      const mixed = [(b & c) | (~b & d), b ^ c ^ d, (b & c) | (b & d) | (c & d), b ^ c ^ d][round] as number
      const constant = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc | 0, 0xca62c1d6 | 0][round] as number
      const sum = (rotated(a, 5) + mixed + e + constant + (words[i] as number)) | 0
      ;[e, d, c, b, a] = [d, c, rotated(b, 30), a, sum]
    }
    state = [a, b, c, d, e].map((word, i) => (word + (state[i] as number)) | 0)
  }
  return bytesOf(state, false)
}
