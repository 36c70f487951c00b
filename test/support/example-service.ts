// The processes of examples/service, compiled, with the built package.
import { transform } from 'esbuild'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runAtExit } from '../../environment/at-exit.ts'
import { freePort } from '../../environment/free-port.ts'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'examples/service/src')
// Inside the package, so that `import 'zkwire'` resolves to it. The manifest of the example would hide it.
const compiled = join(root, '.cache/example-service')

async function compile(): Promise<void> {
  await mkdir(compiled, { recursive: true })
  for (const file of await readdir(source)) {
    const code = await readFile(join(source, file), 'utf8')
    const { code: script } = await transform(code, { loader: 'ts', target: 'node20' })
    const imported = script.replaceAll(/(from "\.\/\w+)\.ts"/g, '$1.mjs"')
    await writeFile(join(compiled, file.replace('.ts', '.mjs')), imported)
  }
}

/** A line of the service's log. */
export interface LogLine {
  msg: string
  error?: string
  failures?: number
  ms?: number
  token?: string
}

export class ExampleService {
  readonly id: string
  readonly port: number
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown[]>
  #output = ''

  private constructor(id: string, port: number, servers: string, sessionTimeout: number) {
    this.id = id
    this.port = port
    const env = { ZOOKEEPER: servers, SESSION_TIMEOUT: `${sessionTimeout}`, POD_NAME: id, PORT: `${port}` }
    this.#child = spawn(process.execPath, [join(compiled, 'main.mjs')], {
      ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += String(chunk)))
    this.#ended = once(this.#child, 'close')
    const cancelAtExit = runAtExit(() => this.#child.kill('SIGKILL'))
    void this.#ended.then(cancelAtExit)
  }

  /** Starts `count` processes of the service. */
  static async start(count: number, servers: string, sessionTimeout: number): Promise<ExampleService[]> {
    await compile()
    const start = async (_: unknown, i: number) =>
      new ExampleService(`pod-${i + 1}`, await freePort(), servers, sessionTimeout)
    return Promise.all(Array.from({ length: count }, start))
  }

  /** All that the process has printed. It is JSON, a line for each event. */
  get output(): string {
    return this.#output
  }

  get log(): LogLine[] {
    return this.#output
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as LogLine)
  }

  /** Returns the messages of the log. */
  get messages(): string[] {
    return this.log.map(({ msg }) => msg)
  }

  async status(path: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`).catch(() => undefined)
    await response?.arrayBuffer()
    return response?.status ?? 0
  }

  /** Returns the value of a figure of /metrics. */
  async metric(name: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.port}/metrics`)
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1])
  }

  /** Sends a signal, and resolves with the exit status when the process has ended. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    const [status] = (await this.#ended) as [number | null]
    return status
  }
}
