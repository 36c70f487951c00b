// What users do to the modules that they run on a runtime.
import { build, type Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.ts'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  exports: Record<string, { default: string } | string>
}

/** By each door's source, the name that users import it by; package.json has none. */
const entryPoints = new Map(
  Object.entries(manifest.exports).flatMap(([door, module]) =>
    typeof module === 'string'
      ? []
      : [[module.default.replace('./dist/', '').replace(/\.js$/, '.ts'), manifest.name + door.slice(1)] as const],
  ),
)

/** The tests are checked against the sources, and run on the package. A source that is no door fails. */
const importByPackageName: Plugin = {
  name: 'the package by its name',
  setup(bundling) {
    bundling.onResolve({ filter: /\/src\// }, ({ path }) => {
      const name = entryPoints.get(path.replace(/^.*\/src\//, ''))
      return name === undefined
        ? { errors: [{ text: `${path} is no door of the package` }] }
        : { path: name, external: true }
    })
  },
}

/** One JavaScript file of a TypeScript one, which imports the package by its name. */
export async function compile(source: string, target: string): Promise<void> {
  await build({
    entryPoints: [source],
    outfile: target,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'node20',
    plugins: [importByPackageName],
    logLevel: 'silent',
  })
}

/** A worker with all that it imports but what the runtime has: as wrangler does it. */
export async function bundleWorker(source: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker'],
    external: ['node:*', 'cloudflare:*'],
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
