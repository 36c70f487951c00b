// A user's folder, outside of the repository, with the packed package and the tools that users have.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { runAtExit } from '../../environment/at-exit.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { usersTools } from '../../environment/needs.ts'
import { installPackage } from '../support/packed-package.ts'

/** Each Node that users may have, with the folder of its binary in the tools. */
export const nodes = { 'Node 20': 'node-20', 'Node 22': 'node-22', 'Node 24': 'node-24' } as const

export interface User {
  /** The folder with the tarball and an installed package. Tools and @types/node are found from there. */
  directory: string
  /** A folder with a copy of the package, and the API of OpenTelemetry. Nothing else is found from there. */
  bare: string
  tarball: string
  /** The paths of the files in the package. */
  files: readonly string[]
}

let user: Promise<User> | undefined

/** Installs the tools and the package once per process. The first call in a clone downloads the tools. */
export function userWithPackage(): Promise<User> {
  user ??= install()
  return user
}

async function install(): Promise<User> {
  const tools = await installTools(usersTools)
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'zkwire-package-')))
  runAtExit(() => rmSync(temporary, { recursive: true, force: true }))
  const directory = join(temporary, 'project', 'user')
  const bare = join(temporary, 'bare')
  const tarball = await installPackage(directory)
  await symlink(tools, join(temporary, 'project', 'node_modules'))
  await cp(join(directory, 'node_modules'), join(bare, 'node_modules'), { recursive: true })
  await cp(join(tools, '@opentelemetry', 'api'), join(bare, 'node_modules', '@opentelemetry', 'api'), {
    recursive: true,
  })
  const installed = await readdir(join(directory, 'node_modules', 'zkwire'), { recursive: true, withFileTypes: true })
  const files = installed
    .filter(each => each.isFile())
    .map(each => relative(join(directory, 'node_modules', 'zkwire'), join(each.parentPath, each.name)))
  return { directory, bare, tarball, files }
}

/** Writes files into the user's folder, which are named by their paths in it. */
export async function write(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), text)
  }
}

export interface Outcome {
  code: number
  output: string
}

/**
 * Runs a command in a folder of the user's. Its words are separated by single spaces. Never rejects.
 * @param node the Node on which it runs, also if it is a tool
 */
export async function run(directory: string, folder: string, node: string, command: string): Promise<Outcome> {
  const tools = join(dirname(directory), 'node_modules')
  const path = [join(tools, node, 'bin'), join(tools, '.bin'), process.env['PATH']].join(delimiter)
  const env = { PATH: path, HOME: process.env['HOME'], NO_COLOR: '1', CI: '1' }
  const [program = '', ...args] = command.split(' ')
  return promisify(execFile)(program, args, { cwd: join(directory, folder), env, timeout: 110_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, output: stdout + stderr }
    },
  )
}
