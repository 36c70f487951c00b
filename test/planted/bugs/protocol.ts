// Bugs of the protocol: Jute, frames, paths, errors, explain().
import type { PlantedBug } from '../planted-bug.ts'

const reader = { file: 'src/protocol/reader.ts', caughtBy: 'test/protocol/jute.test.ts' }
const writer = { file: 'src/protocol/writer.ts', caughtBy: 'test/protocol/jute.test.ts' }
const frames = { file: 'src/protocol/frames.ts', caughtBy: 'test/protocol/frames.test.ts' }
const paths = { file: 'src/protocol/paths.ts', caughtBy: 'test/protocol/paths.test.ts' }
const multi = { file: 'src/protocol/multi.ts', caughtBy: 'test/protocol/golden.test.ts' }
const errors = { file: 'src/protocol/errors.ts', caughtBy: 'test/protocol/errors.test.ts' }
const annotator = { file: 'src/protocol/annotator.ts', caughtBy: 'test/protocol/explain.test.ts' }
const options = { file: 'src/protocol/option-checks.ts', caughtBy: 'test/client/interface.test.ts' }

export const protocol: readonly PlantedBug[] = [
  {
    ...reader,
    bug: 'a false number of elements makes the reader allocate gigabytes',
    from: 'count < 0 || count * minimumSize > this.remaining',
    to: 'count < 0',
  },
  {
    ...reader,
    bug: 'data changes when the socket reads the next bytes',
    from: 'this.#ownLength > 0 && 2 * length > this.#ownLength',
    to: '2 * length > this.#ownLength',
  },
  {
    ...reader,
    bug: 'a byte that is not UTF-8 is read as the character of the string before',
    from: 'if (text.length === this.#offset - at) this.#lastAscii = text',
    to: 'this.#lastAscii = text',
  },
  {
    ...reader,
    bug: 'a path that differs from the one before in its first character only is read as that one',
    from: 'while (i > 0) if',
    to: 'while (i > 1) if',
  },
  {
    ...reader,
    bug: 'empty data is read as null',
    from: 'this.#view.getInt32(this.#offset) !== -1',
    to: 'this.#view.getInt32(this.#offset) > 0',
  },
  {
    ...reader,
    bug: 'a time is wrong for every second 25 days',
    from: 'this.#view.getUint32(at + 4)',
    to: 'this.#view.getInt32(at + 4)',
  },
  {
    ...reader,
    bug: 'names that are not ASCII are cut at the wrong places',
    from: 'text.length === this.#offset - start',
    to: 'text.length > 0',
  },
  {
    ...reader,
    bug: 'a record that is cut is filled with bytes of the next frame',
    from: 'if (length > this.#end - at)',
    to: 'if (length > this.#view.byteLength - at)',
  },
  {
    ...writer,
    bug: 'a request that is too long leaves a part of itself before the next one',
    caughtBy: 'test/session/requests/limits.test.ts',
    from: 'this.truncate(before)',
    to: '',
  },
  {
    ...writer,
    bug: 'a write is overwritten by the next one before the socket has sent it',
    from: 'sharedSlab.offset = this.#offset',
    to: 'sharedSlab.offset = this.#start',
  },
  {
    ...writer,
    bug: 'half a surrogate pair in a name is stored as another character',
    from: "if (!value.isWellFormed()) throw new JuteError('a string with half a surrogate pair has no UTF-8 form')",
    to: '',
  },
  {
    ...writer,
    bug: 'a Latin-1 name is written as one byte for each character',
    from: 'if (character > 0x7f) return false',
    to: 'if (character > 0xff) return false',
  },
  {
    ...frames,
    bug: 'a false length allocates the whole announced frame at once',
    from: '#partial ??= Buffer.allocUnsafeSlow(Math.min(this.#length, FIRST_ALLOCATION))',
    to: '#partial ??= Buffer.allocUnsafeSlow(this.#length)',
  },
  {
    ...frames,
    bug: 'an empty frame is delivered only with the next bytes',
    from: 'if (this.#prefixed < 4) continue',
    to: 'if (at === chunk.length) continue',
  },
  {
    ...frames,
    bug: 'bytes after a wrong length are read as frames',
    from: 'if (this.#failure !== undefined) throw this.#failure\n    let at = 0',
    to: 'let at = 0',
  },
  {
    ...paths,
    bug: 'the parent of a node below the root is the empty path',
    from: "path.slice(0, Math.max(1, path.lastIndexOf('/')))",
    to: "path.slice(0, path.lastIndexOf('/'))",
  },
  {
    ...paths,
    bug: 'a path with two slashes is sent, and the server closes the connection',
    from: 'if (i === nodeStart) return',
    to: 'if (i < nodeStart) return',
  },
  {
    ...paths,
    bug: 'a path that leaves the root by .. is sent',
    from: 'end === start + 2 && path.charCodeAt(start + 1) === DOT',
    to: 'end === start + 2 && path.charCodeAt(start + 2) === DOT',
  },
  {
    ...multi,
    bug: 'the list of a multi does not end as the server expects',
    from: 'MultiHeader.write(writer, { type: -1, done: true, err: -1 })',
    to: 'MultiHeader.write(writer, { type: -1, done: true, err: 0 })',
  },
  {
    ...errors,
    bug: 'the number of an unknown error is lost',
    from: 'errno ?? (code in serverErrors',
    to: '(code in serverErrors',
  },
  {
    ...annotator,
    bug: 'explain() shows the token of a SASL exchange',
    from: '/(^|\\.)(passwd|auth|token|rest)$/',
    to: '/(^|\\.)(passwd|auth|rest)$/',
  },
  {
    ...annotator,
    bug: 'a name with a line break forges a second line of the trace',
    from: 'name.search(UNPRINTABLE) === -1 ? name : quoted(name)',
    to: 'name',
  },
  {
    ...options,
    bug: 'a misspelt option is ignored',
    from: '!Object.hasOwn(checks, name) && given[name] !== undefined',
    to: '!Object.hasOwn(checks, name) && given[name] === null',
  },
  {
    ...options,
    bug: 'an invalid option from an instance of a class is ignored',
    caughtBy: 'test/client/validation.test.ts',
    from: 'const value = given[name]\n',
    to: 'const value = Object.hasOwn(given, name) ? given[name] : undefined\n',
  },
  {
    bug: 'JSON rounds the 64-bit numbers of a Stat',
    file: 'src/protocol/json.ts',
    caughtBy: 'test/client/interface.test.ts',
    from: "typeof value === 'bigint' ? String(value) : value",
    to: "typeof value === 'bigint' ? Number(value) : value",
  },
  {
    bug: 'session ids above 2^63 are shown as negative numbers',
    file: 'src/protocol/hex.ts',
    caughtBy: 'test/protocol/explain.test.ts',
    from: 'BigInt.asUintN(64, id)',
    to: 'id',
  },
]
