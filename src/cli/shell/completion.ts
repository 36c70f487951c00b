// What the key Tab offers: commands, options, and the paths of nodes.
import type { Command, CommandTable } from '../runner/command.ts'
import { optionsOf } from '../runner/arguments.ts'
import { escaped } from '../runner/text.ts'
import { resolvePath } from './node-path.ts'
import { quoted, wordsOf } from './words.ts'

export interface CompletionOwner {
  readonly commands: CommandTable
  /** The current node. */
  readonly current: string
  /** Returns the names of the children, or none if the server does not answer in a short time. */
  childrenOf(path: string): Promise<readonly string[]>
  /** True if the node has children. */
  hasChildren(path: string): Promise<boolean>
}

/** The candidates, each as it is typed, and the end of the line that they replace. */
export type Completion = readonly [candidates: readonly string[], typed: string]

/** Completes the last word of the line. */
export async function complete(line: string, owner: CompletionOwner): Promise<Completion> {
  const { words, openQuote } = wordsOf(line)
  const isNewWord = openQuote === undefined && (line === '' || /\s$/.test(line)) && !/\\\s$/.test(line)
  const last = isNewWord ? undefined : words.at(-1)
  const typed = last === undefined ? '' : line.slice(last.start)
  const text = last?.text ?? ''
  const before = last === undefined ? words : words.slice(0, -1)
  const [name] = before
  if (name === undefined) return [matching(text, owner.commands.keys()), typed]
  const command = await owner.commands.get(name.text)?.()
  if (command === undefined) return [[], typed]
  return [
    await argumentsOf(
      command,
      before.slice(1).map(each => each.text),
      text,
      owner,
    ),
    typed,
  ]
}

async function argumentsOf(
  command: Command,
  before: readonly string[],
  text: string,
  owner: CompletionOwner,
): Promise<readonly string[]> {
  const options = optionsOf(command, false)
  const longNames = Object.keys(options).map(each => `--${each}`)
  if (text.startsWith('-')) return matching(text, longNames)
  const optionOf = (word: string | undefined) =>
    Object.entries(options).find(([name, { short }]) => word === `--${name}` || (short && word === `-${short}`))?.[1]
  const option = optionOf(before.at(-1))
  if (option?.type === 'string') return matching(text, option.choices ?? [])
  const given = before.filter((word, i) => !word.startsWith('-') && optionOf(before[i - 1])?.type !== 'string').length
  const argument = command.arguments[given] ?? command.arguments.findLast(({ isRepeated }) => isRepeated)
  if (argument?.choices !== undefined) return matching(text, argument.choices)
  if (argument?.kind === 'command') return matching(text, owner.commands.keys())
  return argument?.kind === 'path' || argument?.kind === 'newPath' ? paths(text, owner) : []
}

/** Each candidate ends with a space, because the word is complete. */
const matching = (text: string, all: Iterable<string>): string[] =>
  [...all].filter(each => each.startsWith(text)).map(each => `${quoted(each)} `)

/** The nodes whose paths start with the text. The only one ends with a slash if it has children. */
async function paths(text: string, owner: CompletionOwner): Promise<readonly string[]> {
  const parent = text.slice(0, text.lastIndexOf('/') + 1)
  const prefix = text.slice(parent.length)
  const children = await owner.childrenOf(resolvePath(owner.current, `${parent}.`))
  // A name with a control character cannot be typed, and must not reach the terminal.
  const names = children.filter(each => each.startsWith(prefix) && escaped(each) === each).toSorted()
  const [only] = names
  if (only === undefined || names.length > 1) return names.map(each => quoted(parent + each))
  const end = (await owner.hasChildren(resolvePath(owner.current, parent + only))) ? '/' : ' '
  return [quoted(parent + only) + end]
}
