// The installations of Apache ZooKeeper to test.
import { basename } from 'node:path'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { zookeeperVersions, type OtherVersion } from '../../environment/needs.ts'
import { layOut } from '../../environment/zookeeper-versions.ts'

export interface Installation {
  name: string
  /** Whether the suite fails if the installation cannot be had; otherwise it says so and skips the tests. */
  isRequired: boolean
  /** Provides the installation. Resolves with the directory of the distribution; undefined for Debian's own package. */
  provide: () => Promise<string | undefined>
}

const list = (variable = '', separator: string): string[] => variable.split(separator).filter(each => each !== '')

const isOther = (version: string): version is OtherVersion => Object.hasOwn(zookeeperVersions, version)

const installed: Installation = {
  name: 'Debian’s Apache ZooKeeper',
  isRequired: true,
  provide: () => findApacheZooKeeper().then(() => undefined),
}

const other = (version: OtherVersion, isRequired: boolean): Installation => ({
  name: `Apache ZooKeeper ${version}`,
  isRequired,
  provide: () => layOut(version),
})

/**
 * Returns the installations that `ZOOKEEPER_HOMES` names, which are separated by colons; else the versions that
 * `ZOOKEEPER_VERSIONS` names, which are separated by commas; else all that Debian has.
 * @throws Error if Debian does not have a version
 */
export function homes({ ZOOKEEPER_HOMES, ZOOKEEPER_VERSIONS }: NodeJS.ProcessEnv): Installation[] {
  const named = list(ZOOKEEPER_HOMES, ':')
  if (named.length > 0)
    return named.map(home => ({
      name: `Apache ZooKeeper of ${basename(home)}`,
      isRequired: true,
      provide: () => Promise.resolve(home),
    }))
  const versions = list(ZOOKEEPER_VERSIONS, ',')
  if (versions.length === 0)
    return [
      installed,
      ...Object.keys(zookeeperVersions)
        .filter(isOther)
        .map(version => other(version, false)),
    ]
  return versions.map(version => {
    if (version === 'debian') return installed
    if (isOther(version)) return other(version, true)
    const known = ['debian', ...Object.keys(zookeeperVersions)].join(', ')
    throw new Error(
      `ZOOKEEPER_VERSIONS has ${version}, which Debian does not have: take some of ${known}, separated by commas`,
    )
  })
}
