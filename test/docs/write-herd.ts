// Rewrites docs/herd.md from docs/herd.json, docs/peers.json and docs/forecast.json, results of `npm start -- --apache --json
// docs/herd.json`, of `npm run bench -- peers --json docs/peers.json`, and of the command in docs/forecast.json:
// node --import tsx test/docs/write-herd.ts
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readResult } from '../../bench/output/result.ts'
import { readPeersResult } from '../../bench/peers/result.ts'
import { herdPage } from './herd-page.ts'

const inDocs = (name: string) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url))

const [result, peers] = [await readResult(inDocs('herd.json')), await readPeersResult(inDocs('peers.json'))]
await writeFile(inDocs('herd.md'), herdPage(result, peers, await readResult(inDocs('forecast.json'))))
