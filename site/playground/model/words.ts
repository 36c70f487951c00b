// The states of clients and servers, and what one can do with them, in words.
import {
  isActive,
  type ClientPicture,
  type Counters,
  type Holding,
  type Picture,
  type Role,
  type ServerPicture,
} from '../../world/picture.ts'
import { LIMITS, type Command, type RecipeId } from '../../world/story.ts'
import type { WireFrame } from '../../world/wire-frame.ts'

/** Why a command is refused, and why time passes no more. */
export const REFUSED =
  'This cannot be done: the link of the story could not hold it. Start again, or use shorter values.'
export const FULL = `A story ends after ${LIMITS.frames.toLocaleString('en')} frames or a day. Go back, or start again.`

/** How a client looks on the stage. */
export type Look =
  | 'starting'
  | 'connecting'
  | 'connected'
  | 'connectedReadOnly'
  | 'suspended'
  | 'expired'
  | 'closed'
  | 'stopped'
  | 'dead'

export function lookOf({ process, state }: Pick<ClientPicture, 'process' | 'state'>): Look {
  if (process !== 'running') return process
  return state === 'authFailed' ? 'closed' : state
}

const ROLES: Readonly<Record<Role, string>> = {
  none: '',
  waiting: 'waits for its turn',
  holding: 'holds the lock',
  leading: 'is the leader',
  reading: 'holds the lock for reading',
  writing: 'holds the lock for writing',
  inside: 'is inside',
  lost: 'has lost the lock',
  done: 'is done',
}

/** What the star of a client means, unless it means that the client has the lock. */
const GOALS: Partial<Readonly<Record<RecipeId, string>>> = {
  'leader-election': 'is the leader',
  semaphore: 'is inside',
  barrier: 'has set the barrier, or is inside',
  'double-barrier': 'is inside',
}

/** Says what a client of the recipe has or is that has reached what it waited for. */
export const goalOf = (recipe: RecipeId): string => GOALS[recipe] ?? 'has the lock'

/** True if a client has what its recipe gives, and the servers would say so too. */
export const holds = ({ role, isConfirmed }: Pick<ClientPicture, 'role' | 'isConfirmed'>): boolean =>
  isActive(role) && isConfirmed

/** Says what the recipe of a client does, and whether only its program says so. */
const roleOf = ({ role, isConfirmed }: Pick<ClientPicture, 'role' | 'isConfirmed'>): string =>
  isConfirmed ? ROLES[role] : `believes that it ${ROLES[role]}`

/** Describes counters, for example "13 frames, 11 notifications, 508 bytes". */
export const describeCounters = ({ frames, bytes, byKind }: Counters): string =>
  [plural(frames, 'frame'), plural(byKind.notification, 'notification'), plural(bytes, 'byte')].join(', ')

export const nameOf = (client: number): string => (client === 0 ? 'the operator' : `client ${client}`)

/** Describes a client in one line, for example "client 3: connected, waits for its turn". */
export function describeClient(client: ClientPicture): string {
  const parts = [lookOf(client), roleOf(client), client.unpluggedUntil === undefined ? '' : 'unplugged']
  return `${nameOf(client.id)}: ${parts.filter(part => part !== '').join(', ')}`
}

/** Describes a bar of the lanes, for example "client 3 held from 0.100 s to 0.250 s". */
export function describeHolding({ client, at, lostAt, until }: Holding): string {
  const end = lostAt ?? until
  const held = `${nameOf(client)} ${end === undefined ? `has held since ${seconds(at)}` : `held from ${seconds(at)} to ${seconds(end)}`}`
  if (lostAt === undefined) return held
  return until === undefined
    ? `${held}, and believes that it still does`
    : `${held}, and believed it until ${seconds(until)}`
}

/** Says what a server does, for example "looking, no vote, cut off". */
export const describeMode = ({ mode, address, isObserver, isCutOff, lag }: ServerPicture): string => {
  const shown = mode === 'unknown' ? (address ?? 'of the file') : mode
  return `${shown}${isObserver ? ', no vote' : ''}${isCutOff ? ', cut off' : ''}${lag > 0 ? `, lags by ${lag} s` : ''}`
}

