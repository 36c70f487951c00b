// A user's folder, outside of the repository, with the packed package and the tools that users have.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { runAtExit } from '../../environment/at-exit.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { installPackage, nodeBinary } from '../support/packed-package.ts'

/** The tools of users, with the oldest TypeScript that the README names, and the newest. */
const dependencies = {
  ...{ 'node-20': nodeBinary('~20.19.0'), 'node-22': nodeBinary('^22.0.0'), 'node-24': nodeBinary('^24.0.0') },
  ...{ jest: '^30.0.0', 'babel-jest': '^30.0.0', '@babel/preset-env': '^7.0.0', 'ts-jest': '^29.4.0' },
  ...{ '@types/jest': '^30.0.0', '@types/node': '^20.19.0', '@cloudflare/workers-types': '^5.0.0', vitest: '^4.1.0' },
  ...{ esbuild: '^0.28.0', rollup: '^4.0.0', '@rollup/plugin-node-resolve': '^16.0.0', vite: '^8.0.0' },
  ...{ '@rollup/plugin-commonjs': '^29.0.0', webpack: '^5.0.0', 'webpack-cli': '^7.0.0' },
  '@opentelemetry/api': '^1.9.1',
  ...{ publint: '^0.3.0', '@arethetypeswrong/cli': '^0.18.0' },
  ...{
    typescript: '~6.0.0',
    'typescript-oldest': 'npm:typescript@~5.2.0',
    'typescript-newest': 'npm:typescript@^7.0.0',
  },
}

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
  const tools = await installTools('package', dependencies)
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
