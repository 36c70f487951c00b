// Describes a frame in words and fields, as the library does, which writes the xid as "#4".
import { explain, type Explanation } from '../../src/protocol/entry.ts'
import type { WireFrame } from './wire-frame.ts'

export function explanationOf({
  bytes,
  direction,
  kind,
  opcode,
  told,
}: WireFrame): Pick<Explanation, 'sentence' | 'dump'> {
  const { sentence, dump } =
    told ??
    explain(bytes, {
      from: direction === 'up' ? 'client' : 'server',
      first: kind === 'connect',
      opcode,
    })
  // On the stage, "client #4" would be the client with the number 4.
  return { dump, sentence: sentence.replace(/^(client|server answers) #(-?\d+)/, '$1, xid $2:') }
}
