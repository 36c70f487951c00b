// ZooKeeper's own classes in a Java process: JuteEcho.java, compiled and asked.
import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findApacheZooKeeper } from '../support/find-apache-zookeeper.ts'
import { findJdk } from '../support/find-jdk.ts'
import { lastWill } from '../support/last-will.ts'

const SOURCE = fileURLToPath(new URL('JuteEcho.java', import.meta.url))

/** What a record writes: its tags in order, each with a kind or a value. */
export type Tagged = [tag: string, what: Told][]
export type Told = string | number | boolean | null | { vector: Told[] } | Tagged

export class JavaJute {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #directory: string
  readonly #takeBackWill: () => void
  #complaints = ''

  private constructor(java: string, classPath: string, directory: string) {
    this.#directory = directory
    this.#takeBackWill = lastWill(() => rmSync(directory, { recursive: true, force: true }))
    const switches = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx192m']
    this.#child = spawn(java, [...switches, '-cp', classPath, basename(SOURCE, '.java')])
    this.#child.stderr.on('data', chunk => (this.#complaints += String(chunk)))
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  static async start(): Promise<JavaJute> {
    const [{ java, javac }, zookeeper] = await Promise.all([findJdk(), findApacheZooKeeper()])
    const directory = await mkdtemp(join(tmpdir(), 'jute-echo-'))
    // Debian's jar of the records lies beside the jar of the server.
    const beside = zookeeper.split(':').map(jar => join(dirname(jar), 'zookeeper-jute.jar'))
    const jars = [...zookeeper.split(':'), ...new Set(beside.filter(jar => existsSync(jar)))].join(':')
    await promisify(execFile)(javac, ['-d', directory, '-cp', jars, SOURCE])
    return new JavaJute(java, `${directory}:${jars}`, directory)
  }

  /** One answer for each question, in order. */
  async ask(questions: readonly string[]): Promise<string[]> {
    this.#child.stdin.write(questions.map(question => question + '\n').join(''))
    const answers: string[] = []
    while (answers.length < questions.length) {
      const next = await this.#answers.next()
      if (next.done === true) throw new Error(`JuteEcho ended: ${this.#complaints}`)
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
