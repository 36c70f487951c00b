// A Java compiler, for tests against ZooKeeper's own classes. The server itself needs only a Java that runs.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Jdk {
  java: string
  javac: string
}

let found: Promise<Jdk> | undefined

/** That of JAVA_HOME, or of the PATH, or Debian's, which root gets installed. Looked for once. */
export const findJdk = (): Promise<Jdk> => (found ??= find())

async function find(): Promise<Jdk> {
  const home = process.env['JAVA_HOME']
  if (home) {
    const bin = join(home, 'bin')
    if (!existsSync(join(bin, 'javac'))) throw missing(`JAVA_HOME is ${home}, and there is no bin/javac in it`)
    return { java: join(bin, 'java'), javac: join(bin, 'javac') }
  }
  if (!(await isInstalled())) await install()
  return { java: 'java', javac: 'javac' }
}

const isInstalled = () =>
  run('javac', ['-version']).then(
    () => true,
    () => false,
  )

async function install(): Promise<void> {
  if (process.getuid?.() !== 0) throw missing('it is not on the PATH, and only root can install it')
  process.stderr.write('javac is missing: installing the Debian package default-jdk-headless with apt-get\n')
  await aptGet('update')
  await aptGet('install', '-y', '--no-install-recommends', 'default-jdk-headless')
  if (!(await isInstalled())) throw missing('the package default-jdk-headless put no javac on the PATH')
}

/** Two runs that install at once wait for each other. */
async function aptGet(...args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env, maxBuffer: 0x100_0000 })
  } catch (error) {
    throw missing(`apt-get ${args.join(' ')} failed:\n${(error as Error).message.slice(-2000)}`)
  }
}

const missing = (why: string) =>
  new Error(
    `javac was not found: ${why}\nWays out: apt-get install default-jdk-headless; point JAVA_HOME at any JDK from 11 on.`,
  )
