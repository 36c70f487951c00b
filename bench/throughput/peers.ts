// Installs the other Node clients in a separate folder when they are first needed.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = new URL('peers/', import.meta.url)

/** The file URL from which they can be required. */
export const peersFrom = new URL('package.json', folder).href

export async function installPeers(): Promise<void> {
  if (canLoad()) return
  process.stderr.write('installing the clients to compare with (one of them needs compiling)\n')
  const cwd = fileURLToPath(folder)
  await run('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], { cwd, maxBuffer: 0x100_0000 })
  // npm may be configured not to run the scripts of packages.
  if (!canLoad()) await run('npm', ['rebuild', '--foreground-scripts', 'zookeeper'], { cwd, maxBuffer: 0x100_0000 })
  if (!canLoad())
    throw new Error(`npm zookeeper cannot be loaded from ${cwd}. Compiling it needs a C compiler, make and python3`)
}

/** True if both clients can be loaded. */
function canLoad(): boolean {
  if (!existsSync(new URL('node_modules/', folder))) return false
  try {
    const require = createRequire(peersFrom)
    return [require('node-zookeeper-client'), require('zookeeper')].every(Boolean)
  } catch {
    return false
  }
}
