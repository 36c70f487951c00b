// The program `zkwire` of dist, as a process of its own.
import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Server } from '../../../src/server/index.ts'
import { runAtExit } from '../../../environment/at-exit.ts'
import { sharedServer } from '../../support/shared-server.ts'

export const main = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli', 'main.js')

export interface Ended {
  /** The exit status, or the name of the signal that ended the process. */
  status: number | NodeJS.Signals | null
  out: string
  err: string
  bytes: Buffer
}

export interface RunOptions {
  env?: Record<string, string>
  /** The text or bytes of stdin. Default: none. */
  input?: string | Uint8Array
  /** Leaves stdin open until it is ended. Default false. */
  keepsInput?: boolean
}

/** A process that runs. `ended` resolves when it has ended and its output is read. */
export class Program {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** What it has printed so far. */
  out = ''
  err = ''

  constructor(args: readonly string[], { env = {}, input, keepsInput = false }: RunOptions = {}) {
    expect(existsSync(main), 'dist/ is missing: run npm run build first').to.equal(true)
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const cancelAtExit = runAtExit(() => child.kill('SIGKILL'))
    child.stdin.on('error', () => undefined)
    if (!keepsInput) child.stdin.end(input)
    child.stdout.on('data', chunk => (this.out += String(chunk)))
    child.stderr.on('data', chunk => (this.err += String(chunk)))
    this.child = child
    const closed = new Promise<Ended['status']>(resolve =>
      child.once('close', (code, signal) => resolve(code ?? signal)),
    )
    this.ended = Promise.all([closed, buffer(child.stdout), buffer(child.stderr)]).then(([status, bytes, err]) => {
      cancelAtExit()
      return { status, out: String(bytes), err: String(err), bytes }
    })
  }

  get pid(): number {
    return this.child.pid ?? expect.fail('the process did not start')
  }

  /** Sends a signal to the process, and not to the program that it runs. */
  kill(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal)
  }
}

/** Runs the program to its end. */
export const zkwire = (args: readonly string[], options?: RunOptions): Promise<Ended> =>
  new Program(args, options).ended

/** Runs the program to its end with JSON output, and returns the document. */
export async function jsonOf(args: readonly string[], options?: RunOptions): Promise<unknown> {
  const { status, out, err } = await zkwire([...args, '--json'], options)
  expect(status, err).to.equal(0)
  return JSON.parse(out)
}

/** Defines the tests on Apache's server and on the embedded one. */
export function onBothServers(title: string, suite: (server: { connectString: string }) => void): void {
  for (const name of ['Apache ZooKeeper', 'the embedded server'])
    describe(`${title}, on ${name},`, () => {
      const server = { connectString: '' }
      let embedded: Server | undefined
      before(async () => {
        if (name === 'the embedded server') embedded = await Server.start({ tickTime: 500, extendedTypes: true })
        server.connectString = (embedded ?? (await sharedServer())).connectString
      })
      after(() => embedded?.close())
      suite(server)
    })
}
