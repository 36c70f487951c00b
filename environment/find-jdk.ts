// Finds a Java compiler, for tests that use ZooKeeper's own classes. The server itself needs only a Java runtime.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { notFound, ensureInstalled } from './debian-package.ts'
import { jdk } from './needs.ts'

export interface Jdk {
  java: string
  javac: string
}

let found: Promise<Jdk> | undefined

/**
 * Returns the JDK of JAVA_HOME, of the PATH, or of the Debian package, which is installed if the process runs as root.
 * The result is cached.
 */
export const findJdk = (): Promise<Jdk> => (found ??= find())

async function find(): Promise<Jdk> {
  const home = process.env['JAVA_HOME']
  if (home) {
    const bin = join(home, 'bin')
    if (!existsSync(join(bin, 'javac'))) throw notFound(jdk, `JAVA_HOME is ${home}, which has no bin/javac`)
    return { java: join(bin, 'java'), javac: join(bin, 'javac') }
  }
  await ensureInstalled(jdk)
  return { java: 'java', javac: 'javac' }
}
