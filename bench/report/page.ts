// The frame of every page of the benchmarks: a single HTML file without external resources.
import { transform } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { html, Html } from './html.ts'

export async function renderPage(title: string, body: Html): Promise<string> {
  const style = await styleOf('palette.css', 'style.css')
  return `${String(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${title}: zkwire</title>
          <style>
            ${new Html(style)}
          </style>
        </head>
        <body>
          ${body}
        </body>
      </html>`,
  )}\n`
}

/** Adds the script that plays the timelines. */
export async function withPlayer(body: Html): Promise<Html> {
  return html`${body}
    <script type="module">
      ${new Html(await playerScript())}
    </script>`
}

/** Returns the script that plays the timelines, in JavaScript. */
export async function playerScript(): Promise<string> {
  const code = await readFile(new URL('browser/player.ts', import.meta.url), 'utf8')
  return (await transform(code, { loader: 'ts' })).code
}

/** Returns the text of style sheets of this folder. */
export async function styleOf(...files: readonly string[]): Promise<string> {
  const texts = await Promise.all(files.map(file => readFile(new URL(file, import.meta.url), 'utf8')))
  return texts.join('\n')
}
