// Peers: processes that run the real Curator or kazoo, each with its own session.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ensureInstalled } from '../support/debian-package.ts'
import { DEBIAN_JARS } from '../support/find-apache-zookeeper.ts'
import { JavaProgram } from '../support/java-program.ts'
import { SubprocessRpc } from '../support/subprocess-rpc.ts'
import type { Contender } from './contender.ts'

const jar = (name: string) => join(DEBIAN_JARS, `${name}.jar`)

/** Curator, its dependencies, and ZooKeeper's own recipes. */
export const CURATOR_JARS = ['client', 'framework', 'recipes']
  .map(name => `curator-${name}`)
  .concat('zookeeper-recipes-lock', 'guava', 'slf4j-api', 'netty-all', 'jackson-core', 'jackson-databind')
  .concat('jackson-annotations', 'metrics-core', 'snappy-java')
  .map(jar)

/** The path is absolute, because another python on the PATH may not see Debian's packages. */
export const PYTHON = '/usr/bin/python3'

const DISCOVERY_JAR = jar('curator-x-discovery')

async function provideDiscovery(): Promise<void> {
  await provideCurator()
  await ensureInstalled({
    name: "Curator's service discovery",
    package: 'libcurator-discovery-java',
    isInstalled: () => existsSync(DISCOVERY_JAR),
    alternatives: 'install the Debian package libcurator-discovery-java.',
  })
}

/** Installs Curator if it is missing. Call it outside a test's timeout. */
async function provideCurator(): Promise<void> {
  await ensureInstalled({
    name: 'Apache Curator',
    package: 'libcurator-recipes-java',
    isInstalled: () => existsSync(jar('curator-recipes')) && existsSync(jar('zookeeper-recipes-lock')),
    alternatives: 'install the Debian package libcurator-recipes-java.',
  })
}

export async function provideKazoo(): Promise<void> {
  await ensureInstalled({
    name: 'kazoo',
    package: 'python3-kazoo',
    isInstalled: () =>
      promisify(execFile)(PYTHON, ['-c', 'import kazoo']).then(
        () => true,
        () => false,
      ),
    alternatives: 'install the Debian package python3-kazoo.',
  })
}

/**
 * A process that executes commands, one per line. JavaPeer.java and KazooPeer.py define the commands and the kinds of
 * locks.
 */
export class Peer {
  readonly #program: SubprocessRpc

  private constructor(program: SubprocessRpc) {
    this.#program = program
  }

  static async curator(connectString: string): Promise<Peer> {
    const source = new URL('JavaPeer.java', import.meta.url)
    return new Peer(await JavaProgram.start(source, { jars: CURATOR_JARS, args: [connectString] }))
  }

  /** A peer of MembersPeer.java, with groups and services instead of locks. */
  static async curatorMembers(connectString: string): Promise<Peer> {
    const source = new URL('MembersPeer.java', import.meta.url)
    return new Peer(await JavaProgram.start(source, { jars: [...CURATOR_JARS, DISCOVERY_JAR], args: [connectString] }))
  }

  /** @param program KazooPeer.py has locks, MembersPeer.py has groups */
  static kazoo(connectString: string, program = 'KazooPeer.py'): Peer {
    const source = fileURLToPath(new URL(program, import.meta.url))
    return new Peer(new SubprocessRpc(PYTHON, [source, connectString]))
  }

  /** @returns the line that the process prints as its reply */
  ask(command: string, kind = '', path = '', argument = ''): Promise<string> {
    return this.#program.request([command, kind, path, argument].join(' ').trimEnd())
  }

  contender(name: string, kind: string, path: string): Contender {
    return {
      name,
      acquire: () => this.ask('acquire', kind, path),
      read: counter => this.ask('read', '', counter),
      write: (counter, value) => this.ask('write', '', counter, value),
      release: () => this.ask('release', kind, path),
    }
  }

  kill(): Promise<void> {
    return this.#program.kill()
  }

  close(): Promise<void> {
    return this.#program.close()
  }
}

/** How to install a library, and how to start a peer that uses it. */
export interface Library {
  provide: () => Promise<void>
  start: (connectString: string) => Promise<Peer>
}

export const curator: Library = { provide: provideCurator, start: connectString => Peer.curator(connectString) }
export const kazoo: Library = {
  provide: provideKazoo,
  start: connectString => Promise.resolve(Peer.kazoo(connectString)),
}
export const curatorMembers: Library = {
  provide: provideDiscovery,
  start: connectString => Peer.curatorMembers(connectString),
}
export const kazooMembers: Library = {
  provide: provideKazoo,
  start: connectString => Promise.resolve(Peer.kazoo(connectString, 'MembersPeer.py')),
}
