// Unpacks packages of another suite of Debian into a folder, beside those that are installed: nothing is installed.
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { aptGet, packageSources } from './debian-package.ts'
import { root, unpackedMark, type SuitePackages } from './needs.ts'
import { expectDeclared } from './suites.ts'

/** The name of a suite of Debian, such as `sid`. */
export type Suite = string

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/**
 * Provides packages of a suite. Resolves with the folder that stands for `/`.
 * @throws Error if this machine cannot download them, or if the suite that runs has not declared the need
 */
export async function provideUnpacked(need: SuitePackages): Promise<string> {
  expectDeclared(need)
  if (!(await need.isInstalled())) process.stderr.write(`${need.name} is missing: ${need.how}\n`)
  return unpacked(need.suite, need.packages)
}

/**
 * Downloads packages of a suite, unless an earlier run has, and unpacks them. Resolves with the folder that stands for
 * `/`. The packages on which they depend are not downloaded.
 * @throws Error if this machine has no apt-get, or if the suite cannot be reached or lacks a package
 */
export async function unpacked(suite: Suite, packages: readonly string[]): Promise<string> {
  const directory = join(root, '.cache/debian', suite)
  const [lists, files] = [join(directory, 'lists'), join(directory, 'root')]
  const missing = packages.filter(name => !existsSync(unpackedMark(suite, name)))
  if (missing.length === 0) return files
  for (const folder of [join(lists, 'partial'), join(directory, 'archives/partial'), files])
    await mkdir(folder, { recursive: true })
  await writeFile(join(directory, 'sources.list'), `deb [signed-by=${KEYRING}] ${await mirror()} ${suite} main\n`)
  const settings = {
    'Dir::Etc::SourceList': join(directory, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::lists': lists,
    'Dir::State::status': '/dev/null',
    'Dir::Cache': directory,
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await aptGet([...options, 'update'], directory)
  await aptGet([...options, 'download', ...missing], directory)
  for (const archive of (await readdir(directory)).filter(name => name.endsWith('.deb'))) {
    await promisify(execFile)('dpkg', ['-x', join(directory, archive), files])
    const [name = ''] = archive.split('_')
    await writeFile(unpackedMark(suite, name), archive)
  }
  return files
}

/** Returns the address of Debian's archive from which this machine installs its packages. */
async function mirror(): Promise<string> {
  for (const file of await packageSources()) {
    const found = (await readFile(file, 'utf8')).match(/(?<=^(?:URIs:|deb(?: \[.*\])?)\s+)\S+\/debian\/?(?=\s|$)/m)
    if (found !== null) return found[0]
  }
  throw new Error('apt-get on this machine has no archive of Debian among its package sources')
}
