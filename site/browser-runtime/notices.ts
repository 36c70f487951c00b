// The notices of the packages in a bundle, because their licences ask for them in every copy.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the folders of the packages to which these files belong, sorted by name. */
function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap(file => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(folders)].sort()
}

/**
 * Returns the name, the version and the licence of each package in a bundle.
 * @param files the files of which it was made: the keys of `inputs` in esbuild's metafile
 * @param root the folder to which their names are relative
 * @throws Error if a package has no file of its licence
 */
export async function noticesOf(files: readonly string[], root: string): Promise<string> {
  const notices = await Promise.all(packagesOf(files).map(folder => noticeOf(join(root, folder))))
  return notices.join(`\n${'-'.repeat(80)}\n\n`)
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  const file = (await readdir(folder)).find(each => /^(licen[cs]e|copying)(\.|$)/i.test(each))
  if (file === undefined)
    throw new Error(`${name} ${version} has no file of its licence (${license}), so it must not be bundled`)
  return `${name} ${version} (${license})\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
}
