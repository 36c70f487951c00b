// `npm run suite -- NAME`: runs one of the suites, with the rest of the command line. Without a name it lists them.
import { announcement, missingOf, suites } from './suites.ts'
import { siteTools } from './needs.ts'
import { namedProgram, runScript, startProgram } from './named-programs.ts'

const [, , name = '', ...options] = process.argv
const suite = namedProgram('npm run suite', suites)
if (suite !== undefined) {
  // Tells the suite its name, see expectDeclared().
  process.env['SUITE'] = name
  process.stderr.write(announcement(name, await missingOf(name), process.getuid?.() === 0))
  if (suite.needs.includes(siteTools)) runScript('site:install')
  const { configuration, tests } = suite
  const chosen = options.some(option => /^(\.\/)?test\//.test(option)) ? [] : tests
  await startProgram(suite, [...(configuration ?? []), ...(chosen ?? []), ...options])
}
