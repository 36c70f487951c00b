// Whether two reads, which may be of two sessions, have found the same node and the same data. Pure functions.
import type { Stat } from '../../protocol/index.ts'

/**
 * Returns true if both are of one node, and not of one that was created after the other was deleted. The zxid alone does
 * not tell: an ensemble that was wiped, and filled again by the same program, has the same zxids again.
 */
export const isSameNode = (a: Stat, b: Stat): boolean =>
  a.czxid === b.czxid && a.ctime === b.ctime && a.ephemeralOwner === b.ephemeralOwner

/**
 * Returns true if both are of one node with the same data.
 * @param isSameData compares the data; returns undefined if it was not kept
 */
export const isSameState = (a: Stat, b: Stat, isSameData: () => boolean | undefined): boolean =>
  isSameNode(a, b) &&
  a.mzxid === b.mzxid &&
  a.version === b.version &&
  // The time only without the data, because each server sets its own mtime of /zookeeper/config
  // (ZKDatabase.initConfigInZKDatabase).
  (isSameData() ?? a.mtime === b.mtime)

type Bytes = Buffer | null | undefined

/** Compares the data of two nodes. Returns undefined if that of one is undefined, because it was not kept. */
export function isSameData(a: Bytes, b: Bytes): boolean | undefined {
  if (a === undefined || b === undefined) return undefined
  return a === null || b === null ? a === b : a.equals(b)
}
