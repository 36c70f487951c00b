// Versions of Apache ZooKeeper, for what is true of some of them only.

const numbersOf = (version: string): number[] => version.split('.').map(Number)

/** Returns the version that the reply to `srvr` names, such as 3.8.0. A snapshot counts as its release. */
export function versionIn(reply: string): string {
  const version = /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(reply)?.[1]
  if (version === undefined) throw new Error(`no version in ${reply}`)
  return version
}

/** Changes of ZooKeeper that a client can see, each with the first version of every branch that has it. */
const changes = {
  'creates with a Stat, containers, removal of watches, TLS': ['3.5.0'],
  'persistent watches, multiRead, getEphemerals, getAllChildrenNumber': ['3.6.0'],
  whoAmI: ['3.7.0'],
  /** A session that may not read a node gets no events of it. Debian's 3.8.0 has the fix of 3.8.4. */
  'CVE-2024-23944': ['3.8.0', '3.9.2'],
  /** A create in a multi is answered with its Stat. */
  'ZOOKEEPER-4026': ['3.7.2', '3.8.2', '3.9.0'],
  /** exists needs the READ permission. */
  'ZOOKEEPER-2590': ['3.8.4', '3.9.2'],
  /** A check outside a multi closes the connection. */
  'ZOOKEEPER-2623': ['3.8.5', '3.9.3'],
  /** A session can have watches of several kinds on one path. */
  'ZOOKEEPER-4466': ['3.9.0'],
  /** checkWatches looks for the watches of the caller only. */
  'ZOOKEEPER-4471': ['3.9.0'],
  /** A snapshot ends with the last zxid. */
  'ZOOKEEPER-4570': ['3.9.0'],
  /** Events have the zxid of their transaction. */
  'ZOOKEEPER-4655': ['3.9.0'],
  /** setWatches sends no event of a node that the session may not read. */
  'setWatches needs READ': ['3.9.6'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Change = keyof typeof changes

export const has = (version: string, change: Change): boolean => hasChange(version, ...changes[change])

export function isAtLeast(version: string, minimum: string): boolean {
  const [mine, other] = [numbersOf(version), numbersOf(minimum)]
  const differing = mine.findIndex((number, i) => number !== (other[i] ?? 0))
  return differing === -1 || (mine[differing] ?? 0) > (other[differing] ?? 0)
}

/**
 * Returns true if a version has a change.
 * @param firsts the first version of each branch that has the change, in ascending order
 */
export function hasChange(version: string, ...firsts: readonly string[]): boolean {
  const branchOf = (each: string) => numbersOf(each).slice(0, 2).join('.')
  const own = firsts.find(first => branchOf(first) === branchOf(version)) ?? firsts.at(-1) ?? version
  return isAtLeast(version, own)
}
