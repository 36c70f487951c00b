// Provides the libraries: installs what is missing, compiles the programs, and returns their command lines.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  CURATOR_JARS,
  provideCurator,
  provideKazoo,
  provideNewestCurator,
  provideNewestKazoo,
  type Python,
} from '../../environment/other-libraries.ts'
import { ensureInstalled, fetchUpstreamArchive } from '../../environment/debian-package.ts'
import { installTools } from '../../environment/installed-tools.ts'
import { javaCommand, type JavaProgramOptions } from '../../environment/java-program.ts'
import { C_HEADERS, cClient, cCompiler, nodeZooKeeperClient, PYTHON } from '../../environment/needs.ts'
import type { Command } from './driver.ts'
import type { LibraryName } from './libraries.ts'

const run = promisify(execFile)

const driver = (name: string) => fileURLToPath(new URL(`drivers/${name}`, import.meta.url))

const java = (which: string, options: JavaProgramOptions): Promise<Command> =>
  javaCommand(new URL('drivers/Contenders.java', import.meta.url), { ...options, args: [which] })

/** @param jars of the installed Curator, or of the newest */
async function curator(
  which: string,
  recipes: string,
  { jars = [], zookeeper }: JavaProgramOptions,
): Promise<Provided> {
  const file = jars.find(each => each.endsWith(`/${recipes}.jar`)) ?? ''
  return { command: await java(which, { jars, zookeeper }), version: await jarVersion(file) }
}

const installedCurator = async (which: string, recipes: string): Promise<Provided> => {
  await provideCurator()
  return curator(which, recipes, { jars: CURATOR_JARS })
}

async function kazooOf(python: Python): Promise<Provided> {
  const [command, ...args] = python
  const { stdout } = await run(command, [...args, '-c', 'import kazoo; print(kazoo.__version__)'])
  return { command: [...python, driver('contenders.py')], version: stdout.trim() }
}

export interface Provision {
  /** The directory of ZooKeeper's sources, from which zoo_lock is compiled. Default: those of Debian's package. */
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
  Curator: () => installedCurator('curator', 'curator-recipes'),
  'newest Curator': async () => curator('curator', 'curator-recipes', await provideNewestCurator()),
  'ZooKeeper recipes': () => installedCurator('zookeeper', 'zookeeper-recipes-lock'),
  kazoo: async () => {
    await provideKazoo()
    return kazooOf([PYTHON])
  },
  'newest kazoo': async () => kazooOf(await provideNewestKazoo()),
  'C client': provideZooLock,
  'node-zookeeper-client': async () => {
    const path = join(await installTools(nodeZooKeeperClient), 'node-zookeeper-client')
    const command = [process.execPath, '--import', 'tsx', driver('handwritten.ts'), path] as const
    return { command, version: await packageVersion(path) }
  },
}

/** @throws Error that says why the library cannot be had */
export const provide = (library: LibraryName, options: Provision): Promise<Provided> => providers[library](options)

async function packageVersion(directory: string): Promise<string> {
  return (JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as { version: string }).version
}

/** Debian also has each jar by a name with its version. */
async function jarVersion(file: string): Promise<string> {
  const name = new RegExp(`^${basename(file, '.jar')}-(\\d[\\d.]*)\\.jar$`)
  const versions = (await readdir(dirname(file))).flatMap(each => name.exec(each)?.[1] ?? [])
  return versions[0] ?? 'unknown'
}

const CACHE = fileURLToPath(new URL('../../.cache/peers-c/', import.meta.url))

async function provideZooLock({ zooLock }: Provision): Promise<Provided> {
  const sources = await sourcesOfZooLock(zooLock)
  await ensureInstalled(cCompiler)
  await ensureInstalled(cClient)
  await mkdir(CACHE, { recursive: true })
  const program = join(CACHE, 'contenders')
  await run('gcc', [
    ...['-O2', '-pthread', '-DTHREADED', '-o', program, `-I${C_HEADERS}`, `-I${join(sources, 'include')}`],
    ...[driver('contenders.c'), join(sources, 'src/zoo_lock.c'), '-lzookeeper_mt'],
  ])
  const header = await readFile(join(C_HEADERS, 'zookeeper_version.h'), 'utf8')
  return { command: [program], version: /ZOO_VERSION "([^"]+)"/.exec(header)?.[1] ?? 'unknown' }
}

/** Where ZooKeeper's sources have zoo_lock. No Debian package has it. */
const ZOO_LOCK = 'zookeeper-recipes/zookeeper-recipes-lock/src/main/c'

/** @param zookeeper the directory of ZooKeeper's sources. Default: those of Debian's package, which are fetched. */
async function sourcesOfZooLock(zookeeper: string | undefined): Promise<string> {
  const sources = join(zookeeper ?? join(CACHE, 'zookeeper'), ZOO_LOCK)
  const isThere = () => existsSync(join(sources, 'src/zoo_lock.c'))
  if (isThere()) return sources
  if (zookeeper !== undefined) throw new Error(`--zoo-lock: ${zookeeper} has no ${ZOO_LOCK}/src/zoo_lock.c`)
  const archive = await fetchUpstreamArchive('zookeeper', join(CACHE, 'fetched')).catch((error: unknown) => {
    throw new Error(
      `no Debian package has zoo_lock, and ZooKeeper’s sources could not be fetched with apt-get source: ` +
        `${(error as Error).message.trim()}. Unpack them yourself, and name their directory with --zoo-lock`,
    )
  })
  const unpacked = join(CACHE, 'zookeeper')
  await mkdir(unpacked, { recursive: true })
  await run('tar', ['--extract', '--file', archive, '--directory', unpacked, '--strip-components', '1'])
  if (!isThere()) throw new Error(`Debian’s sources of ZooKeeper have no ${ZOO_LOCK}/src/zoo_lock.c`)
  return sources
}
