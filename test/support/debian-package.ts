// What the tests need of Debian, installed where they may do that.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

export interface Requirement {
  /** For people. */
  name: string
  package: string
  isInstalled: () => boolean | Promise<boolean>
  /** What else one can do where it is missing. */
  alternatives: string
}

/** Makes sure that it is there: where it is not, root gets the package installed, and anybody else an error that names the ways out. */
export async function ensureInstalled(wanted: Requirement): Promise<void> {
  const { name, package: name, isInstalled } = wanted
  if (await isInstalled()) return
  if (process.getuid?.() !== 0) throw notFound(wanted, 'it is not on this machine, and only root can install it')
  if (!existsSync('/usr/bin/apt-get'))
    throw notFound(wanted, 'it is not on this machine, and there is no apt-get to install it')
  process.stderr.write(`${name} is missing: installing the Debian package ${name} with apt-get\n`)
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', name]])
    await aptGet(args).catch((error: unknown) => {
      throw notFound(wanted, `apt-get ${args.join(' ')} failed:\n${(error as Error).message.slice(-2000)}`)
    })
  if (!(await isInstalled())) throw notFound(wanted, `the package ${name} did not bring it`)
}

/** Two runs that install at once wait for each other. */
const aptGet = (args: readonly string[]) =>
  promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 0x100_0000,
  })

export const notFound = ({ name, alternatives }: Pick<Requirement, 'what' | 'waysOut'>, why: string): Error =>
  new Error(`${name} was not found: ${why}\nWays out: ${alternatives}`)
