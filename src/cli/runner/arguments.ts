// Parses the command line of a command.
import { parseArgs } from 'node:util'
import { withoutSecrets } from '../../runtime/host-port.ts'
import { pathProblem } from '../../protocol/index.ts'
import type { Argument, Command, Option, Options, ParsedValues } from './command.ts'
import { connectionOptions } from './connection.ts'
import { UsageError } from './failure.ts'

export interface Parsed {
  readonly values: ParsedValues
  readonly positionals: ReadonlyMap<string, readonly string[]>
  readonly program: readonly string[]
}

const ownOptions = {
  json: { type: 'boolean', help: 'prints one JSON document, or one line of JSON for each event' },
  help: { type: 'boolean', short: 'h', help: 'prints this help' },
} as const satisfies Options

/** The options that may also be written before the command. */
export const globalOptions: Options = { ...connectionOptions, json: ownOptions.json }

/** Returns all options of a command, in the order of its help. */
export function optionsOf(command: Command, hasConnectionOptions: boolean): Options {
  const { json, ...rest } = ownOptions
  return {
    ...command.options,
    ...(command.hasJson === false ? {} : { json }),
    ...(command.connects === false || !hasConnectionOptions ? {} : connectionOptionsFor(command)),
    ...rest,
  }
}

/** Returns the options of a connection. A letter that the command uses itself, as `create -s`, stays with the command. */
function connectionOptionsFor(command: Command): Options {
  const taken = new Set(Object.values(command.options).map(({ short }) => short))
  return Object.fromEntries(
    Object.entries<Option>(connectionOptions).map(([name, { short, ...rest }]) => [
      name,
      short === undefined || taken.has(short) ? rest : { short, ...rest },
    ]),
  )
}

/**
 * Takes the options of the connection, and --json, from the front of a command line, where they may be written before
 * the command. Returns each as one word, such as `--server=zk1:2181`, for {@link parse}. An option that lacks its value,
 * and one that is no such option, stays in the rest.
 */
export function leadingOptions(words: readonly string[]): { options: readonly string[]; rest: readonly string[] } {
  const options: string[] = []
  let rest = words
  for (;;) {
    const [, long, short, joined] = /^(?:--([\w-]+)(?==|$)|-(\w))(.*)$/s.exec(rest[0] ?? '') ?? []
    const [name, option] =
      Object.entries(globalOptions).find(each => (short === undefined ? each[0] === long : each[1].short === short)) ??
      []
    if (option === undefined) return { options, rest }
    const value = joined === '' ? undefined : long === undefined ? joined : joined?.slice(1)
    const next = option.type === 'string' && value === undefined ? rest[1] : value
    if (option.type === 'string' && next === undefined) return { options, rest }
    options.push(next === undefined ? `--${name}` : `--${name}=${next}`)
    rest = rest.slice(next === value ? 1 : 2)
  }
}

/**
 * @param resolve makes the path of a node absolute
 * @throws UsageError if an option is unknown or malformed, or there are too few or too many arguments
 */
export function parse(
  command: Command,
  args: readonly string[],
  options: Options,
  resolve: (text: string) => string,
): Parsed {
  const [own, program] = splitProgram(command, args)
  const { values, positionals } = parseOptions(own, options)
  for (const [name, option] of Object.entries(options)) checkChoice(`--${name}`, option.choices, values[name])
  return {
    values,
    positionals: positionalsOf(command, positionals, values, resolve),
    program,
  }
}

/** Splits at the first `--` if the words after it are a program. */
function splitProgram({ takesProgram }: Command, args: readonly string[]): [string[], readonly string[]] {
  const at = takesProgram === true ? args.indexOf('--') : -1
  return at < 0 ? [[...args], []] : [args.slice(0, at), args.slice(at + 1)]
}

function parseOptions(args: string[], options: Options): { values: ParsedValues; positionals: readonly string[] } {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }), ...defaultOf({ type, multiple }) },
    ]),
  )
  try {
    // The type of parseArgs() allows lists of booleans, which no option here has.
    return parseArgs({ args, options: config, allowPositionals: true }) as {
      values: ParsedValues
      positionals: string[]
    }
  } catch (error) {
    throw new UsageError(problemOf(error as Error))
  }
}

/** Returns the first sentence of Node's message, and what to write instead. Node's own advice is several lines long. */
function problemOf({ message }: Error): string {
  const [sentence = ''] = message.split(/\.\s|\n/)
  const name = /--([\w-]+)/.exec(sentence)?.[1]
  if (sentence.endsWith('is ambiguous') && name !== undefined) return `${sentence}: write --${name}=VALUE`
  if (!sentence.startsWith('Unknown option') || name !== undefined) return sentence
  return `${sentence}: write -- before an argument or a program with such words`
}

function defaultOf({ type, multiple }: Pick<Option, 'type' | 'multiple'>) {
  if (multiple === true) return { default: [] }
  return type === 'boolean' ? { default: false } : {}
}

function checkChoice(name: string, choices: readonly string[] | undefined, value: unknown): void {
  if (choices === undefined || typeof value !== 'string' || choices.includes(value)) return
  throw new UsageError(`${name}: ${JSON.stringify(value)} is none of ${choices.join(', ')}`)
}

function positionalsOf(
  command: Command,
  given: readonly string[],
  { help }: Readonly<Record<string, unknown>>,
  resolve: (text: string) => string,
): ReadonlyMap<string, readonly string[]> {
  if (help === true) return new Map()
  const taken = new Map<string, readonly string[]>()
  let rest = given
  for (const argument of command.arguments) {
    const count = argument.isRepeated === true ? rest.length : 1
    taken.set(
      argument.name,
      rest.slice(0, count).map(text => valueOf(argument, text, resolve)),
    )
    if (rest.length === 0 && argument.isOptional !== true)
      throw new UsageError(`the argument ${argument.name} is missing`)
    rest = rest.slice(count)
  }
  // The text itself may be a secret after an option that was written with a space too many.
  if (rest.length > 0)
    throw new UsageError(
      `there are ${given.length} arguments, and only ${given.length - rest.length} expected` +
        (command.takesProgram === true ? ': write -- before the program' : ''),
    )
  return taken
}

function valueOf({ name, kind, choices }: Argument, text: string, resolve: (text: string) => string): string {
  checkChoice(name, choices, text)
  if (kind !== 'path' && kind !== 'newPath') return text
  const resolved = resolve(text)
  // People write /app/ for /app, as in a shell. For a new sequential node the slash means an empty name.
  const path = kind === 'path' && resolved !== '/' ? resolved.replace(/\/$/, '') : resolved
  const problem = pathProblem(path, kind === 'newPath')
  if (problem !== undefined)
    throw new UsageError(
      `${name}: ${JSON.stringify(text.startsWith('/') ? text : withoutSecrets(text))} is not the path of a node: ${problem}`,
    )
  return path
}
