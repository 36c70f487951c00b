// A hash of what happened in a process, or of a state. Two that are equal count as the same.
export class Fingerprint {
  #low = 0x9e3779b9
  #high = 0x85ebca6b

  add(text: string | number): void {
    const string = String(text)
    for (let i = 0; i < string.length; i++) this.#addByte(string.charCodeAt(i))
    this.#addByte(0x100)
  }

  addBytes(bytes: Uint8Array, from = 0, to = bytes.length): void {
    for (let i = from; i < to; i++) this.#addByte(bytes[i] as number)
    this.#addByte(0x101)
  }

  /** 53 bits, which a number holds exactly. */
  get value(): number {
    return (mixed(this.#high) & 0x1f_ffff) * 2 ** 32 + (mixed(this.#low) >>> 0)
  }

  #addByte(byte: number): void {
    this.#low = Math.imul(this.#low ^ byte, 0x01000193)
    this.#high = Math.imul(this.#high ^ byte, 0x5bd1e995)
    this.#high ^= this.#high >>> 15
    this.#low ^= this.#low >>> 13
  }
}

function mixed(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
