// Provides the libraries: installs what is missing, compiles the programs, and returns their command lines.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CURATOR_JARS, curator, kazoo, PYTHON } from '../../test/interop/peers.ts'
import { ensureInstalled } from '../../test/support/debian-package.ts'
import { DEBIAN_JARS } from '../../test/support/find-apache-zookeeper.ts'
import { installTools } from '../../test/support/installed-tools.ts'
import { javaCommand } from '../../test/support/java-program.ts'
import type { Command } from './driver.ts'
import type { LibraryName } from './libraries.ts'

const run = promisify(execFile)

const NODE_ZOOKEEPER_CLIENT = { 'node-zookeeper-client': '1.1.3' }

const driver = (name: string) => fileURLToPath(new URL(`drivers/${name}`, import.meta.url))

const java = async (which: string): Promise<Command> => {
  await curator.provide()
  return javaCommand(new URL('drivers/Contenders.java', import.meta.url), { jars: CURATOR_JARS, args: [which] })
}

export interface Provision {
  /** The directory with `include/zoo_lock.h` and `lib/libzoolock.so`, which the user has built. */
  zooLock?: string | undefined
}

export interface Provided {
  command: Command
  /** The version of the library. */
  version: string
}

const providers: Record<LibraryName, (options: Provision) => Promise<Provided>> = {
  zkwire: async () => ({
    command: [process.execPath, '--import', 'tsx', driver('zkwire.ts')],
    version: await packageVersion(fileURLToPath(new URL('../..', import.meta.url))),
  }),
  Curator: async () => ({ command: await java('curator'), version: await jarVersion('curator-recipes') }),
  'ZooKeeper recipes': async () => ({
    command: await java('zookeeper'),
    version: await jarVersion('zookeeper-recipes-lock'),
  }),
  kazoo: async () => {
    await kazoo.provide()
    const { stdout } = await run(PYTHON, ['-c', 'import kazoo; print(kazoo.__version__)'])
    return { command: [PYTHON, driver('contenders.py')], version: stdout.trim() }
  },
  'C client': provideZooLock,
  'node-zookeeper-client': async () => {
    const path = join(await installTools('peers', NODE_ZOOKEEPER_CLIENT), 'node-zookeeper-client')
    const command = [process.execPath, '--import', 'tsx', driver('handwritten.ts'), path] as const
    return { command, version: await packageVersion(path) }
  },
}

/** @throws Error that says why the library cannot be had */
export const provide = (library: LibraryName, options: Provision): Promise<Provided> => providers[library](options)

async function packageVersion(directory: string): Promise<string> {
  return (JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as { version: string }).version
}

/** Debian also installs each jar by a name with its version. */
async function jarVersion(name: string): Promise<string> {
  const versions = (await readdir(DEBIAN_JARS)).flatMap(
    file => new RegExp(`^${name}-(\\d[\\d.]*)\\.jar$`).exec(file)?.[1] ?? [],
  )
  return versions[0] ?? 'unknown'
}

/** ZooKeeper's own build installs zoo_lock with these names. */
const INSTALLED = { header: 'include/zoo_lock.h', library: 'lib/libzoolock.so' }
const HEADERS = '/usr/include/zookeeper'

async function provideZooLock({ zooLock }: Provision): Promise<Provided> {
  if (zooLock === undefined)
    throw new Error(
      'Debian has no package of zoo_lock. Build zookeeper-recipes-lock/src/main/c of ZooKeeper’s sources, ' +
        'install it into a directory, and name that with --zoo-lock',
    )
  for (const file of Object.values(INSTALLED))
    if (!existsSync(join(zooLock, file))) throw new Error(`--zoo-lock: ${zooLock} has no ${file}`)
  await ensureInstalled({
    name: 'the C client',
    package: 'libzookeeper-mt-dev',
    isInstalled: () => existsSync(join(HEADERS, 'zookeeper.h')),
    alternatives: 'install the Debian package libzookeeper-mt-dev.',
  })
  const built = fileURLToPath(new URL('../../.cache/peers-c/', import.meta.url))
  await mkdir(built, { recursive: true })
  const [program, libraries] = [join(built, 'contenders'), join(zooLock, 'lib')]
  await run('gcc', [
    ...['-O2', '-pthread', '-DTHREADED', '-o', program, driver('contenders.c')],
    ...[`-I${HEADERS}`, `-I${join(zooLock, 'include')}`, `-L${libraries}`, `-Wl,-rpath,${libraries}`],
    ...['-lzoolock', '-lzookeeper_mt'],
  ])
  const header = await readFile(join(HEADERS, 'zookeeper_version.h'), 'utf8')
  return { command: [program], version: /ZOO_VERSION "([^"]+)"/.exec(header)?.[1] ?? 'unknown' }
}
