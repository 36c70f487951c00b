// What a reader of the playground chose and did: plain data, from which a world can be made again. A story is as small
// as a link, because all frames follow from it.
// May import: environment/seeded-random.ts, src/index.ts, src/protocol/entry.ts, src/recipes/index.ts, src/server/index.ts,
// src/testing/index.ts.

/** The recipes by their ids, each with its title. */
export const RECIPES = {
  'ephemeral-mutex': 'EphemeralMutex',
  'herd-mutex': 'HerdMutex',
  mutex: 'Mutex',
  'mutex-without-look-ahead': 'Mutex without look-ahead',
  'ticket-mutex': 'TicketMutex',
  'read-write-lock': 'ReadWriteLock',
  semaphore: 'Semaphore',
  'leader-election': 'LeaderElection',
  barrier: 'Barrier',
  'double-barrier': 'DoubleBarrier',
  'bare-clients': 'Bare clients',
} as const

export type RecipeId = keyof typeof RECIPES

/** The bounds of a story, which `storyOf` enforces. */
export const LIMITS = {
  /** The most clients of a scenario. */
  clients: 60,
  /** The most frames after which a reader can stand. */
  frames: 20_000,
  /** The most commands. */
  commands: 200,
  /** The longest path, in characters. */
  path: 100,
  /** The longest data of a node, in characters. */
  data: 200,
  /** The longest stop of a process or cut of a line, in seconds. */
  seconds: 120,
  /** The longest lag of a server, in seconds: with more, the leader gives it up. */
  lag: 2,
  /** How long a story lasts, in virtual milliseconds: a day. */
  at: 86_400_000,
  /** The longest link, in characters. */
  link: 8_000,
} as const

/** The servers that a story can have: those that vote, and then the observers. `code` stands for them in a link. */
export const ENSEMBLES = [
  { id: 1, code: '1', title: 'one', voters: 1, observers: 0 },
  { id: 3, code: '3', title: 'three, an ensemble', voters: 3, observers: 0 },
  { id: '3 and an observer', code: '3.1', title: 'three and an observer', voters: 3, observers: 1 },
] as const

export interface Scenario {
  readonly recipe: RecipeId
  /** 1 to 60. The clients have the numbers 1, 2, … */
  readonly clients: number
  /** The id of an ensemble. The servers have the numbers 1, 2, … */
  readonly servers: (typeof ENSEMBLES)[number]['id']
  /** An unsigned 32-bit integer. */
  readonly seed: number
}

export const ensembleOf = ({ servers }: Scenario): (typeof ENSEMBLES)[number] =>
  ENSEMBLES.find(({ id }) => id === servers) ?? ENSEMBLES[0]

/** A call of a bare client. With `watch`, the client sets a one-shot watch. */
export type Call =
  | { readonly op: 'create'; readonly path: string; readonly data: string; readonly mode: CreateMode }
  | { readonly op: 'get' | 'exists' | 'children'; readonly path: string; readonly watch: boolean }
  | { readonly op: 'set'; readonly path: string; readonly data: string }
  | { readonly op: 'delete' | 'sync'; readonly path: string }
  | { readonly op: 'add watch'; readonly path: string; readonly recursive: boolean }
  /** Adds 1 to the decimal number in a node, by the recipe Counter. */
  | { readonly op: 'increment'; readonly path: string }

export const CREATE_MODES = [
  'persistent',
  'persistentSequential',
  'ephemeral',
  'ephemeralSequential',
  'container',
] as const
export type CreateMode = (typeof CREATE_MODES)[number]

/** How a holder writes to the resource that its lock protects. */
export const WRITE_PROTECTIONS = ['nothing', 'token', 'registered token', 'guard'] as const
export type WriteProtection = (typeof WRITE_PROTECTIONS)[number]

/** What a reader does to the world. */
export type Command =
  /**
   * `release`: the client gives up what it holds. `join`: the client waits for the lock again; a client that is dead or
   * whose session has ended starts with a new session. `kill`: its process dies. `cut`: its connection ends, and both
   * ends notice. `lose answer`: the next answer to the client is lost, with its connection. `expire`: the server ends
   * its session.
   */
  | { readonly kind: 'release' | 'join' | 'kill' | 'cut' | 'lose answer' | 'expire'; readonly client: number }
  /** `stop`: the process of the client does nothing for that time. `unplug`: nothing that is sent arrives in that time. */
  | { readonly kind: 'stop' | 'unplug'; readonly client: number; readonly seconds: number }
  /**
   * The client checks that it holds the lock, works for a second, and then writes. `nothing` and `token`: to a store
   * outside ZooKeeper, which refuses a token lower than the greatest that it has seen. `registered token`: the same, but
   * the client sends its token to the store before it works too. `guard`: to a node, by `guard()`.
   */
  | { readonly kind: 'write'; readonly client: number; readonly protection: WriteProtection }
  | { readonly kind: 'call'; readonly client: number; readonly call: Call }
  /** An operator deletes the node, and all nodes below it. */
  | { readonly kind: 'delete node'; readonly path: string }
  /** `restart server`: it stops, and starts again a second later. The others are for servers of an ensemble. */
  | { readonly kind: 'restart server' | 'cut off' | 'heal'; readonly server: number }
  /** From now on, each message between the server and another one takes so much longer. 0 ends that. */
  | { readonly kind: 'lag'; readonly server: number; readonly seconds: number }

/** A command, and when it was given. */
export interface Intervention {
  /** The number of frames that were sent before it. */
  readonly after: number
  /** Whole virtual milliseconds since the start: the time of the command, not before the last of these frames was sent. */
  readonly at: number
  readonly do: Command
}

export interface Story {
  readonly scenario: Scenario
  readonly commands: readonly Intervention[]
  /** Where the reader stands: the number of frames that are shown. */
  readonly frames: number
  /** How long ago the last of these frames was sent, or the last command given, in whole virtual milliseconds: not 0. */
  readonly later?: number
}
