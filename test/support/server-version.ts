// Versions of Apache ZooKeeper, for what is true of some of them only.

const numbersOf = (version: string): number[] => version.split('.').map(Number)

/** Returns the version that the reply to `srvr` names, such as 3.8.0. A snapshot counts as its release. */
export function versionIn(reply: string): string {
  const version = /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(reply)?.[1]
  if (version === undefined) throw new Error(`no version in ${reply}`)
  return version
}

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
