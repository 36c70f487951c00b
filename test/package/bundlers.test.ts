// The package in bundlers, without settings for the package.
import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { body, call, expected, header } from './program.ts'
import { nodes, run, userWithPackage, write } from './user.ts'

const toEsModule = '-p node-resolve -p commonjs --external /^node:/ -f es --silent'

/** The command of each bundler, for programs for Node, and the name of the bundle that it writes. */
const bundlers: Record<string, { command: (program: string) => string; bundle: string }> = {
  esbuild: {
    command: program => `esbuild ${program} --bundle --platform=node --log-level=error --outfile=bundle.cjs`,
    bundle: 'bundle.cjs',
  },
  Rollup: { command: program => `rollup ${program} --file bundle.mjs ${toEsModule}`, bundle: 'bundle.mjs' },
  webpack: {
    command: program =>
      `webpack build --mode production --target node20 --entry ./${program} -o . --output-filename bundle.cjs`,
    bundle: 'bundle.cjs',
  },
  Vite: { command: program => `vite build --ssr ${program} --outDir . --logLevel error`, bundle: 'program.js' },
}

/** The command of each bundler, for a browser. Each writes bundle.js. */
const forBrowsers: Record<string, string> = {
  esbuild: 'esbuild tab.js --bundle --format=esm --log-level=error --outfile=bundle.js',
  Rollup: 'rollup tab.js --file bundle.js -p node-resolve -f es --silent --failAfterWarnings',
  webpack: 'webpack build --mode production --target web --entry ./tab.js -o . --output-filename bundle.js',
  Vite: 'vite build --outDir . --emptyOutDir false --logLevel error',
}

/** A program for a tab. */
const tab = `
import { connect, Mutex, Server } from 'zkwire/browser'
async function use() {
  const server = await Server.start({ listen: false })
  const zk = await connect(server.connectString, { dial: server.dial })
  await new Mutex(zk, '/locks/orders').use(held => console.log('held: ' + (held.token > 0n)))
  await zk.close()
  await server.close()
}
globalThis.whenUsed = use()
`

/** Runs the bundle without what a browser lacks. Its MessageChannel would keep Node's process alive. */
const asBrowser = `
const { exit } = process
for (const name of ['Buffer', 'process', 'setImmediate', 'clearImmediate', 'global', 'require']) delete globalThis[name]
await import('./bundle.js')
await whenUsed
exit()
`

describe('the package', () => {
  let directory: string

  before(async function () {
    this.timeout(300_000)
    ;({ directory } = await userWithPackage())
  })

  for (const [bundler, { command, bundle }] of Object.entries(bundlers))
    for (const kind of ['import', 'require'] as const)
      it(`works if ${bundler} has bundled a program that uses ${kind}`, async () => {
        const folder = `${bundler}-${kind}`
        const program = kind === 'import' ? 'program.mjs' : 'program.cjs'
        await write(directory, {
          [`${folder}/package.json`]: '{ "type": "module" }',
          [`${folder}/${program}`]: header[kind] + body + call,
          [`${folder}/vite.config.js`]: 'export default { ssr: { noExternal: true } }',
        })
        const { code, output } = await run(directory, folder, nodes['Node 24'], command(program))
        expect(code, output).to.equal(0)
        expect(await readFile(join(directory, folder, bundle), 'utf8')).to.include('/zookeeper')
        for (const node of Object.values(nodes))
          expect(await run(directory, folder, node, `node ${bundle}`)).to.deep.equal({
            code: 0,
            output: `${expected}\n`,
          })
      })

  for (const [bundler, command] of Object.entries(forBrowsers))
    it(`works without a module and a global of Node if ${bundler} has bundled zkwire/browser`, async () => {
      const folder = `${bundler}-browser`
      await write(directory, {
        [`${folder}/package.json`]: '{ "type": "module" }',
        [`${folder}/tab.js`]: tab,
        [`${folder}/vite.config.js`]: `export default { build: { lib: { entry: 'tab.js', formats: ['es'], fileName: 'bundle' } } }`,
        [`${folder}/as-browser.mjs`]: asBrowser,
      })
      const { code, output } = await run(directory, folder, nodes['Node 24'], command)
      expect(code, output).to.equal(0)
      expect(await run(directory, folder, nodes['Node 24'], 'node as-browser.mjs')).to.deep.equal({
        code: 0,
        output: 'held: true\n',
      })
    })
})
