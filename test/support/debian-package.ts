// Installs the Debian packages that the tests need, if the tests run as root.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

export interface Requirement {
  /** The name of the program in messages. */
  name: string
  package: string
  isInstalled: () => boolean | Promise<boolean>
  /** Other ways to provide it, shown in the error. */
  alternatives: string
}

/**
 * Makes sure that the program is installed. Installs its package if it is missing and the process runs as root.
 * @throws Error with the alternatives if the program cannot be installed
 */
export async function ensureInstalled(requirement: Requirement): Promise<void> {
  const { name, package: packageName, isInstalled } = requirement
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

// With the lock timeout, two runs that install at once wait for each other.
const aptGet = (args: readonly string[]) =>
  promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 0x100_0000,
  })

export const notFound = ({ name, alternatives }: Pick<Requirement, 'name' | 'alternatives'>, why: string): Error =>
  new Error(`${name} was not found: ${why}\nTo provide it: ${alternatives}`)
