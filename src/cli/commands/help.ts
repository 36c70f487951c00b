// `zkwire help`.
import { command } from '../runner/command.ts'
import { unknownCommand } from '../runner/failure.ts'
import { helpOf, table } from '../runner/help-text.ts'

export const help = command({
  name: 'help',
  summary: 'prints the commands, or the help of one command',
  arguments: [{ name: 'CMD', kind: 'command', isOptional: true, help: 'the command' }],
  options: {},
  connects: false,
  hasJson: false,
  async run({ optional, commands, out, host }) {
    const name = optional('CMD')
    if (name === undefined) {
      const all = await Promise.all([...commands.values()].map(load => load()))
      const rows = all.map(({ name, summary }) => [name, summary] as const)
      return out.write(`${USAGE}\n\n${table('Commands', rows)}\n${STATUSES}`)
    }
    const load = commands.get(name)
    if (load === undefined) throw unknownCommand(name, commands.keys())
    return out.write(helpOf(await load(), host.hasConnectionOptions))
  },
})

const USAGE = `zkwire COMMAND [options] [arguments]

Works with nodes, watches and locks of ZooKeeper. \`zkwire help COMMAND\` describes a command.
The options of a connection, and --json, may also be written before the command.`

const STATUSES = table('Exit status', [
  ['0', 'done'],
  ['1', 'the server refused the request; the message starts with its code'],
  ['64', 'wrong arguments'],
  ['69', 'no server'],
  ['75', 'lock: not acquired in time'],
  ['76', 'lock: lost while the program ran'],
])
