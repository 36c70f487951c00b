// Another commit of this repository, built in a folder of the cache.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { UsageError } from '../output/usage.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = join(root, '.cache', 'calls')

export interface Reference {
  /** The abbreviated hash of the commit, and its first line. */
  title: string
  /** The folder of its built client. */
  dist: URL
}

/**
 * Checks out and builds a commit with the tools of this checkout, unless that was done before.
 * @throws UsageError if there is no such commit
 */
export async function referenceTo(ref: string): Promise<Reference> {
  const { stdout } = await run('git', ['log', '-1', '--format=%H %h %s', ref, '--'], { cwd: root }).catch(() => {
    throw new UsageError(`--against: ${JSON.stringify(ref)} is not a commit`)
  })
  const [commit = '', ...title] = stdout.trim().split(' ')
  const folder = join(cache, commit)
  if (!existsSync(folder)) await buildIn(folder, commit)
  return { title: title.join(' '), dist: pathToFileURL(join(folder, 'dist')) }
}

async function buildIn(folder: string, commit: string): Promise<void> {
  // Built elsewhere first, so that an interrupted build is not used.
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  const archive = join(unfinished, 'archive.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: root })
  await run('tar', ['-xf', archive, '-C', unfinished])
  await rm(archive)
  await symlink(join(root, 'node_modules'), join(unfinished, 'node_modules'))
  await run('npm', ['run', 'build'], { cwd: unfinished })
  await rename(unfinished, folder)
}
