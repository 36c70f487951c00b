// Describes a frame in words and fields, as the library does, which writes the xid as "#4".
import { explain, type Explanation } from '../../src/protocol/entry.ts'
import type { WireFrame } from './wire-frame.ts'

export function explanationOf({ bytes, direction, kind, opcode }: WireFrame): Explanation {
  const { sentence, ...rest } = explain(bytes, {
    from: direction === 'up' ? 'client' : 'server',
    first: kind === 'connect',
    opcode,
  })
  // On the stage, "client #4" would be the client with the number 4.
  return { ...rest, sentence: sentence.replace(/^(client|server answers) #(-?\d+)/, '$1, xid $2:') }
}
