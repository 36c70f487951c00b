// Describes a frame in words and fields, as the library does.
import { explain, type Explanation } from '../../src/protocol/entry.ts'
import type { WireFrame } from './wire-frame.ts'

export const explanationOf = ({ bytes, direction, kind, opcode }: WireFrame): Explanation =>
  explain(bytes, {
    from: direction === 'up' ? 'client' : 'server',
    first: kind === 'connect',
    opcode,
  })
