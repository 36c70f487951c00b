// `npm run suite -- exploration`: explores the worlds of bounds.ts, two at a time, and prints a table. Explorations that have
// passed are kept in .cache/exploration.json, and skipped by the next run with the same sources: so a run can be resumed.
// Arguments select the explorations whose title contains one of them. `--deep` adds larger ones, and lets each go on to its
// end. `--write` writes the table to docs/exploration.md, also of explorations that have passed before (`--processes 0`
// explores nothing). `--schedule 0,0,1` tells that schedule of the one exploration that is selected.
import { fork, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { root } from '../../environment/needs.ts'
import { explorations, type Bound } from './bounds.ts'
import { titleOf } from './explorer.ts'
import type { Message, Result, Task } from './row.ts'
import { take, tell } from './story.ts'
import { tableOf, withTable } from './table.ts'

const PAGE = join(root, 'docs/exploration.md')
/** What an exploration may need, in megabytes. */
const HEAP = 6000
/** How much processor time an exploration may need without `--deep`, in seconds. */
const LONGEST = 180

const { positionals: words, values: flags } = parseArgs({
  allowPositionals: true,
  options: {
    deep: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    schedule: { type: 'string' },
    processes: { type: 'string', default: '2' },
    /** The file in which the explorations that have passed are kept. */
    passed: { type: 'string', default: join(root, '.cache/exploration.json') },
  },
})
const isChosen = (exploration: Bound) =>
  (flags.deep || flags.schedule !== undefined || exploration.size !== 'deep') &&
  (words.length === 0 || words.some(word => titleOf(exploration).includes(word)))
const chosen = explorations.filter(isChosen)

/** A hash of the code: a result counts only for the code that it was found with. */
const version = hashOf(['src', 'test/exploration', 'test/linearizability'])
const passed = readPassed()
const hasPassed = (exploration: Bound) => {
  const result = passed[titleOf(exploration)]
  return result !== undefined && (result.isWhole || !flags.deep)
}
const waiting = chosen.filter(each => !hasPassed(each))
const progress = new Map<string, number>()
let failures = 0
process.exitCode = (await (flags.schedule === undefined ? exploreAll() : repeat(flags.schedule))) ? 0 : 1

async function exploreAll(): Promise<boolean> {
  if (waiting.length < chosen.length) console.log(`${chosen.length - waiting.length} have passed with these sources`)
  const begun = performance.now()
  await Promise.all(Array.from({ length: Number(flags.processes) }, work))
  const rows = chosen.flatMap(each => {
    const result = passed[titleOf(each)]
    return result === undefined ? [] : [{ title: titleOf(each), ...result }]
  })
  if (rows.length > 0) console.log(tableOf(rows))
  console.log(`${((performance.now() - begun) / 60_000).toFixed(1)} minutes in this run`)
  console.log(failures === 0 ? 'no schedule fails' : `${failures} of ${chosen.length} explorations fail`)
  if (flags.write) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), tableOf(rows)))
  return failures === 0 && chosen.length > 0
}

/** Tells one schedule. Returns false if it fails, or if there is no such schedule. */
async function repeat(schedule: string): Promise<boolean> {
  const [exploration, ...others] = chosen
  const outcome =
    exploration && others.length === 0 ? await take(exploration, schedule.split(',').map(Number)) : undefined
  if (exploration === undefined || outcome === undefined) {
    console.log(`${chosen.length} explorations are selected, or the selected one has no such schedule`)
    return false
  }
  console.log(tell(exploration, outcome))
  return outcome.problems.length === 0
}

/** Takes one exploration after the other, each in a new process, until none is left. */
async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const title = titleOf(next)
    const outcome = await explored(next, title)
    progress.delete(title)
    show('')
    if (typeof outcome === 'string') {
      failures++
      console.log(outcome)
      continue
    }
    const { schedules, states, cpu, isWhole } = outcome
    passed[title] = outcome
    mkdirSync(dirname(flags.passed), { recursive: true })
    writeFileSync(flags.passed, JSON.stringify({ version, passed }, null, 2))
    console.log(`${title}: ${schedules} schedules, ${states} states, ${cpu.toFixed(1)} s${isWhole ? '' : ', stopped'}`)
  }
}

function explored(exploration: Bound, title: string): Promise<Result | string> {
  const child: ChildProcess = fork(fileURLToPath(new URL('row.ts', import.meta.url)), {
    execArgv: [...process.execArgv, '--max-semi-space-size=64', `--max-old-space-size=${HEAP}`],
  })
  child.send({
    nth: explorations.indexOf(exploration),
    seconds: flags.deep ? undefined : LONGEST,
  } satisfies Task)
  return new Promise(resolve => {
    child.on('message', (message: Message) => {
      if ('states' in message) {
        progress.set(title, message.states)
        show([...progress].map(([of, states]) => `${of}: ${states} states`).join('   '))
        return
      }
      child.disconnect()
      resolve('result' in message ? message.result : message.failed)
    })
    child.on('exit', code => resolve(`${title}: its process ended with ${String(code)}`))
  })
}

/** Shows how far the explorations are, in the last line of a terminal. */
function show(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
}

function readPassed(): Record<string, Result> {
  try {
    const saved = JSON.parse(readFileSync(flags.passed, 'utf8')) as { version: string; passed: Record<string, Result> }
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
