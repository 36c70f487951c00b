// Installs the Debian packages that the tests need, if the tests run as root. Fetches the sources of others.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { DebianPackage, Need } from './needs.ts'
import { expectDeclared } from './suites.ts'

/**
 * Makes sure that the program is installed. Installs its package if it is missing and the process runs as root.
 * @throws Error with the alternatives if the program cannot be installed, or if the suite has not declared it
 */
export async function ensureInstalled(requirement: DebianPackage): Promise<void> {
  const { name, package: packageName, isInstalled } = requirement
  expectDeclared(requirement)
  if (await isInstalled()) return
  if (process.getuid?.() !== 0) throw notFound(requirement, 'it is not on this machine, and only root can install it')
  if (!existsSync('/usr/bin/apt-get'))
    throw notFound(requirement, 'it is not on this machine, and there is no apt-get to install it')
  process.stderr.write(`${name} is missing: installing the Debian package ${packageName} with apt-get\n`)
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', packageName]])
    await aptGet(args).catch((error: unknown) => {
      throw notFound(requirement, `apt-get ${args.join(' ')} failed:\n${(error as Error).message.slice(-2000)}`)
    })
  if (!(await isInstalled())) throw notFound(requirement, `the package ${packageName} was installed but lacks it`)
}

const APT = '/etc/apt'

/**
 * Fetches the upstream archive of a Debian source package into an empty directory of its own, and returns its path. It
 * needs no root and changes nothing else, because apt-get keeps its lists in that directory too.
 * @throws Error if this machine has no apt-get, or its package sources have no such source package
 */
export async function fetchUpstreamArchive(packageName: string, directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true })
  const [parts, lists] = [join(directory, 'parts'), join(directory, 'lists')]
  for (const each of [parts, join(lists, 'partial')]) await mkdir(each, { recursive: true })
  for (const file of await packageSources())
    await writeFile(join(parts, basename(file)), asSourcesOfSources(await readFile(file, 'utf8')))
  const settings = { 'Dir::Etc::SourceList': '/dev/null', 'Dir::Etc::SourceParts': parts, 'Dir::State::lists': lists }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  // Some package sources have binary packages only, so the error of the second command is the one that matters.
  await aptGet([...options, 'update'], directory).catch(() => undefined)
  await aptGet([...options, 'source', '--download-only', packageName], directory)
  const archive = (await readdir(directory)).find(
    name => name.startsWith(packageName) && /\.orig\.tar\.\w+$/.test(name),
  )
  if (archive === undefined) throw new Error(`the source package ${packageName} has no upstream archive`)
  return join(directory, archive)
}

/** Returns the files in which apt-get finds its package sources. */
export async function packageSources(): Promise<string[]> {
  const parts = join(APT, 'sources.list.d')
  const names = await readdir(parts).catch(() => [])
  const files = names.filter(name => /\.(list|sources)$/.test(name)).map(name => join(parts, name))
  return [join(APT, 'sources.list'), ...files].filter(existsSync)
}

/** Returns the text of a file of apt's package sources, in either of its formats, with sources in place of binaries. */
const asSourcesOfSources = (text: string): string =>
  text.replace(/^Types:.*$/gm, 'Types: deb-src').replace(/^deb(-src)?\s/gm, 'deb-src ')

// With the lock timeout, two runs that install at once wait for each other.
export const aptGet = (args: readonly string[], directory = '/') =>
  promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    cwd: directory,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 0x100_0000,
  })

export const notFound = ({ name, alternatives }: Pick<Need, 'name' | 'alternatives'>, why: string): Error =>
  new Error(`${name} was not found: ${why}\nTo provide it: ${alternatives}`)
