// Compiles a user's program that imports every entry point, against the type declarations of the packed package. The
// compiler also checks the declarations themselves (skipLibCheck is false).
import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readDocument } from '../support/document.ts'
import { declaredCalls } from '../support/public-names.ts'
import { root } from '../../environment/needs.ts'
import { run, userWithPackage, write, type User } from './user.ts'

const imports = `
import { connect, type Client, type ConnectOptions } from 'zkwire'
import * as browser from 'zkwire/browser'
import * as workers from 'zkwire/cloudflare'
import { instrument, type Instrumentation } from 'zkwire/opentelemetry'
import { constants, operations, paths, records } from 'zkwire/protocol'
import { Mutex, type Held, type Services } from 'zkwire/recipes'
import { digestMd5 } from 'zkwire/sasl'
import { Server } from 'zkwire/server'
import { VirtualClock } from 'zkwire/testing'
`
const program = `
const clock = new VirtualClock()
const options: workers.ConnectOptions = { tls: true, sasl: digestMd5({ username: 'ann', password: 'secret' }) }
export const client: Promise<Client> = workers.connect('localhost', options)
export const result: Promise<number> = workers.supervise('localhost', options, zk => zk.sessionTimeout)
export const open = async (server: Server, more: ConnectOptions): Promise<Held> => {
  const zk = await connect(server.connectString, { ...more, dial: workers.cloudflare(), clock })
  return new Mutex(zk, paths.join('/locks', 'orders')).acquire()
}
export const register = async (services: Services) => {
  const registration = await services.register({ name: 'api', port: undefined })
  await registration.update({ address: undefined })
}
export const instrumentation: Instrumentation = instrument()
export const opcode: number = constants.opcodes.create + operations.create.opcode
export const inBrowser: browser.Mutex = new browser.Mutex({} as Client, '/locks')
export const version: number = records.Stat.decode(new Uint8Array()).version
// @ts-expect-error the connect of zkwire/cloudflare has no such option
export const wrong = workers.connect('localhost', { dial: workers.cloudflare() })

export async function use(zk: Client, held: Held): Promise<void> {
  const { data } = await zk.getData('/a')
  const length: number | undefined = data?.length
  const text: string | undefined = data?.toString('utf8')
  const isLost: boolean = held.signal.aborted
  for await (const state of zk.states()) if (state === 'connected') break
  void [length, text, isLost]
  // @ts-expect-error data is bytes or null, not any
  const date: Date | null = data
  // @ts-expect-error the signal is not any
  const number: number = held.signal
  void [date, number]
}
`
/** A worker, in a project that has only the types of workers. */
const worker = `
import { connect } from 'zkwire/cloudflare'
import { Mutex } from 'zkwire/recipes'

export default {
  async fetch() {
    const zk = await connect('localhost')
    const answer = await new Mutex(zk, '/lock').use(({ signal }) => fetch('http://localhost', { signal }))
    await zk.close()
    return answer
  },
} satisfies ExportedHandler
`
/** Needs the types of Node.js, which the declarations load if they are installed. */
const withNode = `
export async function read(zk: Client): Promise<Buffer | null> {
  const { data } = await zk.getData('/a')
  void data?.readInt32BE(0)
  return data
}
export const encrypted = connect('localhost', { tls: { ca: 'certificate' } })
// @ts-expect-error servername is a string
export const misnamed = connect('localhost', { tls: { servername: 1 } })
`
/** Recipes with a validator or a codec. The compiler must infer the types of their values. */
const validated = `
import { connect } from 'zkwire'
import { Membership, Queue, Services, SharedValue, type DataCodec } from 'zkwire/recipes'
import { Server } from 'zkwire/server'
import * as v from 'valibot'
import { z } from 'zod'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function is<A, B>(same: Same<A, B>): void { void same }

await using server = await Server.start({ listen: false })
await using zk = await connect(server.connectString, { dial: server.dial })
const zod = z.object({ to: z.string(), tries: z.number().default(0) })
const valibot = v.object({ to: v.string(), tries: v.optional(v.number(), 0) })
type In = { to: string; tries?: number | undefined }
type Mail = { to: string; tries: number }

const value = new SharedValue(zk, '/value', { codec: zod, initial: { to: 'ann' } })
const { data } = await value.get()
is<typeof data, Mail>(true)
is<Parameters<typeof value.set>[0], In>(true)
console.log(data, (await value.update(({ to, tries }) => ({ to, tries: tries + 1 }))).data)
// @ts-expect-error it is no mail
await value.set({ to: 5 }).catch(error => console.log(error.message))

await using queue = new Queue(zk, '/queue', { codec: valibot })
await queue.put({ to: 'bob' })
await using item = await queue.take()
is<typeof item.data, Mail>(true)
console.log(item.data)
// @ts-expect-error it is no mail
await queue.put({}).catch(error => console.log(error.message))

await using group = new Membership('/group', { codec: zod, data: { to: 'ann' }, id: 'a' })
await group.start(zk)
const [member] = group.members
is<typeof member, undefined>(false)
console.log(member?.data?.tries)
// @ts-expect-error it is no mail
export const wrongGroup = () => new Membership('/group', { codec: zod, data: { tries: 1 } })

await using services = new Services('/services', { payload: valibot })
await services.start(zk)
await services.register({ name: 'api', payload: { to: 'ann' } })
const [instance] = await services.instances('api')
const payload = instance?.payload
is<typeof payload, Mail | null | undefined>(true)
console.log(payload)
const provider = await services.provider('api')
const tries: number | undefined = provider.choose()?.payload?.tries
void tries

const json: DataCodec<Mail> = { encode: JSON.stringify, decode: bytes => JSON.parse(bytes.toString()) }
export const typed: SharedValue<Mail> = new SharedValue(zk, '/value', { codec: json, initial: { to: 'ann', tries: 0 } })
const plain = new SharedValue(zk, '/plain', { initial: 'text' })
await plain.set(new Uint8Array([1]))
const bytes = (await plain.get()).data
is<typeof bytes, Buffer | null>(true)
// @ts-expect-error it has no codec, so its values are bytes
export const untyped: SharedValue<Mail> = plain
`
const strict = {
  ...{ strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true },
  ...{ noUncheckedIndexedAccess: true, isolatedModules: true, target: 'es2022', lib: ['es2022'] },
}
const resolutions = {
  node10: { module: 'commonjs', moduleResolution: 'node10' },
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}
const [oldest, newest] = ['typescript-oldest', 'typescript-newest']

