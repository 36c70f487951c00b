// Curator's lock: the Debian package, and a small Java program that is compiled when needed.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { findJdk } from '../../environment/find-jdk.ts'
import type { HandOver, Sample } from './workloads.ts'

const run = promisify(execFile)

const JARS = [
  ...['curator-client', 'curator-framework', 'curator-recipes', 'guava', 'slf4j-api', 'slf4j-simple', 'zookeeper-jute'],
  ...['netty-all', 'jackson-core', 'jackson-databind', 'jackson-annotations', 'metrics-core', 'snappy-java'],
].map(name => `/usr/share/java/${name}.jar`)

const source = fileURLToPath(new URL('HandOver.java', import.meta.url))
const classes = fileURLToPath(new URL('../../.cache/throughput/java', import.meta.url))

export class Curator {
  readonly #java: string
  readonly #classPath: string

  private constructor(java: string, classPath: string) {
    this.#java = java
    this.#classPath = classPath
  }

  static async ready(): Promise<Curator> {
    const [{ java, javac }, zookeeper] = await Promise.all([findJdk(), findApacheZooKeeper()])
    await installCurator()
    const classPath = [...JARS, zookeeper].join(':')
    await mkdir(classes, { recursive: true })
    await run(javac, ['-d', classes, '-cp', classPath, source])
    return new Curator(java, `${classes}:${classPath}`)
  }

  async handOver(port: number, directory: string, { contenders, acquisitions, rounds }: HandOver): Promise<Sample> {
    const { stdout } = await run(this.#java, [
      ...['-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', this.#classPath, 'HandOver'],
      ...[port, directory, contenders, acquisitions, rounds].map(String),
    ])
    return JSON.parse(stdout) as Sample
  }
}

async function installCurator(): Promise<void> {
  if (JARS.every(jar => existsSync(jar))) return
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    process.stderr.write('Curator is missing: installing the Debian package libcurator-recipes-java with apt-get\n')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const aptGet = (...args: string[]) =>
      run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env, maxBuffer: 0x100_0000 })
    await aptGet('update')
    await aptGet('install', '-y', '--no-install-recommends', 'libcurator-recipes-java')
  }
  const missing = JARS.filter(jar => !existsSync(jar))
  if (missing.length > 0)
    throw new Error(
      `Curator is incomplete: ${missing.join(', ')} missing. Install the Debian package libcurator-recipes-java`,
    )
}
