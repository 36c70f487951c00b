// Sets watches again on a new connection, in as many requests as the size limit of servers requires.
import { xids, type WatchKind } from '../../protocol/index.ts'
import * as operations from '../../protocol/operations.ts'
import type { ReservedSender } from '../life/credentials.ts'
import type { PersistentMode } from './persistent-watches.ts'

/**
 * Sends requests that set the watches again.
 * @param lastZxid last transaction that this client has seen. One-shot watches fire at once if their node has changed
 * since then
 */
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
  // Sent after the one-shot watches. If both are on one path, the persistent mode must be the last one.
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

/**
 * The most bytes of paths in one request. The server closes the connection if a request is longer than
 * jute.maxbuffer, by default 1 MB. Java's client uses this size.
 */
const BATCH_BYTES = 128 * 1024

/** Splits lists of paths into batches that each fit into one request, in their order. */
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