describe('the type declarations of the package', () => {
  let user: User
  let count = 0

  before(async function () {
    this.timeout(300_000)
    user = await userWithPackage()
  })

  /** Compiles the program as one module, and returns what the compiler prints. */
  async function compile(compiler: string, options: object, { file = 'program.ts', code = '', isBare = false } = {}) {
    const folder = join(isBare ? user.bare : user.directory, `types-${++count}`)
    await write(folder, {
      'package.json': '{ "type": "module" }',
      [file]: code,
      'tsconfig.json': JSON.stringify({ compilerOptions: { ...strict, ...options }, files: [file] }),
    })
    const tsc = join(dirname(user.directory), 'node_modules', compiler, 'bin', 'tsc')
    return (await run(user.directory, '.', 'node-20', `node ${tsc} -p ${folder}`)).output
  }

  it('are tried with every entry point', () => {
    const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      name: string
      exports: Record<string, unknown>
    }
    const entryPoints = Object.keys(exports).filter(path => path !== './package.json')
    const imported = [...imports.matchAll(/^import .* from '(.+)'$/gm)].map(([, path]) => path)
    expect(imported).to.have.members(entryPoints.map(path => name + path.slice(1)))
  })

  it('are tried with the oldest TypeScript that the README names', async () => {
    const [, version] = /TypeScript (\d+\.\d+) or later/.exec(readDocument('README.md')) ?? []
    const tsc = join(dirname(user.directory), 'node_modules', oldest, 'bin', 'tsc')
    expect((await run(user.directory, '.', 'node-20', `node ${tsc} --version`)).output).to.include(
      `Version ${version}.`,
    )
  })

  const settings: readonly (readonly [compiler: string, resolution: keyof typeof resolutions, options: object])[] = [
    [oldest, 'node10', { types: [] }],
    [oldest, 'nodenext', { types: ['node'] }],
    [newest, 'node16', { types: [] }],
    [newest, 'nodenext', { types: ['node'] }],
    [newest, 'nodenext', {}],
    [newest, 'bundler', { types: [], lib: ['es2022', 'dom'], verbatimModuleSyntax: true }],
    [newest, 'bundler', { lib: ['es2024', 'esnext.disposable'], noPropertyAccessFromIndexSignature: true }],
  ]
  for (const [compiler, resolution, options] of settings) {
    const title = `${resolution} and ${JSON.stringify(options)} in ${compiler}`
    it(`compile with @types/node, with ${title}`, async () => {
      const code = imports + program + withNode
      expect(await compile(compiler, { ...resolutions[resolution], ...options }, { code })).to.equal('')
    })
    if (!/"node"/.test(title))
      it(`compile without @types/node, and data is bytes, with ${title}`, async () => {
        const code = imports + program
        expect(await compile(compiler, { ...resolutions[resolution], ...options }, { code, isBare: true })).to.equal('')
      })
  }

  it('infer the values of a recipe from a validator of Zod or Valibot, or a codec, and the program runs', async () => {
    const options = { ...resolutions.nodenext, types: ['node'], lib: ['es2022', 'esnext.disposable'] }
    for (const compiler of [oldest, newest])
      expect(await compile(compiler, { ...options, skipLibCheck: true }, { code: validated })).to.equal('')
    const folder = join(user.directory, 'validated')
    await write(folder, { 'package.json': '{ "type": "module" }', 'program.ts': validated })
    const esbuild = `esbuild ${folder}/program.ts --target=es2022 --outfile=${folder}/program.js`
    expect((await run(user.directory, '.', 'node-20', esbuild)).code).to.equal(0)
    const { output } = await run(user.directory, '.', 'node-20', `node ${folder}/program.js`)
    expect(output.trim().split('\n')).to.deep.equal([
      "{ to: 'ann', tries: 0 } { to: 'ann', tries: 1 }",
      'BADARGUMENTS: set /value: an argument is invalid (the codec refuses it: to: Invalid input: expected string, received number)',
      "{ to: 'bob', tries: 0 }",
      'BADARGUMENTS: put /queue: an argument is invalid (item 0: the codec refuses it: to: Invalid key: Expected "to" but received undefined)',
      '0',
      "{ to: 'ann', tries: 0 }",
    ])
  })

  it('load no types of Node.js into a worker, because they contradict those of workers', async () => {
    const options = { ...resolutions.bundler, types: ['@cloudflare/workers-types'] }
    expect(await compile(newest, options, { code: worker })).to.equal('')
  })

  it('are the same for import and for require, so one module may pass a client to a module of the other kind', async () => {
    const code = `
      import { connect } from 'zkwire'
      import type { Client } from 'zkwire' with { 'resolution-mode': 'require' }
      import { Mutex } from 'zkwire/recipes'
      import type { Lock } from 'zkwire/recipes' with { 'resolution-mode': 'require' }
      export const client: Promise<Client> = connect('localhost')
      export const lockOf = (zk: Client): Lock => new Mutex(zk, '/lock')`
    expect(await compile(newest, resolutions.nodenext, { code })).to.equal('')
  })

  it('let a user export what each call returns, because they export its type', async () => {
    const exportsOf = ([entry, file]: readonly [entry: string, file: string]) =>
      declaredCalls([file]).flatMap(({ name }, i) => {
        const [, owner, method] = /^(\w+)\.(\w+)$/.exec(name) ?? []
        if (owner === undefined || ['Iteration', 'DataCodec'].includes(owner)) return []
        const type = `import('${entry}').${owner}`
        const args = `...([] as unknown as Parameters<${type}['${method}']>)`
        return [`export const call${i} = (of: ${type}) => of.${method}(${args})`]
      })
    for (const entry of [
      ['zkwire', 'src/index.ts'],
      ['zkwire/recipes', 'src/recipes/index.ts'],
      ['zkwire/server', 'src/server/index.ts'],
    ] as const) {
      const calls = exportsOf(entry)
      expect(calls.length).to.be.above(10)
      // A program with recipes imports the client too. Its mechanism of SASL has types in an entry point of its own.
      const code = ["import type {} from 'zkwire'", "import type {} from 'zkwire/sasl'", ...calls].join('\n')
      const options = { ...resolutions.nodenext, lib: ['es2022', 'esnext.disposable'], declaration: true }
      expect(await compile(newest, options, { code })).to.equal('')
    }
  }).timeout(120_000)

  it('compile in a CommonJS module with verbatimModuleSyntax', async () => {
    const code = `
      import zkwire = require('zkwire')
      import recipes = require('zkwire/recipes')
      async function use(): Promise<bigint> {
        const zk: zkwire.Client = await zkwire.connect('localhost')
        return new recipes.Mutex(zk, '/lock').use(held => held.token)
      }
      void use`
    const options = { ...resolutions.nodenext, verbatimModuleSyntax: true }
    expect(await compile(newest, options, { code, file: 'program.cts' })).to.equal('')
  })
})

