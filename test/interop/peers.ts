// Contenders by other libraries: real Curator and kazoo, each a process of its own with a session of its own.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { provide } from '../support/debian-package.ts'
import { DEBIAN_JARS } from '../support/find-apache-zookeeper.ts'
import { JavaProgram } from '../support/java-program.ts'
import { LineProgram } from '../support/subprocess-rpc.ts'
import type { Contender } from './contender.ts'

const jar = (name: string) => join(DEBIAN_JARS, `${name}.jar`)

/** Curator's own, what it stands on, and the recipes that come with ZooKeeper. */
const JARS = ['client', 'framework', 'recipes']
  .map(name => `curator-${name}`)
  .concat('zookeeper-recipes-lock', 'guava', 'slf4j-api', 'netty-all', 'jackson-core', 'jackson-databind')
  .concat('jackson-annotations', 'metrics-core', 'snappy-java')
  .map(jar)

/** Another python on the path may not see Debian's packages. */
export const PYTHON = '/usr/bin/python3'

/** Compiles and installs what is missing: to be called before the clock of a test runs. */
async function provideCurator(): Promise<void> {
  await provide({
    what: 'Apache Curator',
    package: 'libcurator-recipes-java',
    isThere: () => existsSync(jar('curator-recipes')) && existsSync(jar('zookeeper-recipes-lock')),
    waysOut: 'install the Debian package libcurator-recipes-java.',
  })
}

export async function provideKazoo(): Promise<void> {
  await provide({
    what: 'kazoo',
    package: 'python3-kazoo',
    isThere: () =>
      promisify(execFile)(PYTHON, ['-c', 'import kazoo']).then(
        () => true,
        () => false,
      ),
    waysOut: 'install the Debian package python3-kazoo.',
  })
}

/** A process that holds and waits as it is told. Kinds of locks are those that JavaPeer.java and KazooPeer.py know. */
export class Peer {
  readonly #program: LineProgram

  private constructor(program: LineProgram) {
    this.#program = program
  }

  static async curator(connectString: string): Promise<Peer> {
    const source = new URL('JavaPeer.java', import.meta.url)
    return new Peer(await JavaProgram.start(source, { jars: JARS, args: [connectString] }))
  }

  static kazoo(connectString: string): Peer {
    const source = fileURLToPath(new URL('KazooPeer.py', import.meta.url))
    return new Peer(new LineProgram(PYTHON, [source, connectString]))
  }

  /** @returns what it answers */
  ask(what: string, kind = '', path = '', more = ''): Promise<string> {
    return this.#program.askOne([what, kind, path, more].join(' ').trimEnd())
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

/** Whose contenders there are, and how one comes to have them. */
export interface Library {
  provide: () => Promise<void>
  start: (connectString: string) => Promise<Peer>
}

export const curator: Library = { provide: provideCurator, start: connectString => Peer.curator(connectString) }
export const kazoo: Library = {
  provide: provideKazoo,
  start: connectString => Promise.resolve(Peer.kazoo(connectString)),
}
