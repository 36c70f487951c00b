// Memory for records: pages of bytes, which many records share, because each Buffer needs more than 100 bytes of its own.
import { recordAt } from './record.ts'

/** The bytes of a page; also the distance of the addresses of two pages. */
const PAGE = 64 * 1024
const SMALLEST_PAGE = 256
/** A longer record has a page of its own, so that little of a page is wasted. */
const LONGEST = PAGE / 8

/**
 * Stores records, at addresses from 1 on. Bytes are never overwritten, so a record that was read stays as it is, even if it
 * is removed.
 */
export class Slab {
  /** The bytes of all pages. */
  bytes = 0
  /** The bytes of the records that were removed. */
  #removed = 0
  #pages: Buffer[] = []
  /** The page that is filled, and its first free byte. At first there is none. */
  #page = 0
  #free = PAGE

  add(record: Buffer): number {
    if (record.length > LONGEST) return this.#addPage(copyOf(record)) * PAGE + 1
    if (this.#free + record.length > (this.#pages[this.#page]?.length ?? 0)) {
      const size = Math.min(PAGE, Math.max(SMALLEST_PAGE, record.length, this.bytes >> 3))
      this.#page = this.#addPage(Buffer.allocUnsafeSlow(size))
      this.#free = 0
    }
    const at = this.#free
    record.copy(this.#pages[this.#page] as Buffer, at)
    this.#free += record.length
    return this.#page * PAGE + at + 1
  }

  /** Returns a record. It shares the memory of the slab. */
  get(address: number): Buffer {
    return recordAt(this.pageOf(address), offsetOf(address))
  }

  /** Returns the page that contains a record, at {@link offsetOf} its address. */
  pageOf(address: number): Buffer {
    return this.#pages[Math.floor((address - 1) / PAGE)] as Buffer
  }

  remove(address: number): void {
    this.#removed += this.get(address).length
  }

  /** True if the records should be copied to a new slab, because many bytes belong to none. */
  get isWasteful(): boolean {
    return this.#removed > PAGE && this.#removed * 4 > this.bytes
  }

  /** Returns a slab that contains the same records at the same addresses, and shares their memory. */
  clone(): Slab {
    const clone = new Slab()
    clone.bytes = this.bytes
    clone.#removed = this.#removed
    clone.#pages = this.#pages.slice()
    return clone
  }

  #addPage(page: Buffer): number {
    this.bytes += page.length
    return this.#pages.push(page) - 1
  }
}

/** The index of a record in its page. */
export const offsetOf = (address: number): number => (address - 1) % PAGE

/** Not Buffer.from(), which would take the memory from a pool that other Buffers keep alive. */
function copyOf(record: Buffer): Buffer {
  const page = Buffer.allocUnsafeSlow(record.length)
  record.copy(page)
  return page
}
