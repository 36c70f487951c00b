// The versions of Apache ZooKeeper and ClickHouse Keeper that the embedded server can copy, and what clients see of their
// differences.
import { opcodes } from '../../protocol/index.ts'

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
  /** The version of ClickHouse Keeper; undefined for Apache ZooKeeper. */
  readonly keeper: string | undefined
  /** The operations at which the server closes the connection without a reply, by their opcodes. */
  readonly dropped: ReadonlySet<number>
}

/** The differences between versions of Apache ZooKeeper. */
type Change = Exclude<keyof Behaviour, 'keeper' | 'dropped'>

/** For each change, the first version with it on the branches 3.8 and 3.9. */
const firstVersions: Readonly<Record<Change, readonly [patchOf38: number, patchOf39: number]>> = {
  statInMulti: [2, 0],
  existsNeedsRead: [4, 2],
  checkOnlyInMulti: [5, 3],
  separateWatches: [Infinity, 0],
  zxidInEvents: [Infinity, 0],
  replayNeedsRead: [Infinity, 6],
}

const VERSION = /^3\.([89])\.(\d{1,2})$/

export const isVersion = (version: unknown): boolean => typeof version === 'string' && VERSION.test(version)

/** The operations that ClickHouse Keeper did not always know, with the first version that does (ZooKeeperConstants.h). */
const firstKeepers: Readonly<Partial<Record<keyof typeof opcodes, string>>> = {
  ...{ create2: '25.12', checkWatches: '25.12', removeWatches: '25.12' },
  ...{ setWatches: '25.12', setWatches2: '25.12', addWatch: '25.12' },
  ...{ createContainer: '26.7', createTTL: '26.6' },
  ...{ sasl: '', getEphemerals: '', getAllChildrenNumber: '', whoAmI: '' },
}

const KEEPER = /^(\d\d)\.(\d{1,2})$/

export const isKeeper = (version: unknown): boolean => typeof version === 'string' && KEEPER.test(version)

/**
 * Returns true if a version of ClickHouse Keeper comes before another one.
 * @param other '' for one that is yet to come
 */
export function isBefore(keeper: string, other: string): boolean {
  const numberOf = (version: string) => {
    const [, year, release] = KEEPER.exec(version) ?? ['', 'Infinity', '0']
    return Number(year) * 100 + Number(release)
  }
  return numberOf(keeper) < numberOf(other)
}

function droppedBy(keeper: string): ReadonlySet<number> {
  const names = Object.keys(firstKeepers) as (keyof typeof opcodes)[]
  return new Set(names.filter(name => isBefore(keeper, firstKeepers[name] ?? '')).map(name => opcodes[name]))
}

const NONE: ReadonlySet<number> = new Set()

/**
 * @param version of Apache ZooKeeper, such as '3.9.5'
 * @param keeper a version of ClickHouse Keeper, such as '25.8'; '' for Apache ZooKeeper
 */
export function behaviourOf(version: string, keeper = ''): Behaviour {
  const [, minor, patch] = VERSION.exec(version) ?? []
  const has = (change: Change) => Number(patch) >= firstVersions[change][minor === '8' ? 0 : 1]
  return {
    statInMulti: has('statInMulti'),
    existsNeedsRead: has('existsNeedsRead'),
    checkOnlyInMulti: has('checkOnlyInMulti'),
    separateWatches: has('separateWatches'),
    zxidInEvents: has('zxidInEvents'),
    replayNeedsRead: has('replayNeedsRead'),
    keeper: keeper === '' ? undefined : keeper,
    dropped: keeper === '' ? NONE : droppedBy(keeper),
  }
}
