// Sets watches again on a new connection, in as many requests as the server's limit needs.
import { xids, type WatchKind } from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import type { ReservedSender } from '../life/credentials.ts'
import type { PersistentMode } from './persistent-watches.ts'

/** @param lastZxid last transaction that this client saw: one-shot watches on what changed since then fire at once */
export function sendSetWatches(
  connection: ReservedSender,
  lastZxid: bigint,
  oneShot: Readonly<Record<WatchKind, string[]>>,
  persistent: Readonly<Record<PersistentMode, string[]>>,
): void {
  for (const { data, exist, children } of batches(oneShot))
    connection.sendReserved(xids.setWatches, operations.setWatches, {
      relativeZxid: lastZxid,
      dataWatches: data,
      existWatches: exist,
      childWatches: children,
    })
  // After the one-shot watches: if both are on one path, the persistent mode must stay.
  for (const { persistent: paths, persistentRecursive } of batches(persistent))
    connection.sendReserved(xids.setWatches, operations.setWatches2, {
      relativeZxid: lastZxid,
      dataWatches: [],
      existWatches: [],
      childWatches: [],
      persistentWatches: paths,
      persistentRecursiveWatches: persistentRecursive,
    })
}

/** The server cuts a connection over jute.maxbuffer, 1 MB by default. Java's client packs this much. */
const BATCH_BYTES = 128 * 1024

/** Cuts lists of paths into as many as fit into one request each, in their order. */
export function batches<Kind extends string>(
  paths: Readonly<Record<Kind, readonly string[]>>,
): Record<Kind, string[]>[] {
  const kinds = Object.keys(paths) as Kind[]
  const empty = () => Object.fromEntries(kinds.map(kind => [kind, []])) as unknown as Record<Kind, string[]>
  const all: Record<Kind, string[]>[] = []
  let batch = empty()
  let bytes = 0
  for (const kind of kinds) {
    for (const path of paths[kind]) {
      const size = 4 + Buffer.byteLength(path)
      if (bytes > 0 && bytes + size > BATCH_BYTES) {
        all.push(batch)
        batch = empty()
        bytes = 0
      }
      batch[kind].push(path)
      bytes += size
    }
  }
  if (bytes > 0) all.push(batch)
  return all
}
