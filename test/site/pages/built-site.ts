// The site, built once for all test files, and served by HTTP or as files.
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { buildSite, frameOfPlayground, type Site } from '../../../site/pages/build.ts'
import { buildPlayground } from '../../../site/playground/build.ts'

let built: Promise<Site> | undefined

export const builtSite = (): Promise<Site> =>
  (built ??= frameOfPlayground()
    .then(buildPlayground)
    .then(({ html }) => buildSite(html)))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}

/** Serves the site below a folder, as a host of pages does for a project. */
export async function serve(site: Site): Promise<AsyncDisposable & { address: string }> {
  const folder = '/zkwire/'
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.startsWith(folder) ? pathname.slice(folder.length) : ''
    const content = site.get(path)
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' })
    response.end(content)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${folder}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Writes the site to a temporary folder. */
export async function write(site: Site): Promise<AsyncDisposable & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'zkwire-site-'))
  for (const [path, content] of site) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}
