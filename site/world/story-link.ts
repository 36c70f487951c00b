// A story as the last part of a link, and back. A link is untrusted: each of its values is checked and bounded, and each
// story has exactly one link. For example `1;mutex;3;1;7;52;46.70.r.1`: version, recipe, clients, servers, seed, frames,
// and then each command with the frames and milliseconds since the command before. `52.2000` is 2000 ms after frame 52.
import { paths } from '../../src/protocol/entry.ts'
import {
  CREATE_MODES,
  ENSEMBLES,
  LIMITS,
  RECIPES,
  WRITE_PROTECTIONS,
  ensembleOf,
  type Call,
  type Command,
  type Intervention,
  type RecipeId,
  type Scenario,
  type Story,
} from './story.ts'

/** The link is no link of a story. Its message is a sentence for the reader, and contains nothing of the link. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
}

const VERSION = '1'

/** How one value is written in a link. */
interface Format<T> {
  write(value: T): string
  /** @throws LinkError */
  read(text: string): T
}

/** Whole numbers within bounds. Leading zeros are read too: the caller refuses what is not as it would be written. */
export function numberIn(name: string, least: number, most: number): Format<number> {
  const check = (value: number): number => {
    if (!Number.isInteger(value) || value < least || value > most)
      throw new LinkError(`The ${name} must be a whole number from ${least} to ${most}.`)
    return value
  }
  return { write: value => String(check(value)), read: text => check(/^\d{1,16}$/.test(text) ? Number(text) : NaN) }
}

function oneOf<T>(name: string, texts: readonly string[], values: readonly T[]): Format<T> {
  const find = <V>(index: number, found: readonly V[]): V => {
    if (index < 0) throw new LinkError(`The ${name} of the link does not exist.`)
    return found[index] as V
  }
  return {
    write: value => find(values.indexOf(value), texts),
    read: text => find(texts.indexOf(text), values),
  }
}

