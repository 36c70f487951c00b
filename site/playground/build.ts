// Builds the playground: one HTML file, which loads no other.
// May import: esbuild, playwright-core, site/browser-runtime, site/world/scenes.ts, environment/chromium.ts, environment/procfs.ts.
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { browserOptions } from '../browser-runtime/esbuild.ts'
import { noticesOf } from '../browser-runtime/notices.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
const TITLE = 'ZooKeeper in a browser tab: the playground of zkwire'
const DESCRIPTION =
  'A ZooKeeper client and server in one page, in virtual time, with every frame in view: locks, watches, sessions and their faults.'

/** What the page has of a site that it is a part of. */
export interface PlaygroundFrame {
  /** The address to which the page leads back. */
  home: string
  /** The HTML of the top of each page, and its style. */
  top: string
  style: string
  /** The file of the site's script. */
  script: string
}

export interface BuiltPlayground {
  /** The whole page. */
  readonly html: string
  /** The notices of the packages that the page contains. */
  readonly notices: string
}

/** @param site Default: the page is one of its own, and loads no file. */
export async function buildPlayground(site?: PlaygroundFrame): Promise<BuiltPlayground> {
  const [{ script, notices }, own] = await Promise.all([bundle(), styles()])
  const style = site === undefined ? own : `${own}\n${site.style}`
  // Nothing but this script and this style may run or load, and the script of the site, whatever a link says. A program
  // of the editor runs in a worker of a `data:` address, which has no origin, and to which this policy applies too.
  const files = site === undefined ? '' : "'self' "
  const policy = `default-src 'none'; script-src ${files}${sourceOf(script)}; style-src ${sourceOf(style)}; worker-src data:; base-uri 'none'; form-action 'none'`
  const html = `<!doctype html>
<html lang="en"${site === undefined ? '' : ` data-home="${site.home}"`}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${DESCRIPTION}">
<title>${TITLE}</title>
<style>${style}</style>
${site === undefined ? '' : `<script defer src="${site.script}"></script>\n`}</head>
<body>
${site?.top ?? ''}
<main><h1>ZooKeeper in a browser tab</h1><p>This page needs JavaScript, because the client and the server run in it.</p></main>
<script>${script}</script>
<!--
This page contains these packages.

${notices.replaceAll(/-(?=-)/g, '- ')}-->
</body>
</html>
`
  return { html, notices }
}

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

async function bundle(): Promise<{ script: string; notices: string }> {
  const { outputFiles, metafile } = await build({
    ...browserOptions,
    entryPoints: [join(here, 'page/main.tsx')],
    minify: true,
    charset: 'utf8',
    write: false,
    metafile: true,
    absWorkingDir: root,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  })
  return {
    // A script in a page ends at the first such letters, even within a string.
    script: (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script'),
    notices: await noticesOf(Object.keys(metafile.inputs), root),
  }
}

async function styles(): Promise<string> {
  const folder = join(here, 'style')
  const names = (await readdir(folder)).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  const files = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  return files.join('\n')
}

const ORDER = [
  ...['page.css', 'controls.css', 'stage.css', 'time.css', 'lessons.css', 'details.css', 'lanes.css', 'history.css'],
  ...['projector.css', 'print.css', 'slides.css'],
]
