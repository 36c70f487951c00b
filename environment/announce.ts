// `npm run needs SUITE`: says what the suite will install on this machine, and nothing if that is nothing.
import { announcement, missingOf, needsOf, suites } from './suites.ts'

const [suite = ''] = process.argv.slice(2)
if (needsOf(suite) === undefined) {
  process.stderr.write(`there is no suite ${suite}, only ${['test', ...Object.keys(suites)].join(', ')}\n`)
  process.exitCode = 2
} else process.stderr.write(announcement(suite, await missingOf(suite), process.getuid?.() === 0))