export function stringOf(
  name: string,
  longest: number,
  problemOf: (text: string) => boolean = () => false,
): Format<string> {
  const check = (text: string): string => {
    if (text.length > longest || !text.isWellFormed() || problemOf(text))
      throw new LinkError(`The ${name} of the link is malformed or too long.`)
    return text
  }
  return {
    // Dots and semicolons separate the values of a link.
    write: text =>
      encodeURIComponent(check(text))
        .replaceAll(/[.!'()*~]/g, escaped)
        .replaceAll('%2F', '/'),
    read: text => check(decoded(text)),
  }
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new LinkError('The link has a malformed escape.')
  }
}

const boolean = oneOf('switch', ['0', '1'], [false, true])
const seconds = numberIn('number of seconds', 1, LIMITS.seconds)
const lag = numberIn('lag in seconds', 0, LIMITS.lag)
const path = stringOf('path', LIMITS.path, text => paths.pathProblem(text) !== undefined)
const newPath = stringOf('path', LIMITS.path, text => paths.pathProblem(text, true) !== undefined)
const data = stringOf('data', LIMITS.data)

type Formats<T> = { readonly [K in Exclude<keyof T, 'kind' | 'op' | 'call'>]: Format<T[K]> }
/** The members of a union whose `key` can have the value. */
type Having<U, K extends PropertyKey, V> = U extends Record<K, infer Values> ? (V extends Values ? U : never) : never
type ByKind<U extends object, K extends keyof U> = {
  readonly [V in U[K] & string]: { readonly code: string; readonly formats: Formats<Having<U, K, V>> }
}

const watched = { path, watch: boolean }
const calls: ByKind<Call, 'op'> = {
  create: { code: 'c', formats: { path: newPath, data, mode: oneOf('mode', ['0', '1', '2', '3', '4'], CREATE_MODES) } },
  get: { code: 'g', formats: watched },
  exists: { code: 'e', formats: watched },
  children: { code: 'l', formats: watched },
  set: { code: 's', formats: { path, data } },
  delete: { code: 'd', formats: { path } },
  sync: { code: 'y', formats: { path } },
  'add watch': { code: 'w', formats: { path, recursive: boolean } },
  increment: { code: 'i', formats: { path } },
}

function commandsOf(scenario: Scenario): ByKind<Command, 'kind'> {
  const client = numberIn('number of a client', 1, scenario.clients)
  const { voters, observers } = ensembleOf(scenario)
  const server = numberIn('number of a server', 1, voters + observers)
  const protection = oneOf('kind of write', ['n', 't', 'r', 'g'], WRITE_PROTECTIONS)
  return {
    release: { code: 'r', formats: { client } },
    join: { code: 'j', formats: { client } },
    kill: { code: 'k', formats: { client } },
    cut: { code: 'c', formats: { client } },
    'lose answer': { code: 'l', formats: { client } },
    expire: { code: 'e', formats: { client } },
    stop: { code: 's', formats: { client, seconds } },
    unplug: { code: 'u', formats: { client, seconds } },
    write: { code: 'w', formats: { client, protection } },
    call: { code: 'a', formats: { client } },
    'delete node': { code: 'd', formats: { path } },
    'restart server': { code: 'R', formats: { server } },
    'cut off': { code: 'o', formats: { server } },
    heal: { code: 'h', formats: { server } },
    lag: { code: 'L', formats: { server, seconds: lag } },
  }
}

const recipe = oneOf('recipe', Object.keys(RECIPES), Object.keys(RECIPES) as RecipeId[])
const clients = numberIn('number of clients', 1, LIMITS.clients)
const servers = oneOf(
  'number of servers',
  ENSEMBLES.map(({ code }) => code),
  ENSEMBLES.map(({ id }) => id),
)
const seed = numberIn('seed', 0, 0xffff_ffff)
const frames = numberIn('number of frames', 0, LIMITS.frames)
const time = numberIn('time of a command', 0, LIMITS.at)
const later = numberIn('time after the last frame', 0, LIMITS.at)

/**
 * Returns the link of a story: characters that need no escape after the `#` of an address.
 * @throws LinkError if the story exceeds the limits
 */
export function linkOf({ scenario, commands, frames: shown, later: since = 0 }: Story): string {
  if (commands.length > LIMITS.commands) throw new LinkError(`A link has at most ${LIMITS.commands} commands.`)
  const kinds = commandsOf(scenario)
  let [after, at] = [0, 0]
  const written = commands.map(command => {
    const since = [frames.write(command.after - after), time.write(command.at - at)]
    ;[after, at] = [command.after, command.at]
    frames.write(after)
    time.write(at)
    const { code, formats } = kinds[command.do.kind]
    const call = command.do.kind === 'call' ? callParts(command.do.call) : []
    return [...since, code, ...parts(formats, command.do), ...call].join('.')
  })
  const head = [recipe.write(scenario.recipe), clients.write(scenario.clients), servers.write(scenario.servers)]
  const moment = since === 0 ? frames.write(shown) : `${frames.write(shown)}.${later.write(since)}`
  const link = [VERSION, ...head, seed.write(scenario.seed), moment, ...written].join(';')
  if (link.length > LIMITS.link) throw new LinkError(`A link has at most ${LIMITS.link} characters.`)
  return link
}

/** True if a link can hold the story. */
export function isLinkable(story: Story): boolean {
  try {
    linkOf(story)
    return true
  } catch (error) {
    if (error instanceof LinkError) return false
    throw error
  }
}

/**
 * Returns the story of a link.
 * @throws LinkError if it is not exactly what `linkOf` returns for a story
 */
export function storyOf(link: string): Story {
  if (link.length > LIMITS.link) throw new LinkError(`A link has at most ${LIMITS.link} characters.`)
  const [version, recipeText = '', clientsText = '', serversText = '', seedText = '', moment = '', ...rest] =
    link.split(';')
  if (version !== VERSION) throw new LinkError('The link belongs to another version of this page, or is damaged.')
  const scenario: Scenario = {
    recipe: recipe.read(recipeText),
    clients: clients.read(clientsText),
    servers: servers.read(serversText),
    seed: seed.read(seedText),
  }
  const kinds = commandsOf(scenario)
  let [after, at] = [0, 0]
  const commands = rest.slice(0, LIMITS.commands + 1).map((text): Intervention => {
    const [frameText = '', timeText = '', code = '', ...values] = text.split('.')
    after += frames.read(frameText)
    at += time.read(timeText)
    return { after, at, do: commandIn(kinds, code, values) }
  })
  const [shown = '', since] = moment.split('.')
  const story = {
    scenario,
    commands,
    frames: frames.read(shown),
    ...(since !== undefined && { later: later.read(since) }),
  }
  // Refuses other ways to write the same, and sums that exceed the limits.
  if (linkOf(story) !== link) throw new LinkError('The link is damaged.')
  return story
}

function commandIn(kinds: ByKind<Command, 'kind'>, code: string, values: readonly string[]): Command {
  const command = recordIn('kind', kinds, code, values) as Command
  return command.kind === 'call'
    ? { ...command, call: recordIn('op', calls, values[1] ?? '', values.slice(2)) as Call }
    : command
}

/** Reads the record that has this code, from the texts of its fields. */
function recordIn(
  key: 'kind' | 'op',
  kinds: Readonly<Record<string, { code: string; formats: object }>>,
  code: string,
  texts: readonly string[],
): object {
  const found = Object.entries(kinds).find(([, kind]) => kind.code === code)
  if (found === undefined) throw new LinkError('The link has a command that does not exist.')
  const [name, { formats }] = found
  const fields = Object.entries(formats as Readonly<Record<string, Format<unknown>>>)
  const values = fields.map(([field, format], i) => [field, format.read(texts[i] ?? '')] as const)
  return Object.fromEntries([[key, name], ...values])
}

const callParts = (call: Call): string[] => {
  const { code, formats } = calls[call.op]
  return [code, ...parts(formats, call)]
}

const parts = (formats: object, values: object): string[] =>
  Object.entries(formats as Readonly<Record<string, Format<unknown>>>).map(([field, format]) =>
    format.write((values as Readonly<Record<string, unknown>>)[field]),
  )
