// The frame of every page of the benchmarks: a single HTML file without external resources.
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
