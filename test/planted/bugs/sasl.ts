// Bugs of DIGEST-MD5.
import type { PlantedBug } from '../planted-bug.ts'

const digest = { file: 'src/sasl/digest-md5.ts', caughtBy: 'test/sasl/digest-md5.test.ts' }
const directives = { file: 'src/sasl/directives.ts', caughtBy: 'test/sasl/digest-md5.test.ts' }

export const sasl: readonly PlantedBug[] = [
  {
    ...digest,
    bug: 'a server that does not know the password is trusted',
    from: "rspauth === undefined || !isSameSecret(Buffer.from(rspauth, 'latin1'), expected)",
    to: 'rspauth === undefined',
  },
  {
    ...digest,
    file: 'src/sasl/digest-proof.ts',
    bug: 'a password with umlauts is hashed in UTF-8, and the server refuses it',
    from: 'if (/^[\\0-\\xff]*$/.test(text)) return latin1(text)',
    to: 'if (/^[\\0-\\x7f]*$/.test(text)) return latin1(text)',
  },
  {
    ...digest,
    bug: 'a server that offers only encryption gets a response without it',
    from: "if (!qop.some(each => each.trim() === 'auth')) throw",
    to: "if (!qop.some(each => each.trim().startsWith('auth'))) throw",
  },
  {
    ...digest,
    bug: 'a server can exhaust the client by a long challenge',
    from: 'bytes.length > LONGEST_CHALLENGE',
    to: 'bytes.length > 16 * LONGEST_CHALLENGE * LONGEST_CHALLENGE',
  },
  {
    ...digest,
    bug: 'the nonce of the client is half as long as it should be',
    from: 'Array.from({ length: 4 }',
    to: 'Array.from({ length: 2 }',
  },
  {
    ...directives,
    bug: 'a realm with a quotation mark breaks the response',
    from: "value.replace(/[\"\\\\]/g, '\\\\$&')",
    to: 'value',
  },
  {
    ...directives,
    bug: 'a server can replace the nonce by a second one',
    from: "if (directives.has(key)) throw new SaslError(`the server's message has ${key} twice`)",
    to: '',
  },
]
