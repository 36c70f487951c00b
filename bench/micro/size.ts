// `npm run bench -- size`: bundles small programs with the built package, and prints their sizes.
import { build, type Metafile } from 'esbuild'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const root = join(import.meta.dirname, '..', '..')

/** The bundled programs: imports as users write them. */
export const programs = {
  'connect and Mutex': "export { connect } from 'zkwire'; export { Mutex } from 'zkwire/recipes'",
  'connect of zkwire/cloudflare and Mutex':
    "export { connect } from 'zkwire/cloudflare'; export { Mutex } from 'zkwire/recipes'",
  'Sessions of zkwire/cloudflare and Mutex':
    "export { Sessions } from 'zkwire/cloudflare'; export { Mutex } from 'zkwire/recipes'",
  connect: "export { connect } from 'zkwire'",
  'the errors alone': "export { ZooKeeperError } from 'zkwire/protocol'",
} as const

/** The program whose size has a budget. */
export const budgeted = 'connect and Mutex' satisfies keyof typeof programs

export interface Size {
  /** The size of the minified bundle in bytes. */
  minified: number
  /** The size of the minified bundle in bytes after brotli at its highest quality. */
  brotli: number
  /** The files of dist that the bundle contains, each with its bytes in the bundle. */
  files: ReadonlyMap<string, number>
  /** The modules of the runtime that it imports, sorted. */
  imports: readonly string[]
}

/** Bundles a module, minified, with all its imports except those of the runtime. */
export async function bundleOf(source: string): Promise<{ code: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: root },
    absWorkingDir: root,
    outfile: 'bundle.js',
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['node:*', 'cloudflare:*'],
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  return { code: outputFiles[0]?.text ?? '', metafile }
}

export async function sizeOf(program: keyof typeof programs): Promise<Size> {
  const { code, metafile } = await bundleOf(programs[program])
  const bundle = Buffer.from(code)
  const output = metafile.outputs['bundle.js']
  const inputs = Object.entries(output?.inputs ?? {})
  return {
    minified: bundle.length,
    brotli: brotliCompressSync(bundle).length,
    files: new Map(inputs.flatMap(([file, { bytesInOutput: bytes }]) => (bytes > 0 ? [[file, bytes] as const] : []))),
    imports: [...new Set(output?.imports.map(({ path }) => path))].sort(),
  }
}

/** The parts of the client. A file of dist belongs to the first part whose pattern it matches. */
const parts: Readonly<Record<string, RegExp>> = {
  'the protocol: Jute, records, operations, errors': /^protocol/,
  'a method for each operation, views':
    /^(client.(acl|validation|chroot|client|operations|recursive|recipe-support)|options|runtime.uuid)/,
  'multi, multiRead, transactions': /^client.(multi|transaction)/,
  'watches: one-shot, persistent, set again': /^(session.watches|runtime.sweeping-map)/,
  'which servers: connect string, SRV, reconfig, read-only':
    /^(session.servers|client.(ensemble|reconfig)|transport.srv)/,
  'the session: handshakes, requests, reconnecting, the lease': /^(session|client)/,
  'TLS, and the detection of its errors': /^transport.tls/,
  'TCP, clock, randomness': /^(transport|runtime)/,
  Mutex: /^recipes/,
}

/**
 * Returns the bytes of each part, the largest part first.
 * @throws Error if a file belongs to no part
 */
export function byPart({ files }: Size): [part: string, bytes: number][] {
  const spent = new Map<string, number>()
  for (const [file, bytes] of files) {
    const part = Object.keys(parts).find(each => parts[each]?.test(file.replace(/^dist./, '')))
    if (part === undefined) throw new Error(`${file} belongs to no part`)
    spent.set(part, (spent.get(part) ?? 0) + bytes)
  }
  return [...spent].sort(([, a], [, b]) => b - a)
}

const kB = (bytes: number): string => (bytes / 1000).toFixed(1)

async function main(): Promise<void> {
  console.log('kB, minified and with brotli')
  for (const program of Object.keys(programs) as (keyof typeof programs)[]) {
    const size = await sizeOf(program)
    console.log(`${kB(size.minified).padStart(6)} ${kB(size.brotli).padStart(6)}  ${program}`)
  }
  console.log(`\nof it, in ${budgeted}:`)
  for (const [part, bytes] of byPart(await sizeOf(budgeted))) console.log(`${kB(bytes).padStart(6)}         ${part}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
