// `npm run suite -- mutants SUITE [FILE...]`: StrykerJS makes small changes ("mutants") in the files of a suite, one at a
// time, and runs the tests that reach the change. A mutant survives if no test fails. Only what has changed since the
// last run of the suite is tried again. Writes the survivors to .cache/mutants/SUITE.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installTools } from '../../environment/installed-tools.ts'
import { mutationTools, root } from '../../environment/needs.ts'
import { copyRepository } from '../support/repository-copy.ts'
import { fileResults, survivorsPage, type Report } from './report.ts'
import { suites } from './suites.ts'

const [name = 'pure', ...files] = process.argv.slice(2)
const suite = suites[name]
if (suite === undefined) throw new Error(`there is no suite ${name}, only ${Object.keys(suites).join(', ')}`)

const tools = await installTools(mutationTools)
const directory = join(root, '.cache', 'mutants')
const copy = join(directory, name)
await rm(copy, { recursive: true, force: true })
await copyRepository(copy, { node_modules: tools })
await writeFile(
  join(copy, 'stryker.config.json'),
  JSON.stringify({
    mutate: files.length > 0 ? files : suite.mutate,
    plugins: ['@stryker-mutator/mocha-runner'],
    testRunner: 'mocha',
    testRunnerNodeArgs: ['--import', 'tsx'],
    mochaOptions: {
      'no-config': true,
      spec: suite.tests,
      ...(suite.without && { grep: `^(?!.*(${suite.without.join('|')})).*$` }),
    },
    coverageAnalysis: 'perTest',
    // A change of a value that is computed when the module is loaded needs a new process for each mutant.
    ignoreStatic: true,
    disableTypeChecks: false,
    tsconfigFile: 'none.json',
    // Long, because on a busy machine a slow test would count as one that noticed.
    timeoutMS: 15_000,
    incremental: true,
    incrementalFile: join(directory, `${name}.json`),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: 'report.json' },
    tempDirName: '.stryker',
  }),
)
const stryker = join(tools, '@stryker-mutator', 'core', 'bin', 'stryker.js')
const child = spawn(join(tools, 'node', 'bin', 'node'), [stryker, 'run'], { cwd: copy, stdio: 'inherit' })
const [code] = (await once(child, 'exit')) as [number | null]
if (code !== 0) throw new Error(`StrykerJS ended with status ${code}`)

const results = fileResults(JSON.parse(await readFile(join(copy, 'report.json'), 'utf8')) as Report)
const page = join(directory, `${name}.md`)
await writeFile(page, survivorsPage(results))
for (const { file, noticed, mutants } of results) console.log(`${file}: ${noticed} of ${mutants} noticed`)
const noticed = results.reduce((sum, each) => sum + each.noticed, 0)
const mutants = results.reduce((sum, each) => sum + each.mutants, 0)
console.log(`noticed ${noticed} of ${mutants} (${((100 * noticed) / mutants).toFixed(1)} %); the others are in ${page}`)
const problems = results.filter(({ share }) => share < suite.least)
for (const { file } of problems) console.log(`${file} is below ${100 * suite.least} %`)
process.exitCode = problems.length > 0 ? 1 : 0
