// Peers: processes that run the real Curator, kazoo or go-zookeeper, each with its own session.
import { fileURLToPath } from 'node:url'
import { JavaProgram, type JavaProgramOptions } from '../../environment/java-program.ts'
import {
  provideDiscovery,
  provideGoProgram,
  provideKazoo,
  provideNewestCurator,
  provideNewestKazoo,
  type Python,
} from '../../environment/other-libraries.ts'
import { PYTHON } from '../../environment/needs.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import type { CounterFormat } from '../../src/recipes/data/counter-format.ts'
import type { DialectName } from '../../src/recipes/queue/dialect.ts'
import type { Contender } from './contender.ts'

const fileOf = (name: string) => new URL(name, import.meta.url)

/**
 * A process that executes commands, one per line. JavaPeer.java, KazooPeer.py and GoPeer.go define the commands and the
 * kinds of locks.
 */
export class Peer {
  readonly #program: SubprocessRpc

  constructor(program: SubprocessRpc) {
    this.#program = program
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

export interface PeerOptions {
  /** In milliseconds. Default: 6000. */
  sessionTimeout?: number
}

export type StartPeer = (connectString: string, options?: PeerOptions) => Promise<Peer>

/** A library, and how to start its peers. */
export interface Library {
  name: string
  language: 'Java' | 'Python' | 'Go'
  /** Installs the library. */
  provide: () => Promise<StartPeer>
  /** What its program calls its lock, and the dialect of a Mutex that shares it. */
  lock: { kind: string; dialect: DialectName }
  /** What its program calls a counter, and the format of a Counter that shares it. */
  counter?: { kind: string; format: CounterFormat }
  /** True if the tests do without it on a machine that cannot have it. They say so. */
  isOptional?: boolean
}

const argumentsOf = (connectString: string, { sessionTimeout = 6000 }: PeerOptions = {}) => [
  connectString,
  String(sessionTimeout),
]

const java =
  (given: JavaProgramOptions): StartPeer =>
  async (connectString, options) => {
    const args = argumentsOf(connectString, options)
    return new Peer(await JavaProgram.start(fileOf('JavaPeer.java'), { ...given, args }))
  }

const program = (command: string, ...args: string[]) => Promise.resolve(new Peer(new SubprocessRpc(command, args)))

const python =
  ([command, ...args]: Python): StartPeer =>
  (connectString, options) =>
    program(command, ...args, fileURLToPath(fileOf('KazooPeer.py')), ...argumentsOf(connectString, options))

export const curator: Library = {
  name: 'Curator',
  language: 'Java',
  lock: { kind: 'mutex', dialect: 'curator' },
  counter: { kind: 'long', format: 'int64' },
  provide: async () => java({ jars: await provideDiscovery() }),
}

export const kazoo: Library = {
  name: 'kazoo',
  language: 'Python',
  lock: { kind: 'lock', dialect: 'kazoo' },
  counter: { kind: 'decimal', format: 'decimal' },
  provide: async () => {
    await provideKazoo()
    return python([PYTHON])
  },
}

export const newestCurator: Library = {
  ...curator,
  name: 'the newest Curator',
  provide: async () => java(await provideNewestCurator()),
  isOptional: true,
}

export const newestKazoo: Library = {
  ...kazoo,
  name: 'the newest kazoo',
  provide: async () => python(await provideNewestKazoo()),
  isOptional: true,
}

export const goZooKeeper: Library = {
  name: 'go-zookeeper',
  language: 'Go',
  lock: { kind: 'lock', dialect: 'curator' },
  provide: async () => {
    const compiled = await provideGoProgram(fileURLToPath(fileOf('GoPeer.go')))
    return (connectString, options) => program(compiled, ...argumentsOf(connectString, options))
  },
  isOptional: true,
}

export const curators: readonly Library[] = [curator, newestCurator]
export const kazoos: readonly Library[] = [kazoo, newestKazoo]
