// The versions of Apache ZooKeeper that the embedded server can copy, and what clients see of their differences.

/** What differs between versions. */
export interface Behaviour {
  /** The reply to a multi contains the Stat of each create2 (ZOOKEEPER-4026). */
  readonly statInMulti: boolean
  /** exists requires the READ permission of a node that exists (ZOOKEEPER-2590). */
  readonly existsNeedsRead: boolean
  /** A check outside a multi is an unknown operation (ZOOKEEPER-2623). Before, a successful one has no reply. */
  readonly checkOnlyInMulti: boolean
  /**
   * A connection can have watches of several kinds on one path, and removes each kind by its own type. Before, a later
   * watch replaces the one before (ZOOKEEPER-4466, ZOOKEEPER-4471).
   */
  readonly separateWatches: boolean
  /** The header of an event has the zxid of its transaction (ZOOKEEPER-4655). */
  readonly zxidInEvents: boolean
  /** setWatches sends no event of a node that the client may not read (seen on 3.9.6). */
  readonly replayNeedsRead: boolean
}

/** For each change, the first version with it on the branches 3.8 and 3.9. */
const firstVersions: Readonly<Record<keyof Behaviour, readonly [patchOf38: number, patchOf39: number]>> = {
  statInMulti: [2, 0],
  existsNeedsRead: [4, 2],
  checkOnlyInMulti: [5, 3],
  separateWatches: [Infinity, 0],
  zxidInEvents: [Infinity, 0],
  replayNeedsRead: [Infinity, 6],
}

const VERSION = /^3\.([89])\.(\d{1,2})$/

export const isVersion = (version: unknown): boolean => typeof version === 'string' && VERSION.test(version)

/** @param version such as '3.9.5' */
export function behaviourOf(version: string): Behaviour {
  const [, minor, patch] = VERSION.exec(version) ?? []
  const has = (change: keyof Behaviour) => Number(patch) >= firstVersions[change][minor === '8' ? 0 : 1]
  return {
    statInMulti: has('statInMulti'),
    existsNeedsRead: has('existsNeedsRead'),
    checkOnlyInMulti: has('checkOnlyInMulti'),
    separateWatches: has('separateWatches'),
    zxidInEvents: has('zxidInEvents'),
    replayNeedsRead: has('replayNeedsRead'),
  }
}
