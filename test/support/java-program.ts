// A Java program of ours that uses ZooKeeper's own classes: one source file, compiled, run, and asked over stdin.
import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { findJdk } from './find-jdk.ts'
import { runAtExit } from './at-exit.ts'
import { SubprocessRpc } from './subprocess-rpc.ts'

interface Compiled {
  java: string
  classPath: string
  main: string
}

/** By source: each is compiled once. */
const compiled = new Map<string, Promise<Compiled>>()

export interface JavaProgramOptions {
  /** Jars beside ZooKeeper's own. */
  jars?: readonly string[]
  args?: readonly string[]
}

export class JavaProgram extends SubprocessRpc {
  /** @param source the file's URL; its only public class is named like it */
  static async start(source: URL, { jars = [], args = [] }: JavaProgramOptions = {}): Promise<JavaProgram> {
    let making = compiled.get(source.href)
    if (making === undefined) compiled.set(source.href, (making = compile(fileURLToPath(source), jars)))
    const { java, classPath, main } = await making
    const jvm = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx192m']
    return new JavaProgram(java, [...jvm, '-cp', classPath, main, ...args])
  }
}

async function compile(source: string, others: readonly string[]): Promise<Compiled> {
  const [{ java, javac }, zookeeper] = await Promise.all([findJdk(), findApacheZooKeeper()])
  const main = basename(source, '.java')
  const directory = await mkdtemp(join(tmpdir(), `${main}-`))
  runAtExit(() => rmSync(directory, { recursive: true, force: true }))
  // Debian's jar of the records lies beside the jar of the server.
  const beside = zookeeper.split(':').map(jar => join(dirname(jar), 'zookeeper-jute.jar'))
  const jars = [...zookeeper.split(':'), ...new Set(beside.filter(jar => existsSync(jar))), ...others].join(':')
  await promisify(execFile)(javac, ['-d', directory, '-cp', jars, source])
  return { java, classPath: `${directory}:${jars}`, main }
}
