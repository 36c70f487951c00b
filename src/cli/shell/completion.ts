// What the key Tab offers: commands, options, and the paths of nodes. For the prompt of `zkwire shell`, and for other
// shells (`zkwire completion`).
import type { Command, CommandTable, Options } from '../runner/command.ts'
import { globalOptions, leadingOptions, optionsOf } from '../runner/arguments.ts'
import { escaped } from '../runner/text.ts'
import { resolvePath } from './node-path.ts'
import { quoted, wordsOf } from './words.ts'

/** What words are completed from. */
export interface CompletionSource {
  readonly commands: CommandTable
  /** The current node, at which relative paths start. Undefined if there are none. */
  readonly current: string | undefined
  /** True if the commands have the options of a connection. */
  readonly hasConnectionOptions: boolean
  /** Returns the names of the children, or none if the server does not answer in a short time. */
  childrenOf(path: string): Promise<readonly string[]>
  /** True if the node has children. */
  hasChildren(path: string): Promise<boolean>
}

/** One word, not quoted, and what follows it: a space if the word is complete. */
export interface Candidate {
  readonly text: string
  readonly end: ' ' | '/' | ''
}

/** The candidates, each as it is typed, and the end of the line that they replace. */
export type Completion = readonly [candidates: readonly string[], typed: string]

/** Completes the last word of the line. */
export async function complete(line: string, source: CompletionSource): Promise<Completion> {
  const { words, openQuote } = wordsOf(line)
  const isNewWord = openQuote === undefined && (line === '' || /\s$/.test(line)) && !/\\\s$/.test(line)
  const last = isNewWord ? undefined : words.at(-1)
  const typed = last === undefined ? '' : line.slice(last.start)
  const before = (last === undefined ? words : words.slice(0, -1)).map(({ text }) => text)
  const candidates = await candidatesOf(before, last?.text ?? '', source)
  return [candidates === 'files' ? [] : candidates.map(({ text, end }) => quoted(text) + end), typed]
}

/**
 * Returns what a word may become.
 * @param before the words before it, from the command on
 * @returns `files` if it is the name of a local file
 */
export async function candidatesOf(
  before: readonly string[],
  text: string,
  source: CompletionSource,
): Promise<readonly Candidate[] | 'files'> {
  const { rest } = source.hasConnectionOptions ? leadingOptions(before) : { rest: before }
  const [name, ...others] = rest
  if (name === undefined && source.hasConnectionOptions && text.startsWith('-'))
    return matching(text, longNames(globalOptions))
  if (name === undefined) return matching(text, source.commands.keys())
  if (name.startsWith('-')) return globalOptions[name.slice(2)]?.value === 'FILE' ? 'files' : []
  const command = await source.commands.get(name)?.()
  return command === undefined ? [] : argumentsOf(command, others, text, source)
}

async function argumentsOf(
  command: Command,
  before: readonly string[],
  text: string,
  source: CompletionSource,
): Promise<readonly Candidate[] | 'files'> {
  if (command.takesProgram === true && before.includes('--')) return 'files'
  const options = optionsOf(command, source.hasConnectionOptions)
  if (text.startsWith('-')) return matching(text, longNames(options))
  const optionOf = (word: string | undefined) =>
    Object.entries(options).find(([name, { short }]) => word === `--${name}` || (short && word === `-${short}`))?.[1]
  const option = optionOf(before.at(-1))
  if (option?.type === 'string') return option.value === 'FILE' ? 'files' : matching(text, option.choices ?? [])
  const given = before.filter((word, i) => !word.startsWith('-') && optionOf(before[i - 1])?.type !== 'string').length
  const argument = command.arguments[given] ?? command.arguments.findLast(({ isRepeated }) => isRepeated)
  if (argument?.choices !== undefined) return matching(text, argument.choices)
  if (argument?.kind === 'command') return matching(text, source.commands.keys())
  if (argument?.kind === 'file') return 'files'
  return argument?.kind === 'path' || argument?.kind === 'newPath' ? paths(text, source) : []
}

const longNames = (options: Options): string[] => Object.keys(options).map(each => `--${each}`)

const matching = (text: string, all: Iterable<string>): Candidate[] =>
  [...all].filter(each => each.startsWith(text)).map(each => ({ text: each, end: ' ' }))

/** The nodes whose paths start with the text. The only one ends with a slash if it has children. */
async function paths(text: string, source: CompletionSource): Promise<readonly Candidate[]> {
  const { current } = source
  if (current === undefined && text === '') return [{ text: '/', end: '' }]
  if (current === undefined && !text.startsWith('/')) return []
  const parent = text.slice(0, text.lastIndexOf('/') + 1)
  const prefix = text.slice(parent.length)
  const resolved = (path: string) => resolvePath(current ?? '/', path)
  const children = await source.childrenOf(resolved(`${parent}.`))
  // A name with a control character cannot be typed, and must not reach the terminal.
  const names = children.filter(each => each.startsWith(prefix) && escaped(each) === each).toSorted()
  const [only] = names
  if (only === undefined || names.length > 1) return names.map(each => ({ text: parent + each, end: '' }))
  return [{ text: parent + only, end: (await source.hasChildren(resolved(parent + only))) ? '/' : ' ' }]
}
