// A client's root inside the server's tree: put before every path that goes out, taken off every path that comes in.
import { JuteError } from '../protocol/index.ts'

export class Chroot {
  /** '' for the server's own root. */
  readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  /** @param isSequential the server appends a number to the path: below the root itself the slash stays */
  add(path: string, isSequential = false): string {
    if (this.prefix === '') return path
    return path === '/' && !isSequential ? this.prefix : this.prefix + path
  }

  /** Is a path of the server below this root? */
  has(serverPath: string): boolean {
    return serverPath === this.prefix || serverPath.startsWith(this.prefix + '/')
  }

  /** @throws JuteError of a path that is not below this root: a wrong path is never shown */
  strip(serverPath: string): string {
    if (this.prefix === '') return serverPath
    if (serverPath === this.prefix) return '/'
    if (this.has(serverPath)) return serverPath.slice(this.prefix.length)
    throw new JuteError(`the path ${serverPath} is not below ${this.prefix}`)
  }

  /** The path of a node that was created as `asked`; a sequential one is longer by its number. */
  created(asked: string, serverPath: string): string {
    const path = this.strip(serverPath)
    if (!path.startsWith(asked)) throw new JuteError(`the node ${path} was created where ${asked} was asked for`)
    return path
  }
}

/** The server's own root. */
export const ROOT = new Chroot('')
