// The help of a command.
import { optionsOf } from './arguments.ts'
import type { Argument, Command, Options } from './command.ts'
import { connectionOptions } from './connection.ts'

const WIDTH = 100

const placeholder = ({ name, isOptional, isRepeated }: Argument): string => {
  const text = isRepeated === true ? `${name}…` : name
  return isOptional === true ? `[${text}]` : text
}

function usageOf(command: Command): string {
  const words = ['zkwire', command.name, '[options]', ...command.arguments.map(placeholder)]
  return [...words, ...(command.takesProgram === true ? ['--', 'CMD…'] : [])].join(' ')
}

export function helpOf(command: Command, hasConnectionOptions: boolean): string {
  const all = Object.entries(optionsOf(command, hasConnectionOptions))
  const isOfConnection = ([name]: [string, unknown]) =>
    Object.hasOwn(connectionOptions, name) && !(name in command.options)
  const sections = [
    `${usageOf(command)}\n\n${wrapped(sentenceOf(command.summary))}`,
    ...(command.details ?? []).map(each => wrapped(each)),
    table(
      'Arguments',
      command.arguments.map(({ name, help }) => [name, help]),
    ),
    table('Options', rowsOf(Object.fromEntries(all.filter(each => !isOfConnection(each))))),
    table('Connection', rowsOf(Object.fromEntries(all.filter(isOfConnection)))),
    ...(command.examples === undefined ? [] : [`Examples\n${command.examples.map(each => `  ${each}\n`).join('')}`]),
  ]
  return sections.filter(each => each !== '').join('\n')
}

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const rowsOf = (options: Options): [string, string][] =>
  Object.entries(options).map(([name, { short, type, value = 'VALUE', choices, help }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${type === 'string' ? ` ${value}` : ''}`,
    choices === undefined ? help : `${help}: ${choices.join(', ')}`,
  ])

/** Returns a title and two columns, or an empty text if there are no rows. */
export function table(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return ''
  const width = Math.max(...rows.map(([left]) => left.length)) + 4
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width - 2)}${wrapped(right, width).trimStart()}`)
  return `${title}\n${lines.join('')}`
}

/** Breaks text into lines that start at a column. */
function wrapped(text: string, indent = 0): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map(each => `${' '.repeat(indent)}${each}\n`).join('')
}
