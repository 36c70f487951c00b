// The other clients, installed in a folder of their own when they are first needed.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = new URL('peers/', import.meta.url)

/** From where they can be required, as a file URL. */
export const peersFrom = new URL('package.json', folder).href

export async function installPeers(): Promise<void> {
  if (works()) return
  process.stderr.write('installing the clients to compare with: one of them is compiled\n')
  const cwd = fileURLToPath(folder)
  await run('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], { cwd, maxBuffer: 0x100_0000 })
  // Where npm runs no script of a package by itself.
  if (!works()) await run('npm', ['rebuild', '--foreground-scripts', 'zookeeper'], { cwd, maxBuffer: 0x100_0000 })
  if (!works()) throw new Error(`npm zookeeper cannot be loaded from ${cwd}: it needs a C compiler, make and python3`)
}

/** In a process of its own: what failed to load once is not tried again in the same one. */
function works(): boolean {
  if (!existsSync(new URL('node_modules/', folder))) return false
  try {
    const require = createRequire(peersFrom)
    return [require('node-zookeeper-client'), require('zookeeper')].every(Boolean)
  } catch {
    return false
  }
}