describe('the maps of the package', () => {
  let installed: string

  before(async function () {
    this.timeout(300_000)
    const { directory } = await userWithPackage()
    installed = join(directory, 'node_modules', 'zkwire')
  })

  it('name only sources that are in the package', () => {
    const maps = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.map'))
    expect(maps).to.have.length.above(300)
    const missing = maps.filter(file => {
      const { sources } = JSON.parse(readFileSync(join(installed, file), 'utf8')) as { sources: string[] }
      return sources.length !== 1 || !sources.every(source => existsSync(join(installed, dirname(file), source)))
    })
    expect(missing).to.deep.equal([])
  })

  it('lead the stack of an error from an ES module to the source', async () => {
    const { directory } = await userWithPackage()
    await write(directory, {
      'stack.mjs': "import { connect } from 'zkwire'; await connect('/').catch(error => console.log(error.stack))",
    })
    const { output } = await run(directory, '.', 'node-20', 'node --enable-source-maps stack.mjs')
    const [, file = '', line = 0] =
      /at parseConnectString .*zkwire\/(src\/[^:]+):(\d+)/.exec(output) ?? expect.fail(output)
    expect(readFileSync(join(installed, file), 'utf8').split('\n')[Number(line) - 1]).to.include('badArguments')
  })

  it('are of the ES modules and of the declarations only, and no file names one that is missing', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    const named = files
      .filter(file => /\.js$|\.d\.ts$/.test(file))
      .filter(file => /^\/\/# sourceMappingURL=/m.test(readFileSync(join(installed, file), 'utf8')))
    expect(named.filter(file => !files.includes(`${file}.map`))).to.deep.equal([])
    expect(named.filter(file => /^dist\/(cli\/|cjs\/.*\.js$)/.test(file))).to.deep.equal([])
  })
})
