// `npm run test:mutants`: StrykerJS makes small changes ("mutants") in the pure modules, one at a time, and runs the tests
// that reach the change. A mutant survives if no test fails. Arguments select files: `npm run test:mutants -- src/protocol/jute.ts`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installTools } from '../support/installed-tools.ts'
import { nodeBinary, root } from '../support/packed-package.ts'
import { copyRepository } from '../support/repository-copy.ts'
import { modules, slowTests, tests } from './modules.ts'
import { fileResults, type Report } from './report.ts'

/** The least share of the mutants in a file that tests must notice. */
const LEAST_SHARE = 0.9

/** StrykerJS 10 needs Node 22, and runs mocha 11 at most. */
const tools = await installTools('mutants', {
  node: nodeBinary('^22.0.0'),
  '@stryker-mutator/core': '10.0.0',
  '@stryker-mutator/mocha-runner': '10.0.0',
  mocha: '^11.0.0',
  ...{ chai: '^6.0.0', 'fast-check': '^4.0.0', tsx: '^4.0.0' },
})
const copy = join(root, '.cache', 'mutants', 'copy')
await rm(copy, { recursive: true, force: true })
await copyRepository(copy, { node_modules: tools })
await writeFile(
  join(copy, 'stryker.config.json'),
  JSON.stringify({
    mutate: process.argv.length > 2 ? process.argv.slice(2) : modules,
    plugins: ['@stryker-mutator/mocha-runner'],
    testRunner: 'mocha',
    testRunnerNodeArgs: ['--import', 'tsx'],
    mochaOptions: { 'no-config': true, spec: tests, grep: `^(?!.*(${slowTests.join('|')})).*$` },
    coverageAnalysis: 'perTest',
    // A change of a value that is computed when the module is loaded needs a new process for each mutant.
    ignoreStatic: true,
    disableTypeChecks: false,
    tsconfigFile: 'none.json',
    timeoutMS: 3000,
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
const problems = results.filter(({ share }) => share < LEAST_SHARE)
for (const { file, noticed, mutants, survivors } of results) {
  console.log(`${file}: ${noticed} of ${mutants} noticed`)
  for (const { line, change } of survivors) console.log(`  ${line}: ${change}`)
}
const noticed = results.reduce((sum, each) => sum + each.noticed, 0)
const mutants = results.reduce((sum, each) => sum + each.mutants, 0)
console.log(`noticed ${noticed} of ${mutants} (${((100 * noticed) / mutants).toFixed(1)} %)`)
for (const { file } of problems) console.log(`${file} is below ${100 * LEAST_SHARE} %`)
process.exitCode = problems.length > 0 ? 1 : 0
