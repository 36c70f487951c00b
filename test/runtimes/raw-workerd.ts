// Runs a worker in workerd itself, without miniflare, so that a client that leaves is noticed.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProgram } from '../../environment/child-program.ts'
import { freePort } from '../../environment/free-port.ts'
import { until } from '../../environment/until.ts'

export interface RawWorkerOptions {
  date?: string
  flags?: readonly string[]
  /** The Durable Object's class, which is bound as `KEEPER`. */
  durableObject?: string
}

export class RawWorker implements AsyncDisposable {
  readonly #program: ChildProgram
  readonly #directory: string
  readonly #port: number

  private constructor(program: ChildProgram, directory: string, port: number) {
    this.#program = program
    this.#directory = directory
    this.#port = port
  }

  static async start(runtimes: string, script: string, options: RawWorkerOptions = {}): Promise<RawWorker> {
    const { date = '2026-04-01', flags = ['nodejs_compat', 'enable_request_signal'], durableObject } = options
    const directory = await mkdtemp(join(tmpdir(), 'workerd-'))
    const port = await freePort()
    await writeFile(join(directory, 'worker.mjs'), script)
    // Not in memory: workerd 1.20260426 ends itself there when an alarm sets the next one.
    const keeper =
      durableObject === undefined
        ? ''
        : `, durableObjectNamespaces = [(className = "${durableObject}", uniqueKey = "keeper", enableSql = true)],
           durableObjectStorage = (localDisk = "disk"), bindings = [(name = "KEEPER", durableObjectNamespace = "${durableObject}")]`
    await writeFile(
      join(directory, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
       const config :Workerd.Config = (
         services = [
           (name = "main", worker = (
             modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
             compatibilityDate = "${date}",
             compatibilityFlags = [${flags.map(flag => `"${flag}"`).join(', ')}],
             globalOutbound = "network"${keeper}
           )),
           (name = "network", network = (allow = ["private", "local"])),
           (name = "disk", disk = (path = "${directory}", writable = true))
         ],
         sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
       );`,
    )
    const workerd = join(runtimes, 'node_modules', '.bin', 'workerd')
    const program = new ChildProgram(['serve', join(directory, 'config.capnp')], { program: workerd })
    const worker = new RawWorker(program, directory, port)
    await until(async () => {
      if (program.err.includes('Error')) {
        await worker[Symbol.asyncDispose]()
        throw new Error(program.err)
      }
      const socket = connect(port, '127.0.0.1')
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      socket.destroy()
      return isOpen
    })
    return worker
  }

  /** Returns the body of the response. */
  async ask(path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`)
    return response.text()
  }

  /** Sends a request. The caller leaves by `resetAndDestroy()`, as the network at Cloudflare reports it to a worker. */
  begin(path: string): Socket {
    const socket = connect(this.#port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: worker\r\n\r\n`)
    return socket
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true })
  }
}
