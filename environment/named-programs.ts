// `npm run bench -- NAME` and `npm run suite -- NAME`: one script of package.json for all programs of a table.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './needs.ts'

export interface NamedProgram {
  /** The file, from the root of the repository. */
  file: string
  /** What it is for, in a line. */
  about: string
  needsDist?: true
}

/** Returns the program that the command line names. If it names none, lists all, sets the exit code to 2 and returns undefined. */
export function namedProgram<Program extends NamedProgram>(
  command: string,
  programs: Readonly<Record<string, Program>>,
): Program | undefined {
  const [, , name = ''] = process.argv
  if (Object.hasOwn(programs, name)) return programs[name]
  const unknown = name === '' ? '' : `there is no ${name}\n`
  const lines = Object.entries(programs).map(([each, { about }]) => `  ${each.padEnd(13)}${about}\n`)
  process.stderr.write(`${unknown}${command} -- NAME [options], where NAME is one of:\n${lines.join('')}`)
  process.exitCode = 2
  return undefined
}

/** Runs a script of package.json. If it fails, ends this process with its status. */
export function runScript(name: string): void {
  const { status } = spawnSync('npm', ['run', '--silent', name], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * Runs the program in this process, which so has its exit code and gets its signals. It reads its options from the
 * command line.
 */
export async function startProgram({ file, needsDist }: NamedProgram, options = process.argv.slice(3)): Promise<void> {
  if (needsDist) runScript('build')
  const path = join(root, file)
  process.argv.splice(1, Infinity, path, ...options)
  await import(pathToFileURL(path).href)
}
