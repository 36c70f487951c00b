// Bundles the program of the worker processes, client included, into plain JavaScript, so that no TypeScript loader is
// measured.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/** Bundles the program and returns its path. */
export async function buildProgram(): Promise<string> {
  const outfile = fileURLToPath(new URL('../../.cache/growth/main.js', import.meta.url))
  await build({
    entryPoints: [fileURLToPath(new URL('child/main.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'silent',
  })
  return outfile
}
