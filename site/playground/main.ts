// `npm run suite -- playground`: writes the page of the playground to site/dist.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { buildPlayground } from './build.ts'

const folder = join(import.meta.dirname, '..', 'dist')
const { html: page } = await buildPlayground()
await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'playground.html'), page)
const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`
console.log(
  `site/dist/playground.html: ${kilobytes(Buffer.byteLength(page))}, ${kilobytes(brotliCompressSync(page).length)} after brotli`,
)
