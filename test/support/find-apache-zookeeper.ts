// Where Apache ZooKeeper is on this machine, as a Java class path.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { notFound, ensureInstalled } from './debian-package.ts'

export const DEBIAN_JARS = '/usr/share/java'

/** Debian's zookeeper.jar names most of what it needs itself; not all of netty, for TLS, nor a logger. */
const NETTY = ['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'].map(name => `netty-${name}`)
const DEBIAN_CLASS_PATH = ['zookeeper', ...NETTY, 'slf4j-simple']
  .map(name => join(DEBIAN_JARS, `${name}.jar`))
  .join(':')

const zookeeper = {
  name: 'Apache ZooKeeper',
  package: 'zookeeper',
  isInstalled: () => existsSync(join(DEBIAN_JARS, 'zookeeper.jar')),
  alternatives:
    'point ZOOKEEPER_HOME at an unpacked binary distribution; install the Debian package zookeeper; for the benchmark, ' +
    'name a running server with --server host:port.',
}

let found: Promise<string> | undefined

/**
 * A class path with Apache ZooKeeper on it: of `ZOOKEEPER_HOME`, or of the Debian package, which root gets installed.
 * Looked for once.
 */
export const findApacheZooKeeper = (): Promise<string> => (found ??= find())

async function find(): Promise<string> {
  const home = process.env['ZOOKEEPER_HOME']
  if (home) return distribution(home)
  await ensureInstalled(zookeeper)
  return DEBIAN_CLASS_PATH
}

/** The class path of a binary distribution. `conf` is on it since logback without configuration logs everything. */
export function distribution(home: string): string {
  const lib = join(home, 'lib')
  const jars = existsSync(lib) ? readdirSync(lib).filter(name => name.endsWith('.jar')) : []
  if (!jars.some(name => /^zookeeper-\d/.test(name)))
    throw notFound(zookeeper, `ZOOKEEPER_HOME is ${home}, and there is no lib/zookeeper-*.jar in it`)
  return [join(home, 'conf'), ...jars.map(name => join(lib, name))].join(':')
}
