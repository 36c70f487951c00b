// Curator's lock: the Debian package, and a small Java program that is compiled when needed.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { findJdk } from '../../environment/find-jdk.ts'
import { provideCurator } from '../../environment/other-libraries.ts'
import type { HandOver, Sample, Turns } from './workloads.ts'

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

  /**
   * Starts a process whose contenders have the lock in turns with other processes, and warms it up.
   * @param warmUp how often each contender acquires the lock before the first turn
   */
  async open(port: number, lock: string, { contenders, acquisitions }: HandOver, warmUp: number): Promise<Turns> {
    const program = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', this.#classPath, 'HandOver']
    const numbers = [contenders, warmUp, acquisitions].map(String)
    const child = spawn(this.#java, [...program, String(port), lock, ...numbers], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const line = async () => {
      const next = (await lines.next()) as IteratorResult<string, undefined>
      if (next.done === true) throw new Error("the process of Curator's lock has ended")
      return next.value
    }
    await line()
    return {
      measure: async () => {
        child.stdin.write('turn\n')
        return JSON.parse(await line()) as Sample
      },
      end: async () => {
        child.stdin.end()
        await exited
      },
    }
  }
}
