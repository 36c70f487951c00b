// What the client costs whoever bundles it: npm run size, after npm run build.
import { build } from 'esbuild'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')

/** What is measured, as users write it. */
export const programs = {
  'connect and Mutex': "export { connect } from 'zkwire'; export { Mutex } from 'zkwire/recipes'",
  connect: "export { connect } from 'zkwire'",
  'the errors alone': "export { ZooKeeperError } from 'zkwire/protocol'",
} as const

export interface Size {
  /** Bytes, minified. */
  minified: number
  /** Bytes of that after brotli, at its best. */
  brotli: number
  /** The files of dist that are in it, each with the bytes that are left of it. */
  files: ReadonlyMap<string, number>
}

export async function sizeOf(program: keyof typeof programs): Promise<Size> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: programs[program], resolveDir: root },
    absWorkingDir: root,
    outfile: 'bundle.js',
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['node:*'],
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const bundle = outputFiles[0]?.contents ?? new Uint8Array()
  const inputs = Object.entries(metafile.outputs['bundle.js']?.inputs ?? {})
  return {
    minified: bundle.length,
    brotli: brotliCompressSync(bundle).length,
    files: new Map(inputs.flatMap(([file, { bytesInOutput: bytes }]) => (bytes > 0 ? [[file, bytes] as const] : []))),
  }
}

/** Bytes by floor, the largest first. */
export function byFloor({ files }: Size): [string, number][] {
  const floors = new Map<string, number>()
  for (const [file, bytes] of files) {
    const floor = file.split('/')[1] ?? ''
    floors.set(floor, (floors.get(floor) ?? 0) + bytes)
  }
  return [...floors].sort(([, a], [, b]) => b - a)
}

async function main(): Promise<void> {
  console.log('minified   brotli')
  for (const program of Object.keys(programs) as (keyof typeof programs)[]) {
    const size = await sizeOf(program)
    const floors = byFloor(size).map(([floor, bytes]) => `${floor} ${bytes}`)
    console.log(
      `${String(size.minified).padStart(8)} ${String(size.brotli).padStart(8)}   ${program} (${floors.join(', ')})`,
    )
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
