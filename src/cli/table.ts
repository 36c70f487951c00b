// The commands of the program `zkwire`. Each is loaded when it runs. To add a command, write its file in commands/, and
// add a line here.
import type { Command, CommandTable } from './runner/command.ts'

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  lock: async () => (await import('./commands/lock.ts')).lock,
  elect: async () => (await import('./commands/elect.ts')).elect,
  leader: async () => (await import('./commands/leader.ts')).leader,
  who: async () => (await import('./commands/who.ts')).who,
  revoke: async () => (await import('./commands/revoke.ts')).revoke,
  ls: async () => (await import('./commands/ls.ts')).ls,
  get: async () => (await import('./commands/get.ts')).get,
  set: async () => (await import('./commands/set.ts')).set,
  create: async () => (await import('./commands/create.ts')).create,
  rm: async () => (await import('./commands/rm.ts')).rm,
  stat: async () => (await import('./commands/stat.ts')).stat,
  acl: async () => (await import('./commands/acl.ts')).acl,
  sync: async () => (await import('./commands/sync.ts')).sync,
  du: async () => (await import('./commands/du.ts')).du,
  watch: async () => (await import('./commands/watch.ts')).watch,
  explain: async () => (await import('./commands/explain.ts')).explain,
  trace: async () => (await import('./commands/trace.ts')).trace,
  wireshark: async () => (await import('./commands/wireshark.ts')).wireshark,
  export: async () => (await import('./commands/export.ts')).exportNodes,
  import: async () => (await import('./commands/import.ts')).importNodes,
  diff: async () => (await import('./commands/diff.ts')).diff,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  sessions: async () => (await import('./commands/sessions.ts')).sessions,
  herds: async () => (await import('./commands/herds.ts')).herds,
  serve: async () => (await import('./commands/serve.ts')).serve,
  judge: async () => (await import('./commands/judge.ts')).judge,
  playground: async () => (await import('./commands/playground.ts')).playground,
  shell: async () => (await import('./commands/shell.ts')).shell,
  completion: async () => (await import('./commands/completion.ts')).completion,
  help: async () => (await import('./commands/help.ts')).help,
}

export const commands: CommandTable = new Map(Object.entries(loaders))
