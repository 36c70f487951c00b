// The grammar of DIGEST-MD5 messages (RFC 2831, 7.1 and 7.2).
import { SaslError } from './sasl-error.ts'

/**
 * Parses `name=value, name="quoted \" value"` into a map from lower-case names to unquoted values. Each byte becomes
 * one character with a code from 0 to 255; the caller applies the charset.
 * @throws SaslError if the bytes do not match the grammar, or a name occurs twice
 */
export function parseDirectives(bytes: Uint8Array): Map<string, string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const directives = new Map<string, string>()
  let at = 0
  while (at < text.length) {
    DIRECTIVE.lastIndex = at
    const match = DIRECTIVE.exec(text)
    if (match === null) throw new SaslError(`the server's message has no directive at index ${at}`)
    at = DIRECTIVE.lastIndex
    const [, name, token, quoted] = match
    // Empty list elements are allowed.
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (directives.has(key)) throw new SaslError(`the server's message has ${key} twice`)
    directives.set(key, token ?? (quoted ?? '').replace(/\\([\0-\x7f])/g, '$1'))
  }
  return directives
}

/**
 * Matches one element and the comma or the end of the text after it. No two alternatives start with the same character,
 * so matching never backtracks.
 */
const DIRECTIVE =
  /[ \t\r\n]*(?:([!#$%&'*+\-.^_`|~\w]+)[ \t\r\n]*=[ \t\r\n]*(?:([!#$%&'*+\-.^_`|~\w]+)|"((?:[\t\r\n\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\0-\x7f])*)")[ \t\r\n]*)?(?:,|$)/y

/** Returns a value as a quoted string. */
export const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&')}"`
