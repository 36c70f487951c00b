// The grammar of DIGEST-MD5's messages: RFC 2831, 7.1 and 7.2.
import { SaslError } from './sasl-error.ts'

/**
 * `name=value, name="quoted \" value"` into names, in lower case, and values without quotes. Each byte is a character here, of code 0
 * to 255; what it means in a charset is for the caller to know.
 * @throws SaslError where the bytes are not so, or a name stands twice
 */
export function parseDirectives(bytes: Uint8Array): Map<string, string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const directives = new Map<string, string>()
  let at = 0
  while (at < text.length) {
    DIRECTIVE.lastIndex = at
    const match = DIRECTIVE.exec(text)
    if (match === null) throw new SaslError(`no directive at ${at} of the server's message`)
    at = DIRECTIVE.lastIndex
    const [, name, token, quoted] = match
    // Empty elements of a list are allowed.
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (directives.has(key)) throw new SaslError(`the server's message has ${key} twice`)
    directives.set(key, token ?? (quoted ?? '').replace(/\\([\0-\x7f])/g, '$1'))
  }
  return directives
}

/**
 * One element and the comma behind it, or the end. Every alternative starts with characters that no other takes, so that no text
 * makes the matching go back over it.
 */
const DIRECTIVE =
  /[ \t\r\n]*(?:([!#$%&'*+\-.^_`|~\w]+)[ \t\r\n]*=[ \t\r\n]*(?:([!#$%&'*+\-.^_`|~\w]+)|"((?:[\t\r\n\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\0-\x7f])*)")[ \t\r\n]*)?(?:,|$)/y

/** A value as a quoted string. */
export const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&')}"`
