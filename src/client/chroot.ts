// A client's root in the server's tree. It is prepended to each path that is sent, and stripped from each path that is
// received.
import { JuteError } from '../protocol/index.ts'

export class Chroot {
  /** The path of this root at the server, or '' for the server's own root. */
  readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  /**
   * Returns the path at the server.
   * @param isSequential true if the server appends a number to the path. Then the slash of the path `/` is kept.
   */
  add(path: string, isSequential = false): string {
    if (this.prefix === '') return path
    return path === '/' && !isSequential ? this.prefix : this.prefix + path
  }

  /** True if the path at the server is this root or below it. */
  has(serverPath: string): boolean {
    return serverPath === this.prefix || serverPath.startsWith(this.prefix + '/')
  }

  /**
   * Returns the path below this root.
   * @throws JuteError if the path is not below this root, so that the caller never gets a wrong path
   */
  strip(serverPath: string): string {
    if (this.prefix === '') return serverPath
    if (serverPath === this.prefix) return '/'
    if (this.has(serverPath)) return serverPath.slice(this.prefix.length)
    throw new JuteError(`the path ${serverPath} is not below ${this.prefix}`)
  }

  /**
   * Returns the path of a created node, below this root. It is `requested`, or starts with it if the node is
   * sequential.
   * @throws JuteError if the server created a node at another path
   */
  created(requested: string, serverPath: string): string {
    const path = this.strip(serverPath)
    // Not startsWith(): V8 inlines it as a loop over the characters, which is slow if the caller has just concatenated
    // `requested`.
    if (path.indexOf(requested) !== 0) throw new JuteError(`the node ${path} was created for the path ${requested}`)
    return path
  }
}

/** The server's own root. */
export const ROOT = new Chroot('')
