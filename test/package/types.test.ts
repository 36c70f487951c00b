// Compiles a user's program that imports every entry point, against the type declarations of the packed package.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../support/packed-package.ts'
import { userWithPackage, type User } from './user.ts'

const program = `
import { connect, type Client, type ConnectOptions } from 'zkwire'
import * as workers from 'zkwire/cloudflare'
import { constants, operations, paths, records } from 'zkwire/protocol'
import { Mutex, type Held } from 'zkwire/recipes'
import { digestMd5 } from 'zkwire/sasl'
import { Server } from 'zkwire/server'
import { VirtualClock } from 'zkwire/testing'

const clock = new VirtualClock()
const options: workers.ConnectOptions = { tls: true, sasl: digestMd5({ username: 'ann', password: 'secret' }) }
export const client: Promise<Client> = workers.connect('localhost', options)
export const result: Promise<number> = workers.supervise('localhost', options, zk => zk.sessionTimeout)
export const open = async (server: Server, more: ConnectOptions): Promise<Held> => {
  const zk = await connect(server.connectString, { ...more, dial: workers.cloudflare(), clock })
  return new Mutex(zk, paths.join('/locks', 'orders')).acquire()
}
export const opcode: number = constants.opcodes.create + operations.create.opcode
export const version: number = records.Stat.decode(new Uint8Array()).version
// @ts-expect-error the connect of zkwire/cloudflare has no such option
export const wrong = workers.connect('localhost', { dial: workers.cloudflare() })
`

describe('the type declarations of the package', () => {
  let at: User

  before(async function () {
    this.timeout(300_000)
    at = await userWithPackage()
    await writeFile(join(at.directory, 'program.ts'), program)
  })

  it('are tried with every entry point', () => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      name: string
      exports: Record<string, unknown>
    }
    const entryPoints = Object.keys(exports).filter(path => path !== './package.json')
    const imported = [...program.matchAll(/^import .* from '(.+)'$/gm)].map(([, path]) => path)
    expect(imported).to.have.members(entryPoints.map(path => name + path.slice(1)))
  })

  for (const [resolution, module] of [
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ] as const)
    it(`compile without an error, strictly, with moduleResolution ${resolution}`, async () => {
      const compilerOptions = {
        ...{ moduleResolution: resolution, module, target: 'es2023', lib: ['es2023', 'esnext.disposable'] },
        ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false, types: ['node'] },
      }
      const config = join(at.directory, `tsconfig.${resolution}.json`)
      await writeFile(config, JSON.stringify({ compilerOptions, files: ['program.ts'] }))
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', config]).catch(
        (error: unknown) => error as { stdout: string },
      )
      expect(stdout).to.equal('')
    })
})
