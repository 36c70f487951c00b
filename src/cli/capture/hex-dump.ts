// Reads the rows of hex dumps with offsets, as xxd, hexdump -C, od and Wireshark print them. Pure.

/** The bytes of one row. */
export interface DumpRow {
  bytes: Buffer
  /** True if the row does not continue the one before it. */
  isNew: boolean
}

/** The most bytes that lines with `*` stand for, in the whole input. */
const MOST_REPEATED = 64 * 1024 * 1024
/** Longer lines are no rows. */
const LONGEST_ROW = 4096

const [OFFSET, PAIR] = ['[\\da-f]', '(?:[\\da-f]{2})']
/** `00000010: 004a 0000  .J..` */
const XXD = new RegExp(`^(${OFFSET}{7,8}): ?(${PAIR}+(?: ${PAIR}+)*)(?: {2,}(.*))?$`, 'i')
/** `00000010  00 4a  |.J|` of hexdump -C, and `0010  00 4a   .J` of Wireshark. */
const HEXDUMP = new RegExp(
  `^(${OFFSET}{4}|${OFFSET}{8}) {2,3}((?:${PAIR} {1,2}){0,15}${PAIR})(?: {2,}(?:\\|(.*)\\||(.*))| *)$`,
  'i',
)
/** `000010 00 4a  >.J<` */
const OD = new RegExp(`^(${OFFSET}{6,7})((?: +${PAIR})+)(?: {2,}>(.*)<)? *$`, 'i')
/** `0000010 4a00 0000`, and numbers in other bases. */
const WORDS = /^[\da-f]{6,7}(?: +[\da-f]+)+ *$/i
/** The numbers of the columns, which Format-Hex of PowerShell prints above them. As a frame, it would lack 66,039 bytes. */
const COLUMNS = /^00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f$/i
const LAST_OFFSET = /^[\da-f]{6,8}$/i
const ADDRESS = /^0x[\da-f]+:\s/i
const TCPDUMP = /^\d\d:\d\d:\d\d\.\d+ /

const INSTEAD = 'use hexdump -C, xxd or od -v -A x -t x1'

/** The rows of one dump so far. */
class Dump {
  readonly #first: string
  /** The bases in which the offsets may be written. */
  #bases: readonly number[]
  #count = 0
  #row: Buffer = Buffer.alloc(0)
  /** True after the line `*`, which stands for rows that repeat the last one. */
  isRepeated = false

  constructor(first: string, isXxd: boolean) {
    this.#first = first
    // xxd -d and od -A d print decimal offsets, and od octal ones if it is not told otherwise.
    this.#bases = isXxd ? [16, 10] : first.length === 7 ? [8, 10] : [16]
  }

