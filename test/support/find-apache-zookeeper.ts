// Where Apache ZooKeeper is on this machine, as a Java class path.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const DEBIAN_JARS = '/usr/share/java'

/** Debian's zookeeper.jar names most of what it needs itself; not all of netty, for TLS, nor a logger. */
const NETTY = ['buffer', 'codec', 'common', 'handler', 'resolver', 'transport'].map(name => `netty-${name}`)
const DEBIAN_CLASS_PATH = ['zookeeper', ...NETTY, 'slf4j-simple']
  .map(name => join(DEBIAN_JARS, `${name}.jar`))
  .join(':')

let found: Promise<string> | undefined

/**
 * A class path with Apache ZooKeeper on it: of `ZOOKEEPER_HOME`, or of the Debian package, which root gets installed.
 * Looked for once.
 */
export const findApacheZooKeeper = (): Promise<string> => (found ??= find())

async function find(): Promise<string> {
  const home = process.env['ZOOKEEPER_HOME']
  if (home) return distribution(home)
  if (!isInstalled()) await install()
  return DEBIAN_CLASS_PATH
}

const isInstalled = () => existsSync(join(DEBIAN_JARS, 'zookeeper.jar'))

/** The class path of a binary distribution. `conf` is on it since logback without configuration logs everything. */
export function distribution(home: string): string {
  const lib = join(home, 'lib')
  const jars = existsSync(lib) ? readdirSync(lib).filter(name => name.endsWith('.jar')) : []
  if (!jars.some(name => /^zookeeper-\d/.test(name)))
    throw missing(`ZOOKEEPER_HOME is ${home}, and there is no lib/zookeeper-*.jar in it`)
  return [join(home, 'conf'), ...jars.map(name => join(lib, name))].join(':')
}

async function install(): Promise<void> {
  if (process.getuid?.() !== 0) throw missing('it is not on this machine, and only root can install it')
  if (!existsSync('/usr/bin/apt-get')) throw missing('it is not on this machine, and there is no apt-get to install it')
  process.stderr.write('Apache ZooKeeper is missing: installing the Debian package zookeeper with apt-get\n')
  await aptGet('update')
  await aptGet('install', '-y', '--no-install-recommends', 'zookeeper')
  if (!isInstalled()) throw missing(`the package zookeeper put no zookeeper.jar into ${DEBIAN_JARS}`)
}

/** Two runs that install at once wait for each other. */
function aptGet(...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve()
      else reject(missing(`apt-get ${args.join(' ')} failed:\n${Buffer.concat(output).toString().slice(-2000)}`))
    })
  })
}

const missing = (why: string) =>
  new Error(
    `Apache ZooKeeper was not found: ${why}\nWays out: point ZOOKEEPER_HOME at an unpacked binary distribution; ` +
      'install the Debian package zookeeper; for the benchmark, name a running server with --server host:port.',
  )
