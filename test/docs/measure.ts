// `npm run bench -- docs`: measures anew the runs that documents quote, and writes these documents.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { runProgram } from '../../bench/output/interrupted.ts'
import { readResult, write } from '../../bench/output/result.ts'
import { readPeersResult } from '../../bench/peers/result.ts'
import { parseServicesResult } from '../../bench/services/result.ts'
import { root } from '../../environment/needs.ts'
import { measuredDocuments } from './measured-documents.ts'
import { commandsOf, help, parse, type Options } from './measure-options.ts'

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const MEASURED = ['src', 'bench', 'environment', 'package.json']

async function run({ runs, isQuick }: Options): Promise<number> {
  process.chdir(root)
  if (runs.length > 0 && !isQuick && git('status', '--porcelain', '--', ...MEASURED) !== '')
    throw new Error('src, bench, environment or package.json have changes that are not committed: commit them first')
  for (const { command, program, args } of commandsOf(runs, isQuick)) {
    process.stdout.write(`\n${git('rev-parse', '--short', 'HEAD')}: ${command} ${args.join(' ')}\n`)
    const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { stdio: 'inherit' })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) return code ?? 1
  }
  if (isQuick) return 0
  const results = {
    herd: await readResult('docs/herd.json'),
    peers: await readPeersResult('docs/peers.json'),
    forecast: await readResult('docs/forecast.json'),
    services: parseServicesResult(readFileSync('docs/services.json', 'utf8')),
  }
  for (const [file, text] of Object.entries(measuredDocuments(results, readFileSync('bench/README.md', 'utf8')))) {
    if (readFileSync(file, 'utf8') === text) continue
    await write(file, text)
    process.stdout.write(`written: ${file}\n`)
  }
  process.stdout.write('Then run: npx mocha test/docs test/bench\n')
  return 0
}

await runProgram({ command: 'npm run bench -- docs', help, parse, run })
