// The commands of the program `zkwire`. Each is loaded when it runs. To add a command, write its file in commands/, and
// add a line here.
import type { Command, CommandTable } from './frame/command.ts'

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  lock: async () => (await import('./commands/lock.ts')).lock,
  get: async () => (await import('./commands/get.ts')).get,
  help: async () => (await import('./commands/help.ts')).help,
}

export const commands: CommandTable = new Map(Object.entries(loaders))
