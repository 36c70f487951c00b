// The interface of a scenario: a few phases that N sessions repeat. The scenarios themselves are in bench/scenarios/.
import type { Client } from '../../src/index.ts'

/** The environment of one session in a scenario. */
export interface Participant {
  readonly client: Client
  /** The scenario's own node, already created. */
  readonly directory: string
  /** The index of the session, from 0. The trigger session's index is the number of the members. */
  readonly index: number
  /** Aborts when the scenario ends. */
  readonly signal: AbortSignal
  /** Records, with the time, that this session has reached the goal of the phase. */
  mark: () => void
  /** Aborts the run, because its figures would be wrong. */
  fail: (error: unknown) => void
  /** Drops the connection as if the server had died. The session reconnects. */
  cut: () => void
  /** Resolves when the server has accepted the watches of the dropped connection. */
  rearmed: () => Promise<void>
  /** Makes all servers unreachable. */
  isolate: () => void
  /** Makes the servers reachable again, waits for the expiration of the session, and resolves with a new session. */
  replaceSession: () => Promise<Client>
}

/**
 * The actions of a session, by name. A phase ends when all its frames have passed, not when the returned promises
 * resolve.
 */
export type Member = Readonly<Record<string, () => Promise<unknown> | undefined>>

export interface Phase {
  name: string
  /** The name of the action of {@link Member}. */
  action: string
  /** Which session acts: every member, the trigger session, the one marked last, or the one that acted last. */
  by: 'all' | 'trigger' | 'marked' | 'actor'
  /** Returns the number of marks that the phase causes with N members. */
  marks: (n: number) => number
  /** At the end of the phase, only the trigger session is connected. */
  isolates?: boolean
  /** Marks are timed from the action (default), or from the first mark if the action only starts a long wait. */
  from?: 'action' | 'first'
}

/** The exponents of N that theory predicts for one phase, and for gathering. */
interface Theory {
  notifications: number
  /** The exponent of the bytes that all members together receive in the phase. */
  bytes: number
  /** The exponent of the bytes that all members together receive until all are gathered. */
  gathering: number
}

type Kind = 'lock' | 'watch' | 'session'

export interface Scenario {
  name: string
  kind: Kind
  /** One line for --help. */
  about: string
  /** Phases that run once, before the first step. */
  warmUp: readonly Phase[]
  /** The phases of a step. */
  phases: readonly Phase[]
  /** The phase that is plotted and fitted, with its exponents. */
  theory: { phase: string } & Theory
  /** Adds one more session, which is not a member and triggers the phases. */
  hasTrigger?: boolean
  /** Gives the scenario its own sessions, with this timeout in ms. Needed if it ends or disconnects them. */
  ownSessions?: { timeout: number | undefined }
  /** The number of sessions that the members share, but at least one for each thread. */
  sessions?: number
  /** A step takes seconds. Only counted steps run, and their times are used. */
  isSlow?: boolean
  /**
   * True if the first step causes other traffic than the later ones, for example because the first holder of a lock has
   * not waited and so has no watches. Then one step runs before those that are measured.
   */
  firstStepDiffers?: boolean
  /** Why the counts differ between steps. Undefined if they are exact. */
  variesBecause?: string
  /**
   * True if the conclusion of a run compares the scenario with others. Its largest size is measured first, and even if
   * the time has run out.
   */
  isPrimary?: boolean
  /** True if the scenario is measured only when `--scenarios` selects it. */
  isExtra?: boolean
  /** Creates the nodes that the scenario needs in its directory. */
  setUp?: (client: Client, directory: string) => Promise<void>
  member: (participant: Participant) => Member
  trigger?: (participant: Participant) => Member
}
