// Rewrites docs/herd.md from docs/herd.json, a result of `npm start -- --apache --json docs/herd.json`:
// node --import tsx test/docs/write-herd.ts
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readResult } from '../../bench/output/result.ts'
import { herdPage } from './herd-page.ts'

const inDocs = (name: string) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url))

await writeFile(inDocs('herd.md'), herdPage(await readResult(inDocs('herd.json'))))
