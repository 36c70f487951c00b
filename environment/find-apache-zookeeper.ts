// Finds Apache ZooKeeper on this machine and returns its Java class path.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { notFound, ensureInstalled } from './debian-package.ts'
import { DEBIAN_JARS, zookeeper } from './needs.ts'

/** The manifest of Debian's zookeeper.jar lists most dependencies, but not all of netty (for TLS), and no logger. */
const NETTY = ['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'].map(name => `netty-${name}`)
const DEBIAN_CLASS_PATH = ['zookeeper', ...NETTY, 'slf4j-simple']
  .map(name => join(DEBIAN_JARS, `${name}.jar`))
  .join(':')

let found: Promise<string> | undefined

/**
 * Returns a class path with Apache ZooKeeper: from `ZOOKEEPER_HOME`, or from the Debian package, which is installed if
 * the process runs as root. The result is cached.
 */
export const findApacheZooKeeper = (): Promise<string> => (found ??= find())

async function find(): Promise<string> {
  const home = process.env['ZOOKEEPER_HOME']
  if (home) return distribution(home)
  await ensureInstalled(zookeeper)
  return DEBIAN_CLASS_PATH
}

/**
 * Returns the class path of a binary distribution. It includes `conf`, because logback without configuration logs
 * everything.
 */
export function distribution(home: string): string {
  const lib = join(home, 'lib')
  const jars = existsSync(lib) ? readdirSync(lib).filter(name => name.endsWith('.jar')) : []
  if (!jars.some(name => /^zookeeper-\d/.test(name)))
    throw notFound(zookeeper, `ZOOKEEPER_HOME is ${home}, which has no lib/zookeeper-*.jar`)
  return [join(home, 'conf'), ...jars.map(name => join(lib, name))].join(':')
}
