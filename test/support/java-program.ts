// A Java program of ours that uses ZooKeeper's own classes: one source file, compiled, run, and asked over stdin.
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { findJdk } from './find-jdk.ts'
import { lastWill } from './last-will.ts'

/** It answers each line with one line, which starts with `!` where something is wrong. */
export class JavaProgram {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #directory: string
  readonly #takeBackWill: () => void
  #complaints = ''

  private constructor(java: string, classPath: string, main: string, directory: string) {
    this.#directory = directory
    this.#takeBackWill = lastWill(() => rmSync(directory, { recursive: true, force: true }))
    this.#child = spawn(java, ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx192m', '-cp', classPath, main])
    this.#child.stderr.on('data', chunk => (this.#complaints += String(chunk)))
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** @param source the file's URL; its only public class is named like it */
  static async start(source: URL): Promise<JavaProgram> {
    const [{ java, javac }, zookeeper] = await Promise.all([findJdk(), findApacheZooKeeper()])
    const path = fileURLToPath(source)
    const main = basename(path, '.java')
    const directory = await mkdtemp(join(tmpdir(), `${main}-`))
    // Debian's jar of the records lies beside the jar of the server.
    const beside = zookeeper.split(':').map(jar => join(dirname(jar), 'zookeeper-jute.jar'))
    const jars = [...zookeeper.split(':'), ...new Set(beside.filter(jar => existsSync(jar)))].join(':')
    await promisify(execFile)(javac, ['-d', directory, '-cp', jars, path])
    return new JavaProgram(java, `${directory}:${jars}`, main, directory)
  }

  /** One answer for each question, in order. */
  async ask(questions: readonly string[]): Promise<string[]> {
    this.#child.stdin.write(questions.map(question => question + '\n').join(''))
    const answers: string[] = []
    while (answers.length < questions.length) {
      const next = await this.#answers.next()
      if (next.done === true) throw new Error(`the Java program ended: ${this.#complaints}`)
      answers.push(next.value)
    }
    return answers
  }

  async askOne(question: string): Promise<string> {
    const [answer = ''] = await this.ask([question])
    if (answer.startsWith('!')) throw new Error(`${question}: ${answer}`)
    return answer
  }

  /** It ends when its input does, as it also would if this process died. */
  async close(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin.end()
    if (this.#child.exitCode === null) await closed
    await rm(this.#directory, { recursive: true, force: true })
    this.#takeBackWill()
  }
}
