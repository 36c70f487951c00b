// The program `zkwire` of dist, as a process of its own.
import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Server } from '../../../src/server/index.ts'
import { ChildProgram, type ChildProgramOptions, type Ended } from '../../../environment/child-program.ts'
import { sharedServer } from '../../support/shared-server.ts'

export const main = join(import.meta.dirname, '..', '..', '..', 'dist', 'cli', 'main.js')

export type { Ended }

/** The environment of the program has this and PATH. */
export type RunOptions = Omit<ChildProgramOptions, 'program'>

export class Program extends ChildProgram {
  constructor(args: readonly string[], { env = {}, ...options }: RunOptions = {}) {
    expect(existsSync(main), 'dist/ is missing: run npm run build first').to.equal(true)
    super([main, ...args], { env: { PATH: process.env['PATH'], ...env }, ...options })
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
