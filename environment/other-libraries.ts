// Curator and kazoo as Debian's packages provide them, and the newest of them, and Go's client, beside those.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { ensureInstalled } from './debian-package.ts'
import { provideUnpacked } from './debian-suite.ts'
import { distribution } from './find-apache-zookeeper.ts'
import type { JavaProgramOptions } from './java-program.ts'
import {
  curator,
  curatorDiscovery,
  DEBIAN_JARS,
  go,
  goZooKeeper,
  kazoo,
  newestCurator,
  newestKazoo,
  PYTHON,
  root,
} from './needs.ts'
import { layOut } from './zookeeper-versions.ts'

const jar = (name: string) => join(DEBIAN_JARS, `${name}.jar`)

/** Curator, its dependencies, and ZooKeeper's own recipes. */
export const CURATOR_JARS = ['client', 'framework', 'recipes']
  .map(name => `curator-${name}`)
  .concat('zookeeper-recipes-lock', 'guava', 'slf4j-api', 'netty-all', 'jackson-core', 'jackson-databind')
  .concat('jackson-annotations', 'metrics-core', 'snappy-java')
  .map(jar)

/** Installs Curator and its service discovery. Resolves with the jars of both. */
export async function provideDiscovery(): Promise<string[]> {
  await provideCurator()
  await ensureInstalled(curatorDiscovery)
  return [...CURATOR_JARS, jar('curator-x-discovery')]
}

/** Installs Curator if it is missing. Call it outside a test's timeout. */
export const provideCurator = (): Promise<void> => ensureInstalled(curator)

export const provideKazoo = (): Promise<void> => ensureInstalled(kazoo)

/**
 * Provides the newest Curator with its service discovery, WriteLock, and the client of the same suite. Resolves with its
 * class path.
 * @throws Error if this machine cannot download it
 */
export async function provideNewestCurator(): Promise<Required<Pick<JavaProgramOptions, 'zookeeper' | 'jars'>>> {
  const zookeeper = distribution(await layOut('3.9.3'))
  const jars = join(await provideUnpacked(newestCurator), 'usr/share/java')
  // A manifest of Debian names the installed jars, so each jar comes after those that it needs.
  const names = ['guava', ...['client', 'framework', 'recipes', 'x-discovery'].map(name => `curator-${name}`)]
  return { zookeeper, jars: [...names, 'zookeeper-recipes-lock'].map(name => join(jars, `${name}.jar`)) }
}

/** The start of a command line: a Python with a kazoo. */
export type Python = readonly [command: string, ...args: string[]]

/**
 * Provides the newest kazoo. Resolves with the command of a Python that imports it.
 * @throws Error if this machine cannot download it
 */
export async function provideNewestKazoo(): Promise<Python> {
  const packages = join(await provideUnpacked(newestKazoo), 'usr/lib/python3/dist-packages')
  return ['/usr/bin/env', `PYTHONPATH=${packages}`, PYTHON]
}

/**
 * Compiles a program that uses go-zookeeper. Resolves with the path of the program.
 * @throws Error if this machine lacks Go, and cannot install it
 */
export async function provideGoProgram(source: string): Promise<string> {
  await ensureInstalled(go)
  const files = await provideUnpacked(goZooKeeper)
  const directory = join(root, '.cache/go')
  await mkdir(directory, { recursive: true })
  const program = join(directory, basename(source, '.go'))
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: join(files, 'usr/share/gocode'),
    GOCACHE: join(directory, 'cache'),
  }
  await promisify(execFile)('go', ['build', '-o', program, source], { env })
  return program
}
