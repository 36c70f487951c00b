// Copies the repository, so that a test may change its files.
import { execFileSync } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from '../../environment/needs.ts'

/** Copies the files that git knows or could add, and links the named folders. */
export async function copyRepository(to: string, linked: Readonly<Record<string, string>>): Promise<void> {
  const command = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z']
  const files = execFileSync('git', command, { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(to, file)), { recursive: true })
    await cp(join(root, file), join(to, file))
  }
  for (const [name, target] of Object.entries(linked)) await symlink(target, join(to, name))
}
