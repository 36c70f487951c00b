// `npm run needs SUITE`: says what the suite will install on this machine, and nothing if that is nothing.
import { announcement, missingOf } from './needs.ts'

const [suite = ''] = process.argv.slice(2)
process.stderr.write(announcement(suite, await missingOf(suite), process.getuid?.() === 0))
