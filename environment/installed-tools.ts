// Installs tools from npm that only one suite needs, in a folder of their own.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const root = join(import.meta.dirname, '..')

export async function npm(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', args, { cwd })
  return stdout
}

/** Installs the tools, unless the last run has installed the same ones. Resolves with the path of their node_modules. */
export async function installTools(suite: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
  const directory = join(root, '.cache', suite)
  const manifest = JSON.stringify({ private: true, dependencies })
  const complete = join(directory, 'complete.json')
  if ((await readFile(complete, 'utf8').catch(() => '')) !== manifest) {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'package.json'), manifest)
    await npm(directory, 'install', '--no-package-lock', '--no-audit', '--no-fund')
    await writeFile(complete, manifest)
  }
  return join(directory, 'node_modules')
}
