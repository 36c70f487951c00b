// Installs every runtime and test runner from npm, in a separate folder, so that only these tests need them. Installs
// the packed package too.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const root = join(import.meta.dirname, '..', '..')
const cache = join(root, '.cache', 'runtimes', 'installed')

/**
 * Returns the npm specifier of a Node. The list has the oldest Node that package.json allows, and later release lines.
 */
const node = (range: string) => `npm:node-${process.platform}-${process.arch}@${range}`
const dependencies = {
  'node-20': node('~20.19.0'),
  'node-22': node('^22.0.0'),
  'node-24': node('^24.0.0'),
  'node-26': node('^26.0.0'),
  bun: '^1.4.0',
  deno: '^2.9.0',
  miniflare: '^4.0.0',
  mocha: '^12.0.0',
  vitest: '^4.1.0',
}

export interface Installed {
  /** The folder with the runtimes. */
  runtimes: string
  /**
   * A user's project with the package installed. It is below `runtimes`, so that its files may import the test runners
   * too.
   */
  user: string
}

let all: Promise<Installed> | undefined

/** Installs the runtimes and the package once per process. The first call may download all runtimes. */
export function installed(): Promise<Installed> {
  all ??= Promise.all([installRuntimes(), installPackage()]).then(([runtimes, user]) => ({ runtimes, user }))
  return all
}

async function installRuntimes(): Promise<string> {
  await mkdir(cache, { recursive: true })
  await writeFile(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }, null, 2))
  await npm(cache, 'install', '--no-package-lock')
  return cache
}

/** Packs the built package and installs it in an empty folder. */
async function installPackage(): Promise<string> {
  const directory = join(cache, 'user')
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const packed = await npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', directory)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  await npm(directory, 'install', '--no-package-lock', '--offline', join(directory, filename))
  return directory
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd })
  return stdout
}
