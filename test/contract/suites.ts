// Everything that a ZooKeeper is held to.
import { acl } from './suites/acl.ts'
import { counters } from './suites/counters.ts'
import { multi } from './suites/multi.ts'
import { modes, nodes } from './suites/nodes.ts'
import { refusals } from './suites/refusals.ts'
import { sessions } from './suites/sessions.ts'
import { time } from './suites/time.ts'
import { watches } from './suites/watches.ts'
import { words } from './suites/words.ts'

/** For a server that is configured as {@link sharedServer}. */
export const chapters = [nodes, modes, refusals, multi, acl, sessions, watches, words]

/** For one whose time is `brisk`. */
export const briskChapters = [time]

/** For one whose directories have come so far as `counted` says. */
export const countedChapters = [counters]