  /** Returns how many bytes are left out before an offset, in each way to read it. None if it cannot follow. */
  gapsBefore(offset: string): readonly number[] {
    const gapIn = (base: number) => parseInt(offset, base) - parseInt(this.#first, base) - this.#count
    const isPossible = (gap: number) => gap === 0 || (this.isRepeated && gap > 0 && gap % this.#row.length === 0)
    const bases = this.#bases.filter(base => isPossible(gapIn(base)))
    if (bases.length > 0) this.#bases = bases
    return [...new Set(bases.map(gapIn))]
  }

  /** Adds a row after bytes that were left out. Returns all of them. */
  add(gap: number, row: Buffer): Buffer {
    const bytes = gap === 0 ? row : Buffer.concat([Buffer.alloc(gap, this.#row), row])
    this.#count += bytes.length
    if (row.length > 0) this.#row = row
    this.isRepeated = false
    return bytes
  }
}

export class HexDumps {
  readonly #fail: (problem: string) => never
  /** By what stands before the offsets, because Wireshark indents what the server sends. */
  readonly #dumps = new Map<string, Dump>()
  #last: Dump | undefined
  #repeated = 0

  /** @param fail throws an error that says what is wrong with the line */
  constructor(fail: (problem: string) => never) {
    this.#fail = fail
  }

  /** The next row starts a dump, because something else is before it. */
  end(): void {
    this.#dumps.clear()
    this.#last = undefined
  }

  /**
   * Returns the bytes of a line, or undefined if it is no row of a dump.
   * @param start what stands before the offset, such as spaces
   */
  read(start: string, line: string): DumpRow | undefined {
    if (line.length > LONGEST_ROW) return undefined
    if (line.trimEnd() === '*') {
      if (this.#last === undefined) return this.#fail(`leaves out lines, and no offset says how many: ${INSTEAD}`)
      this.#last.isRepeated = true
      return { bytes: Buffer.alloc(0), isNew: false }
    }
    if (COLUMNS.test(line)) return { bytes: Buffer.alloc(0), isNew: false }
    if (ADDRESS.test(line) || TCPDUMP.test(line))
      this.#fail('is printed by tcpdump or a debugger, and no frame: write a capture by tcpdump -w')
    if (this.#last !== undefined && LAST_OFFSET.test(line)) return this.#rowAt(start, line, Buffer.alloc(0), false)
    const [, offset, pairs, ...texts] = XXD.exec(line) ?? HEXDUMP.exec(line) ?? OD.exec(line) ?? []
    if (offset === undefined || pairs === undefined) {
      if (WORDS.test(line)) this.#fail(`has numbers, and not bytes in hex, as hexdump and od print them: ${INSTEAD}`)
      return undefined
    }
    if (/[\da-f]{5}/i.test(pairs))
      this.#fail(`has groups of more than two bytes, as xxd -e and -b print them: ${INSTEAD}`)
    const bytes = Buffer.from(pairs.replaceAll(' ', ''), 'hex')
    if (!isTextOf(texts.join(''), bytes))
      this.#fail(`has a text that is not that of its bytes, as xxd -e prints them: ${INSTEAD}`)
    return this.#rowAt(start, offset, bytes, line[offset.length] === ':')
  }

  #rowAt(start: string, offset: string, row: Buffer, isXxd: boolean): DumpRow {
    // Only the first row may have a mark.
    let dump = this.#dumps.get(start) ?? (this.#last?.gapsBefore(offset).length === 1 ? this.#last : undefined)
    const [gap, ...otherGaps] = dump?.gapsBefore(offset) ?? []
    if (dump !== undefined && gap === undefined && /[^0]/.test(offset))
      this.#fail(`has the offset ${offset}, which does not follow the row before it`)
    this.#repeated += gap ?? 0
    if (otherGaps.length > 0 || this.#repeated > MOST_REPEATED)
      this.#fail(`follows a line *, which stands for an unknown or too large number of rows: ${INSTEAD}`)
    if (dump === undefined || gap === undefined) {
      if (isPacket(row))
        this.#fail('begins a whole packet, and no frame: copy the bytes of TCP alone, or write a capture by tcpdump -w')
      this.#dumps.set(start, (dump = new Dump(offset, isXxd)))
    }
    const isNew = gap === undefined || this.#last !== dump
    this.#last = dump
    return { bytes: dump.add(gap ?? 0, row), isNew }
  }
}

/** True if the text that stands beside the bytes fits them. A dump has a dot for what cannot be printed. */
const isTextOf = (text: string, bytes: Buffer): boolean =>
  [...bytes.subarray(0, text.length)].every((byte, i) => text[i] === '.' || text.charCodeAt(i) === byte)

/** True if the bytes start as a packet of IP with TCP, or one of Ethernet: as a length of a frame, they would be huge. */
const isPacket = (bytes: Buffer): boolean => isIp(bytes) || isIp(bytes.subarray(14), bytes.toString('hex', 12, 14))

function isIp(bytes: Buffer, type = bytes[0] === 0x45 ? '0800' : '86dd'): boolean {
  const version = (bytes[0] ?? 0) >> 4
  return (type === '0800' && version === 4) || (type === '86dd' && version === 6)
}
