// Peers: processes that run the real Curator or kazoo, each with its own session.
import { fileURLToPath } from 'node:url'
import { JavaProgram } from '../../environment/java-program.ts'
import {
  CURATOR_JARS,
  DISCOVERY_JAR,
  provideCurator,
  provideDiscovery,
  provideKazoo,
} from '../../environment/other-libraries.ts'
import { PYTHON } from '../../environment/needs.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import type { Contender } from './contender.ts'

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
