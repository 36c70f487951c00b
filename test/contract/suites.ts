// All suites of the contract.
import { acl } from './suites/acl.ts'
import { counters } from './suites/counters.ts'
import { errors } from './suites/errors.ts'
import { fourLetterWords } from './suites/four-letter-words.ts'
import { multi } from './suites/multi.ts'
import { modes, nodes } from './suites/nodes.ts'
import { enforcedQuotas, quotas } from './suites/quotas.ts'
import { sessions } from './suites/sessions.ts'
import { superuser } from './suites/superuser.ts'
import { time } from './suites/time.ts'
import { versions } from './suites/versions.ts'
import { watchLifetime } from './suites/watch-lifetime.ts'
import { watches } from './suites/watches.ts'

/** Suites for a server with the configuration of {@link sharedServer}. */
export const suites = [
  nodes,
  modes,
  errors,
  multi,
  acl,
  sessions,
  watches,
  watchLifetime,
  quotas,
  fourLetterWords,
  versions,
]

/** Suites for a server with `shortIntervals`. */
export const timeSuites = [time]

/** Suites for a server that enforces quotas and has the superuser `superDigest`. */
export const quotaSuites = [enforcedQuotas, superuser]

/** Suites for a server whose sequence counters are set to `counterStarts`. */
export const counterSuites = [counters]
