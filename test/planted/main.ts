// `npm run suite -- planted`: plants one bug after the other into copies of the repository, and runs the test file that must
// catch it. Arguments select the bugs whose sentence, file or test file contains one of them.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../environment/needs.ts'
import { copyRepository } from '../support/repository-copy.ts'
import { catalogue } from './catalogue.ts'
import { runTestFile, type Outcome } from './mocha-run.ts'
import { plant, type PlantedBug } from './planted-bug.ts'

const words = process.argv.slice(2)
const isChosen = ({ bug, file, caughtBy }: PlantedBug) =>
  words.length === 0 || words.some(word => [bug, file, caughtBy].some(text => text.includes(word)))

/** A copy of the repository with its installed packages and its build. */
async function copyOfRepository(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'zkwire-planted-'))
  await copyRepository(directory, { node_modules: join(root, 'node_modules'), dist: join(root, 'dist') })
  return directory
}

/** Returns the first line of the failure that has caught the bug, or why none has. */
async function tryToCatch(bug: PlantedBug, directory: string): Promise<{ failure: string } | { reason: string }> {
  const file = join(directory, bug.file)
  const text = await readFile(file, 'utf8')
  try {
    await writeFile(file, plant(text, bug))
    const outcome = await runTestFile(directory, bug.caughtBy)
    if (outcome.is === 'failed') return { failure: outcome.error }
    return { reason: `${bug.caughtBy} ${descriptionOf(outcome)}` }
  } catch (error) {
    return { reason: (error as Error).message }
  } finally {
    await writeFile(file, text)
  }
}

function descriptionOf(outcome: Outcome): string {
  if (outcome.is === 'passed') return `passed all its ${outcome.tests} tests`
  if (outcome.is === 'broken') return `could not be loaded: ${outcome.error}`
  return outcome.is === 'failed' ? `failed: ${outcome.title}: ${outcome.error}` : 'ran out of time'
}

/** Runs the tasks on all copies, each copy one task at a time. */
async function onCopies<T>(tasks: readonly T[], run: (task: T, directory: string) => Promise<void>): Promise<void> {
  const queue = [...tasks]
  await Promise.all(
    copies.map(async directory => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) await run(task, directory)
    }),
  )
}

const begun = performance.now()
const chosen = catalogue.filter(isChosen)
/** One more than there are processors, because a test that waits for a server's start leaves its processor idle. */
const jobs = availableParallelism() + 1
const copies = await Promise.all(Array.from({ length: jobs }, copyOfRepository))
const problems: string[] = []
let caught = 0
try {
  // A test file that fails anyway would seem to catch every bug.
  await onCopies([...new Set(chosen.map(({ caughtBy }) => caughtBy))], async (testFile, directory) => {
    const outcome = await runTestFile(directory, testFile)
    if (outcome.is !== 'passed') problems.push(`without any bug, ${testFile} ${descriptionOf(outcome)}`)
  })
  if (problems.length === 0)
    await onCopies(chosen, async (bug, directory) => {
      const found = await tryToCatch(bug, directory)
      if ('failure' in found) caught++
      else problems.push(`${bug.bug} (${bug.file}): ${found.reason}`)
      console.log('failure' in found ? `caught  ${bug.bug}\n        ${found.failure}` : `MISSED  ${bug.bug}`)
    })
} finally {
  for (const directory of copies) await rm(directory, { recursive: true })
}
const seconds = Math.round((performance.now() - begun) / 1000)
console.log(['', ...problems, `caught ${caught} of ${chosen.length} in ${seconds} s`].join('\n'))
process.exitCode = caught === chosen.length && chosen.length > 0 ? 0 : 1
