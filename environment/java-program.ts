// Compiles and runs a Java test program that uses ZooKeeper's own classes, and sends it requests over stdin.
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

/** Compiled programs, keyed by the URL of the source and the class path. */
const compiled = new Map<string, Promise<Compiled>>()

export interface JavaProgramOptions {
  /** Jars in addition to ZooKeeper's. */
  jars?: readonly string[]
  /** The class path of ZooKeeper. Default: that of the server. */
  zookeeper?: string | undefined
  args?: readonly string[]
  /** Options of the Java machine. Default: a start as short as possible, for tests. */
  jvm?: readonly string[]
}

const SHORT_START = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx192m']

export class JavaProgram extends SubprocessRpc {
  /** @param source URL of the source file; its only public class has the file's name */
  static async start(source: URL, options: JavaProgramOptions = {}): Promise<JavaProgram> {
    const [java, ...args] = await javaCommand(source, options)
    return new JavaProgram(java, args)
  }
}

/** Compiles a program, and returns the command line that runs it. */
export async function javaCommand(
  source: URL,
  { jars = [], zookeeper, args = [], jvm = SHORT_START }: JavaProgramOptions = {},
): Promise<[java: string, ...args: string[]]> {
  const key = [source.href, zookeeper, ...jars].join(':')
  let compiling = compiled.get(key)
  if (compiling === undefined) compiled.set(key, (compiling = compile(fileURLToPath(source), jars, zookeeper)))
  const { java, classPath, main } = await compiling
  return [java, ...jvm, '-cp', classPath, main, ...args]
}

async function compile(source: string, others: readonly string[], given: string | undefined): Promise<Compiled> {
  const [{ java, javac }, zookeeper] = await Promise.all([findJdk(), given ?? findApacheZooKeeper()])
  const main = basename(source, '.java')
  const directory = await mkdtemp(join(tmpdir(), `${main}-`))
  runAtExit(() => rmSync(directory, { recursive: true, force: true }))
  // Debian installs the jar of the records in the same directory as the jar of the server.
  const recordJars = zookeeper.split(':').map(jar => join(dirname(jar), 'zookeeper-jute.jar'))
  const jars = [...zookeeper.split(':'), ...new Set(recordJars.filter(jar => existsSync(jar))), ...others].join(':')
  await promisify(execFile)(javac, ['-d', directory, '-cp', jars, source])
  return { java, classPath: `${directory}:${jars}`, main }
}
