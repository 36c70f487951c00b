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
})
