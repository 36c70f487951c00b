// Installs every runtime and test runner from npm, in a separate folder, so that only these tests need them. Installs
// the packed package too.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npm, root } from '../../environment/installed-tools.ts'
import { installPackage, nodeBinary } from '../support/packed-package.ts'

const cache = join(root, '.cache', 'runtimes', 'installed')

/** The oldest Node that package.json allows, and the newest of each later release line. */
const dependencies = {
  'node-20': nodeBinary('~20.19.0'),
  'node-22': nodeBinary('^22.0.0'),
  'node-24': nodeBinary('^24.0.0'),
  'node-26': nodeBinary('^26.0.0'),
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
  const user = join(cache, 'user')
  all ??= Promise.all([installRuntimes(), installPackage(user)]).then(([runtimes]) => ({ runtimes, user }))
  return all
}

async function installRuntimes(): Promise<string> {
  await mkdir(cache, { recursive: true })
  await writeFile(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }, null, 2))
  await npm(cache, 'install', '--no-package-lock')
  return cache
}
