// Everything that a ZooKeeper is held to.
import { acl } from './chapters/acl.ts'
import { counters } from './chapters/counters.ts'
import { multi } from './chapters/multi.ts'
import { modes, nodes } from './chapters/nodes.ts'
import { refusals } from './chapters/refusals.ts'
import { sessions } from './chapters/sessions.ts'
import { time } from './chapters/time.ts'
import { watches } from './chapters/watches.ts'
import { words } from './chapters/words.ts'

/** For a server that is configured as {@link sharedServer}. */
export const chapters = [nodes, modes, refusals, multi, acl, sessions, watches, words]

/** For one whose time is `brisk`. */
export const briskChapters = [time]

/** For one whose directories have come so far as `counted` says. */
export const countedChapters = [counters]
