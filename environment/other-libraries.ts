// Curator and kazoo, as Debian's packages provide them.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensureInstalled } from './debian-package.ts'
import { DEBIAN_JARS } from './find-apache-zookeeper.ts'

const jar = (name: string) => join(DEBIAN_JARS, `${name}.jar`)

/** Curator, its dependencies, and ZooKeeper's own recipes. */
export const CURATOR_JARS = ['client', 'framework', 'recipes']
  .map(name => `curator-${name}`)
  .concat('zookeeper-recipes-lock', 'guava', 'slf4j-api', 'netty-all', 'jackson-core', 'jackson-databind')
  .concat('jackson-annotations', 'metrics-core', 'snappy-java')
  .map(jar)

/** The path is absolute, because another python on the PATH may not see Debian's packages. */
export const PYTHON = '/usr/bin/python3'

export const DISCOVERY_JAR = jar('curator-x-discovery')

export async function provideDiscovery(): Promise<void> {
  await provideCurator()
  await ensureInstalled({
    name: "Curator's service discovery",
    package: 'libcurator-discovery-java',
    isInstalled: () => existsSync(DISCOVERY_JAR),
    alternatives: 'install the Debian package libcurator-discovery-java.',
  })
}

/** Installs Curator if it is missing. Call it outside a test's timeout. */
export async function provideCurator(): Promise<void> {
  await ensureInstalled({
    name: 'Apache Curator',
    package: 'libcurator-recipes-java',
    isInstalled: () => existsSync(jar('curator-recipes')) && existsSync(jar('zookeeper-recipes-lock')),
    alternatives: 'install the Debian package libcurator-recipes-java.',
  })
}

export async function provideKazoo(): Promise<void> {
  await ensureInstalled({
    name: 'kazoo',
    package: 'python3-kazoo',
    isInstalled: () =>
      promisify(execFile)(PYTHON, ['-c', 'import kazoo']).then(
        () => true,
        () => false,
      ),
    alternatives: 'install the Debian package python3-kazoo.',
  })
}
