// The commands that only a shell has. They are commands like the others, so that help and completion know them.
import { badArguments } from '../../protocol/index.ts'
import { command, type Command } from '../runner/command.ts'
import { CommandError, statuses, UsageError } from '../runner/failure.ts'
import { escaped } from '../runner/text.ts'
import type { Shell } from './shell.ts'
import { quoted } from './words.ts'

export function builtinsOf(shell: Shell): [string, () => Promise<Command>][] {
  let previous = shell.current
  const all = [
    command({
      name: 'cd',
      summary: 'changes the current node, to which relative paths belong',
      arguments: [
        { name: 'PATH', kind: 'path', isOptional: true, help: 'the node; default /, and - is the one before' },
      ],
      options: {},
      hasJson: false,
      async run({ optional, client, signal }) {
        const typed = optional('PATH') ?? '/'
        const path = typed.endsWith('/-') ? previous : typed
        if ((await (await client()).exists(path, { signal })) === null)
          throw new CommandError(statuses.refused, `NONODE: there is no node ${escaped(path)}`)
        previous = shell.current
        shell.current = path
      },
    }),
    command({
      name: 'pwd',
      summary: 'prints the current node',
      arguments: [],
      options: {},
      connects: false,
      run: ({ out }) => out.show(shell.current, () => escaped(shell.current)),
    }),
    command({
      name: '.watch',
      summary: 'prints the events of a node while you type, or the nodes that are watched so',
      arguments: [{ name: 'PATH', kind: 'path', isOptional: true, help: 'the node; default: none is added' }],
      options: { recursive: { type: 'boolean', short: 'r', help: 'also prints the events of all nodes below' } },
      hasJson: false,
      async run({ optional, values, out, commands }) {
        const path = optional('PATH')
        if (path === undefined) {
          for (const [number, text] of shell.jobs) await out.line(`[${number}] ${escaped(text)}`)
          return
        }
        const watch = await commands.get('watch')?.()
        if (watch === undefined) throw badArguments('.watch', path, 'there is no command watch')
        shell.start(watch, [...(values.recursive ? ['-r'] : []), path], quoted(path))
      },
    }),
    command({
      name: '.unwatch',
      summary: 'ends one .watch, or all of them',
      arguments: [{ name: 'NUMBER', isOptional: true, help: 'its number, as .watch prints it; default: all' }],
      options: {},
      connects: false,
      hasJson: false,
      run({ optional }) {
        const text = optional('NUMBER')
        if (text === undefined) for (const number of shell.jobs.keys()) shell.stop(number)
        else if (!shell.stop(Number(text))) throw new UsageError(`there is no .watch ${text}`)
        return Promise.resolve()
      },
    }),
    command({
      name: 'exit',
      summary: 'ends the shell, as Ctrl-D does',
      arguments: [],
      options: {},
      connects: false,
      hasJson: false,
      run() {
        shell.end()
        return Promise.resolve()
      },
    }),
  ]
  return all.map(each => [each.name, () => Promise.resolve(each)])
}
