// A client's root in the server's tree: added to each path that is sent, stripped from each path that is received.
import { JuteError } from '../protocol/index.ts'

export class Chroot {
  /** '' for the server's own root. */
  readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  /** @param isSequential the server appends a number to the path, so the slash of the root itself stays */
  add(path: string, isSequential = false): string {
    if (this.prefix === '') return path
    return path === '/' && !isSequential ? this.prefix : this.prefix + path
  }

  /** True if a path of the server is below this root. */
  has(serverPath: string): boolean {
    return serverPath === this.prefix || serverPath.startsWith(this.prefix + '/')
  }

  /** @throws JuteError if the path is not below this root: a wrong path is never shown */
  strip(serverPath: string): string {
    if (this.prefix === '') return serverPath
    if (serverPath === this.prefix) return '/'
    if (this.has(serverPath)) return serverPath.slice(this.prefix.length)
    throw new JuteError(`the path ${serverPath} is not below ${this.prefix}`)
  }

  /** The path of a node that was created for the path `requested`; the path of a sequential node is longer. */
  created(requested: string, serverPath: string): string {
    const path = this.strip(serverPath)
    if (!path.startsWith(requested)) throw new JuteError(`the node ${path} was created for the path ${requested}`)
    return path
  }
}

/** The server's own root. */
export const ROOT = new Chroot('')
