// Installs every runtime and test runner from npm, in a separate folder, so that only these tests need them. Installs
// the packed package too.
import { dirname, join } from 'node:path'
import { installTools } from '../../environment/installed-tools.ts'
import { runtimes } from '../../environment/needs.ts'
import { installPackage } from '../support/packed-package.ts'

export interface Installed {
  /** The folder with the runtimes. */
  runtimes: string
  /**
   * A user's project with the package installed. It is below `runtimes`, so that its files may import the test runners
   * too.
   */
  user: string
}

let all: Promise<Installed> | undefined

/** Installs the runtimes and the package once per process. The first call in a clone downloads all runtimes. */
export const installed = (): Promise<Installed> => (all ??= install())

async function install(): Promise<Installed> {
  const directory = dirname(await installTools(runtimes))
  const user = join(directory, 'user')
  await installPackage(user)
  return { runtimes: directory, user }
}
