// All codecs, so that no test misses one.
import type { Codec } from '../../src/protocol/jute.ts'
import * as multi from '../../src/protocol/multi.ts'
import * as nodes from '../../src/protocol/node-records.ts'
import * as records from '../../src/protocol/records.ts'

export interface ExportedCodec {
  /** The name of the export. The two legacy records have the same record name as the current ones. */
  exported: string
  codec: Codec<unknown>
}

const codecsOf = (module: Readonly<Record<string, unknown>>): ExportedCodec[] =>
  Object.entries(module).map(([exported, codec]) => ({ exported, codec: codec as Codec<unknown> }))

export const recordCodecs = codecsOf({ ...records, ...nodes })
const multiCodecs = codecsOf(multi)
export const everyCodec: readonly ExportedCodec[] = [...recordCodecs, ...multiCodecs]