export function describeServer(server: ServerPicture): string {
  const { id, nodes, sessions, watches } = server
  return `server ${id}: ${describeMode(server)}, ${plural(nodes.length, 'node')}, ${plural(sessions.length, 'session')}, ${plural(watches.length, 'watch', 'watches')}`
}

/** Describes the whole stage, for a screen reader. */
export function describeStage(picture: Picture, flying: number): string {
  const clients = picture.clients.filter(({ id }) => id > 0)
  const looks = new Map<Look, number>()
  for (const client of clients) looks.set(lookOf(client), (looks.get(lookOf(client)) ?? 0) + 1)
  const active = clients.filter(({ role }) => isActive(role))
  const states = [...looks].map(([look, count]) => `${count} ${look}`).join(', ')
  const holders =
    active.length === 0
      ? `none ${goalOf(picture.story.scenario.recipe)}`
      : active.map(each => `client ${each.id} ${roleOf(each)}`).join(', ')
  return `${plural(clients.length, 'client')}: ${states}; ${holders}; ${plural(flying, 'frame')} in flight.`
}

/** Tells which frame was sent last. */
export function describeLast(frames: readonly WireFrame[]): string {
  const frame = frames.at(-1)
  if (frame === undefined) return 'At the beginning: no frame has been sent.'
  const { n, client, server, direction, kind, op } = frame
  const [one, other] = [nameOf(client), `server ${server}`]
  const ends = direction === 'up' ? `${one} to ${other}` : `${other} to ${one}`
  return `Frame ${n}: ${op === kind || op === 'event' ? kind : `${op} ${kind}`}, from ${ends}.`
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** A duration or a time as seconds, for example "12.345 s". */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`

/** A button for a command to a client. */
export interface Choice {
  title: string
  hint: string
  command: Command
  isPossible: boolean
}

/** What the reader can do to a client, in words. */
export const COMMANDS = {
  release: { title: 'Release', hint: 'gives up what it holds' },
  join: { title: 'Join', hint: 'waits for the lock again, with a new session if it has none' },
  kill: { title: 'Kill', hint: 'its process dies' },
  stop: { title: 'Stop', hint: 'its process does nothing, as in a long garbage collection' },
  cut: { title: 'Cut its line', hint: 'its connection ends, and both ends notice' },
  unplug: { title: 'Unplug', hint: 'nothing that is sent arrives, and nobody notices' },
  'lose answer': { title: 'Lose one answer', hint: 'the next answer to it is lost, with its connection' },
  expire: { title: 'Expire its session', hint: 'the server ends its session' },
} as const

/** Returns what the reader can do to a client. */
export function choicesOf(client: ClientPicture, recipe: RecipeId, stopSeconds: number): Choice[] {
  const { id, process, role, state, session, unpluggedUntil } = client
  const runs = process === 'running'
  const connected = process !== 'dead' && state === 'connected'
  const choice = (
    kind: 'release' | 'join' | 'kill' | 'cut' | 'lose answer' | 'expire',
    isPossible: boolean,
  ): Choice => ({
    ...COMMANDS[kind],
    ...{ command: { kind, client: id }, isPossible },
  })
  const timed = (kind: 'stop' | 'unplug', isPossible: boolean): Choice => ({
    ...{ title: `${COMMANDS[kind].title} for ${stopSeconds} s`, hint: COMMANDS[kind].hint },
    ...{ command: { kind, client: id, seconds: stopSeconds }, isPossible },
  })
  const mayJoin = process !== 'stopped' && process !== 'starting' && !isActive(role) && role !== 'waiting'
  return [
    ...(recipe === 'bare-clients' ? [] : [choice('release', runs && isActive(role)), choice('join', mayJoin)]),
    choice('kill', process !== 'dead'),
    timed('stop', runs),
    choice('cut', connected),
    timed('unplug', connected && unpluggedUntil === undefined),
    choice('lose answer', connected),
    choice('expire', session !== undefined && state !== 'expired' && state !== 'closed'),
  ]
}
