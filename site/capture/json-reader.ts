// Reads what `zkwire trace --json`, `zkwire explain --json` and `zkwire judge --save` write: an object in each line.
import { FileError, type FileReader, type Row, type Rows } from './row.ts'

/** The longest line, in characters. */
const LONGEST = 16 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

export class JsonReader implements FileReader {
  frames = 0
  readonly #rows: Row[] = []
  readonly #about: string[] = []
  readonly #decoder = new TextDecoder()
  #rest = ''
  #line = 0
  #isDamaged = false

  push(bytes: Buffer): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > LONGEST) throw new FileError(`Line ${this.#line + 1} is too long for a trace.`)
    for (const line of lines) {
      this.#line++
      const fields = fieldsOf(line)
      if (this.#isDamaged || line.trim() === '') continue
      if (fields !== undefined) this.#add(fields)
      else if (this.#rows.length === 0) throw new FileError(`Line ${this.#line} is not an object of JSON. ${EACH_LINE}`)
      else {
        this.#isDamaged = true
        this.#about.push(`Line ${this.#line} is not an object of JSON. Only the lines before it are shown.`)
      }
    }
  }

  end(isCut: boolean): Omit<Rows, 'isCut'> {
    if (isCut) return { rows: this.#rows, about: this.#about }
    const last = this.#isDamaged ? undefined : fieldsOf(this.#rest)
    this.#line++
    if (last !== undefined) this.#add(last)
    else if (!this.#isDamaged && this.#rest.trim() !== '')
      this.#about.push('The last line of the file is not whole, so it is left out.')
    return { rows: this.#rows, about: this.#about }
  }

  #add(fields: Fields): void {
    const { about, rows } = fields
    if (isList(about, isText)) {
      this.#about.push(...about)
      return
    }
    if (Array.isArray(rows)) throw new FileError(rows.length > 0 ? SUMMARIES : `Line ${this.#line} has no frame.`)
    const row = rowOf(fields)
    if (row === undefined) throw new FileError(`Line ${this.#line} ${PARTS}`)
    if (row.op !== undefined) this.frames++
    this.#rows.push(row)
  }
}

const SUMMARIES =
  'The file has a table or a verdict in place of frames. Leave out --top of zkwire trace, or write the file with zkwire judge --save FILE.'
const EACH_LINE = 'Each line of zkwire trace --json is one: trace it again, or open another file.'
const PARTS =
  'has no time, no connection or no sentence, as each line of zkwire trace --json has. Frames that were given in hex cannot be played.'

function fieldsOf(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown): value is number => isNumber(value) && Number.isInteger(value) && value > 0

const isList = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem)

/** Returns the line, or undefined if it lacks what each line has. Drops what is not known, or is of another type. */
function rowOf(fields: Fields): Row | undefined {
  const { seconds, connection, copy, holders, xid, bytes } = fields
  const text = (name: string) => (isText(fields[name]) ? fields[name] : undefined)
  const from = text('from')
  const row: Row = {
    seconds: isNumber(seconds) ? Math.max(0, seconds) : 0,
    sentence: text('sentence') ?? '',
    connection: isCount(connection) ? connection : undefined,
    from: from === 'client' || from === 'server' ? from : undefined,
    op: text('op'),
    xid: isNumber(xid) ? xid : undefined,
    dump: text('dump'),
    bytes: isText(bytes) ? bytesOf(bytes) : undefined,
    ...{ client: text('client'), server: text('server') },
    joined: fields['joined'] === true || undefined,
    closed: fields['closed'] === true || undefined,
    copy: isCount(copy) ? copy : undefined,
    ...{ says: text('says'), judge: text('judge') },
    holders: isList(holders, isCount) ? holders : undefined,
  }
  const isSaid = row.copy !== undefined && (row.says ?? row.judge) !== undefined
  return isNumber(seconds) && (isSaid || (row.connection !== undefined && row.sentence !== '')) ? row : undefined
}

/** Returns undefined if the text is not a whole frame in hex, with its length. */
function bytesOf(text: string): Uint8Array | undefined {
  if (!/^([0-9a-f]{2}){8,}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'hex')
  return bytes.readInt32BE(0) === bytes.length - 4 ? bytes : undefined
}
