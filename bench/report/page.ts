// The frame of every page of the benchmarks: a single HTML file without external resources.
import { transform } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { html, Html } from './html.ts'

export async function renderPage(title: string, body: Html): Promise<string> {
  const style = await readFile(new URL('style.css', import.meta.url), 'utf8')
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
  const code = await readFile(new URL('browser/player.ts', import.meta.url), 'utf8')
  const player = await transform(code, { loader: 'ts' })
  return html`${body}
    <script type="module">
      ${new Html(player.code)}
    </script>`
}
