// Compiles and bundles modules for a runtime, as users do.
import { build, type Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../environment/needs.ts'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string
  exports: Record<string, { import: { default: string } } | string>
}

/** The name by which users import each entry point of the package, keyed by its source file. */
const entryPoints = new Map(
  Object.entries(manifest.exports).flatMap(([door, module]) =>
    typeof module === 'string'
      ? []
      : [
          [
            module.import.default.replace('./dist/', '').replace(/\.js$/, '.ts'),
            manifest.name + door.slice(1),
          ] as const,
        ],
  ),
)

/**
 * Tests are type-checked against src/ and run against the package. An import of a source that is no entry point fails.
 */
const importByPackageName = (only: string | undefined): Plugin => ({
  name: 'import-by-package-name',
  setup(bundling) {
    bundling.onResolve({ filter: /\/src\// }, ({ path }) => {
      const name = entryPoints.get(path.replace(/^.*\/src\//, ''))
      return name === undefined
        ? { errors: [{ text: `${path} is not an entry point of the package` }] }
        : { path: only ?? name, external: true }
    })
  },
})

/**
 * Compiles a TypeScript file to one JavaScript file that imports the package by its name.
 * @param only an entry point from which it imports everything. Default: each name from its own entry point
 */
export async function compile(source: string, target: string, only?: string): Promise<void> {
  await build({
    entryPoints: [source],
    outfile: target,
    bundle: true,
    packages: 'external',
    format: 'esm',
    target: 'node20',
    plugins: [importByPackageName(only)],
    logLevel: 'silent',
  })
}

/** Bundles a worker as wrangler does: with all its imports except the runtime's built-in modules. */
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
