// The processes of examples/service, compiled, with the built package.
import { transform } from 'esbuild'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../environment/free-port.ts'
import { ServiceProcess } from './service-process.ts'

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

export class ExampleService extends ServiceProcess {
  readonly id: string

  private constructor(id: string, port: number, servers: string, sessionTimeout: number) {
    super(join(compiled, 'main.mjs'), port, {
      ...{ ZOOKEEPER: servers, SESSION_TIMEOUT: `${sessionTimeout}`, POD_NAME: id },
    })
    this.id = id
  }

  /** Starts `count` processes of the service. */
  static async start(count: number, servers: string, sessionTimeout: number): Promise<ExampleService[]> {
    await compile()
    const start = async (_: unknown, i: number) =>
      new ExampleService(`pod-${i + 1}`, await freePort(), servers, sessionTimeout)
    return Promise.all(Array.from({ length: count }, start))
  }

  /** What the process has printed is JSON, a line for each event. */
  get log(): LogLine[] {
    return this.output
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as LogLine)
  }

  /** Returns the messages of the log. */
  get messages(): string[] {
    return this.log.map(({ msg }) => msg)
  }

  /** Returns the value of a figure of /metrics. */
  async metric(name: string): Promise<number> {
    const response = await this.request('/metrics')
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1])
  }
}
