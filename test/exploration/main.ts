// `npm run test:exploration`: explores every world of bounds.ts to the end, and prints a table. Explorations that have
// passed are kept in .cache/exploration.json, and skipped by the next run with the same sources: so a run can be
// resumed. Arguments select the explorations whose title contains one of them. `--deep` adds
// larger ones, whose end nobody has seen yet.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../environment/needs.ts'
import { explorations, titleOf } from './bounds.ts'
import { explore, type Report } from './explorer.ts'
import { minimised, tell } from './story.ts'

const FILE = join(root, '.cache/exploration.json')
const isDeep = process.argv.includes('--deep')
const words = process.argv.slice(2).filter(word => word !== '--deep')
const chosen = explorations.filter(
  each => (isDeep || each.size !== 'deep') && (words.length === 0 || words.some(word => titleOf(each).includes(word))),
)

/** A hash of the code: a result counts only for the code that it was found with. */
const version = hashOf(['src', 'test/exploration'])
const passed = readPassed()
let failures = 0
console.log('| world and bound | schedules | merged | states | longest | seconds |\n|---|---|---|---|---|---|')
for (const exploration of chosen) {
  const title = titleOf(exploration)
  const row = passed[title] ?? (await run(title))
  if (row === undefined) failures++
  else {
    console.log(row)
    passed[title] = row
    mkdirSync(join(root, '.cache'), { recursive: true })
    writeFileSync(FILE, JSON.stringify({ version, passed }, null, 2))
  }
  async function run(name: string): Promise<string | undefined> {
    const { scenario } = exploration
    const begun = performance.now()
    const report = await explore(scenario, exploration, { onSchedule: progress(name) })
    process.stderr.write('\r\u001b[K')
    if (report.failure !== undefined) {
      console.log(tell(scenario, exploration, await minimised(scenario, exploration, report.failure.schedule)))
      return undefined
    }
    const { complete, merged, states, longest } = report
    return `| ${[name, complete, merged, states, longest, ((performance.now() - begun) / 1000).toFixed(0)].join(' | ')} |`
  }
}
console.log(failures === 0 ? 'no schedule fails' : `${failures} of ${chosen.length} explorations fail`)
process.exitCode = failures === 0 && chosen.length > 0 ? 0 : 1

/** Prints the numbers so far, once a second. */
function progress(name: string): (report: Report) => boolean {
  let last = performance.now()
  return ({ complete, merged, states }) => {
    if (performance.now() - last < 1000) return false
    last = performance.now()
    process.stderr.write(`\r${name}: ${complete} schedules, ${merged} merged, ${states} states`)
    return false
  }
}

function readPassed(): Record<string, string> {
  try {
    const saved = JSON.parse(readFileSync(FILE, 'utf8')) as { version: string; passed: Record<string, string> }
    return saved.version === version ? saved.passed : {}
  } catch {
    return {}
  }
}

function hashOf(folders: readonly string[]): string {
  const hash = createHash('sha256')
  for (const folder of folders)
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort())
      if (name.endsWith('.ts')) hash.update(readFileSync(join(root, folder, name)))
  return hash.digest('hex')
}
