// `npm run site`: builds the site in site/dist.
// May import: bench/output/result.ts, bench/report/html.ts, bench/report/page.ts, bench/report/report.ts,
// site/pages/api/declaration.ts, site/pages/api/pages.ts, site/pages/api/reference.ts, site/browser-runtime/notices.ts, site/lab, site/lessons, site/playground/build.ts,
// site/playground/model/words.ts, site/world/release-link.ts, site/world/scenes.ts, site/world/story.ts, esbuild, linkedom, markdown-it, minisearch,
// shiki.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buildPlayground } from '../playground/build.ts'
import { buildSite, frameOfPlayground } from './build.ts'

const folder = join(import.meta.dirname, '..', 'dist')
const site = await buildSite((await buildPlayground(await frameOfPlayground())).html)
await rm(folder, { recursive: true, force: true })
for (const [path, content] of site) {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}
const total = [...site.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0)
console.log(`site/dist: ${site.size} files, ${(total / 1e6).toFixed(1)} MB. Open site/dist/index.html in a browser.`)
