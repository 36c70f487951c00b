// The measuring processes run one bundle of plain JavaScript, client and all, as users who bundle theirs do: no loader between.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/** Returns the path of the program. */
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
