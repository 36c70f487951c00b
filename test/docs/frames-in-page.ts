// Reads and replaces the frames in docs/protocol.md.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const file = fileURLToPath(new URL('../../docs/protocol.md', import.meta.url))

const BLOCK = /^(<!-- frame: (.+) -->\n```text\n)([^]*?)(^```)$/gm

/** Returns the frames of a page by name, in order. */
export const framesOn = (page: string): Map<string, string> =>
  new Map([...page.matchAll(BLOCK)].map(([, , name = '', text = '']) => [name, text.trimEnd()]))

export const withFrames = (page: string, textOf: (name: string) => string): string =>
  page.replace(BLOCK, (_, head: string, name: string, _text, end: string) => `${head}${textOf(name)}\n${end}`)

export const read = (): string => readFileSync(file, 'utf8')
