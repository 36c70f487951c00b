// Curator's lock: the Debian package, and a small Java program that is compiled when needed.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { findJdk } from '../../environment/find-jdk.ts'
import { provideCurator } from '../../environment/other-libraries.ts'
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
    await provideCurator()
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
