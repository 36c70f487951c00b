// Bundles a program into plain JavaScript, so that no TypeScript loader is measured.
import { build } from 'esbuild'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../.cache/programs/', import.meta.url))

/** Bundles a program, such as growth/child/main.ts, and returns the path of the bundle. */
export async function bundled(program: URL): Promise<string> {
  const entryPoint = fileURLToPath(program)
  const outfile = join(cache, basename(join(dirname(entryPoint), '..')), 'main.mjs')
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'silent',
  })
  return outfile
}
