// Bugs of the byte streams: TCP, TLS, memory.
import type { PlantedBug } from '../planted-bug.ts'

const tcp = { file: 'src/transport/tcp.ts', caughtBy: 'test/transport/tcp.test.ts' }
const tls = { file: 'src/transport/tls.ts', caughtBy: 'test/transport/tls.test.ts' }
const mismatch = { file: 'src/transport/tls-mismatch.ts', caughtBy: 'test/transport/tls.test.ts' }
const memory = { file: 'src/transport/memory.ts', caughtBy: 'test/transport/memory.test.ts' }

export const transport: readonly PlantedBug[] = [
  {
    ...tcp,
    bug: 'the client receives the bytes of an earlier chunk after those of a shorter one',
    from: 'if (lastChunk?.length !== length)',
    to: 'if (lastChunk === undefined || lastChunk.length < length)',
  },
  {
    ...tcp,
    bug: 'the reason for which a stream could not be opened is lost',
    from: 'handler.closed(failure)',
    to: 'handler.closed()',
  },
  {
    ...tcp,
    bug: 'only the first address of a name is tried',
    caughtBy: 'test/transport/names.test.ts',
    from: 'autoSelectFamily: true',
    to: 'autoSelectFamily: false',
  },
  {
    ...tcp,
    bug: 'all clients try the addresses of a name in the same order',
    caughtBy: 'test/transport/names.test.ts',
    from: 'random === undefined ? lookup : shuffledLookup(lookup, random)',
    to: 'lookup',
  },
  {
    ...tls,
    bug: 'TLS 1.1 is used if the caller allows it',
    from: "options.minVersion === 'TLSv1.3' ? 'TLSv1.3' : 'TLSv1.2'",
    to: "options.minVersion ?? 'TLSv1.2'",
  },
  {
    ...tls,
    bug: 'an environment variable turns off the verification of certificates',
    from: 'rejectUnauthorized: options.rejectUnauthorized !== false,',
    to: '',
  },
  {
    ...tls,
    bug: 'an invalid certificate is retried until connectTimeout',
    from: 'new PermanentError(`TLS: ${what}`, { cause: error })',
    to: 'new Error(`TLS: ${what}`, { cause: error })',
  },
  {
    ...mismatch,
    bug: 'a client without TLS does not learn that the server requires it',
    from: 'bytes[0] === 21 && bytes[1] === 3',
    to: 'bytes[0] === 22 && bytes[1] === 3',
  },
  {
    ...memory,
    bug: 'a stream in memory is accepted although the client has destroyed it',
    from: 'if (near.isOver) return',
    to: '',
  },
  {
    ...memory,
    bug: 'the other end of a stream in memory is not told of its end',
    from: 'if (this.#peer) this.#peer.#close()',
    to: '',
  },
  {
    bug: 'an IPv6 address in an ACL is not the one that Java writes',
    file: 'src/transport/listen.ts',
    caughtBy: 'test/transport/listen.test.ts',
    from: 'new Array<string>(8 - before.length - after.length)',
    to: 'new Array<string>(7 - before.length)',
  },
]
