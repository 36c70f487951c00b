// What a scenario is: a handful of phases that sessions go through again and again. Each one is a small file in scenarios/.
import type { Client } from '../../src/index.ts'

/** A session's part in a scenario. */
export interface Participant {
  readonly client: Client
  /** The scenario's own node. It exists. */
  readonly directory: string
  /** From 0; the conductor's is the number of the others. */
  readonly index: number
  /** Aborts when the session's part is over. */
  readonly signal: AbortSignal
  /** What the phase is about has happened to this session: noted with the time. */
  mark: () => void
  /** Ends the run: what was measured would not be true. */
  fail: (error: unknown) => void
  /** The connection breaks, as if the server had died; the session goes on with the next one. */
  cut: () => void
  /** Resolves when the server has taken the watches of a connection that was broken. */
  rearmed: () => Promise<void>
  /** From now on no server can be reached. */
  isolate: () => void
  /** Servers can be reached again. The session has expired meanwhile: resolves with another one in its place. */
  replaceSession: () => Promise<Client>
}

/** What phases ask for, by name. A promise that is returned need not be waited for: a phase is over when all its frames have come. */
export type Member = Readonly<Record<string, () => Promise<unknown> | undefined>>

export interface Phase {
  name: string
  /** Which of the member's deeds. */
  action: string
  /** Who does it: every member, the conductor, who was marked last, or who did something last. */
  by: 'all' | 'trigger' | 'marked' | 'actor'
  /** How many marks it leads to, with N members. */
  marks: (n: number) => number
  /** Nobody but the conductor can be reached when it is over. */
  isolates?: boolean
  /** What marks are timed from: the deed, or the first of them, where the deed is only the beginning of a long wait. */
  from?: 'deed' | 'first'
}

/** The exponents of N that theory foretells of what one phase causes, and gathering. */
export interface Theory {
  notifications: number
  /** Received by all members together. */
  bytes: number
  /** The same until all are gathered. */
  gathering: number
}

export type Kind = 'lock' | 'watch' | 'session'

export interface Scenario {
  name: string
  kind: Kind
  /** One line for the help. */
  about: string
  /** Once, before the first step. */
  warmUp: readonly Phase[]
  /** A step. */
  phases: readonly Phase[]
  /** Of the phase that is drawn and fitted. */
  theory: { phase: string } & Theory
  /** A session of its own that belongs to nobody, to set things off. */
  hasTrigger?: boolean
  /** Where sessions are to end, they are the scenario's own, with this timeout, ms. */
  ownSessions?: { timeout: number | undefined }
  /** The members share so many sessions, or as many as there are threads where those are more. */
  sessions?: number
  /** A step takes seconds: only counted ones are done, and timed as they are. */
  isSlow?: boolean
  /** Where one step need not cause what the other does: why. */
  variesBecause?: string
  /** Measured only where it is asked for. */
  isExtra?: boolean
  /** Makes what is needed in the directory. */
  setUp?: (client: Client, directory: string) => Promise<void>
  member: (seat: Participant) => Member
  trigger?: (seat: Participant) => Member
}
