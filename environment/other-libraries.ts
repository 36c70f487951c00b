// Curator and kazoo, as Debian's packages provide them.
import { join } from 'node:path'
import { ensureInstalled } from './debian-package.ts'
import { curator, curatorDiscovery, DEBIAN_JARS, kazoo } from './needs.ts'

const jar = (name: string) => join(DEBIAN_JARS, `${name}.jar`)

/** Curator, its dependencies, and ZooKeeper's own recipes. */
export const CURATOR_JARS = ['client', 'framework', 'recipes']
  .map(name => `curator-${name}`)
  .concat('zookeeper-recipes-lock', 'guava', 'slf4j-api', 'netty-all', 'jackson-core', 'jackson-databind')
  .concat('jackson-annotations', 'metrics-core', 'snappy-java')
  .map(jar)

export const DISCOVERY_JAR = jar('curator-x-discovery')

export async function provideDiscovery(): Promise<void> {
  await provideCurator()
  await ensureInstalled(curatorDiscovery)
}

/** Installs Curator if it is missing. Call it outside a test's timeout. */
export const provideCurator = (): Promise<void> => ensureInstalled(curator)

export const provideKazoo = (): Promise<void> => ensureInstalled(kazoo)
