// The requests of create(), and their fallback for servers before 3.5.
import {
  createModes,
  isSequential,
  ZooKeeperError,
  type ACL,
  type CreateRequest,
  type Encodable,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { substitute, type CallDetails } from '../session/requests/request.ts'
import type { Chroot } from './chroot.ts'
import type { CreateOptions, Data } from './validation.ts'

/**
 * The result of create().
 * @example
 * const { path, stat }: Created = await zk.create('/job-', '', { mode: 'persistentSequential' })
 * path // => '/job-0000000000'
 * stat.version // => 0
 */
export interface Created {
  /** The path of the node, below the client's root. For a sequential node it ends with the ten digits. */
  path: string
  /** The metadata of the new node. */
  stat: Stat
}

/** What a client sends to create nodes. One object for all its creates, so that a create needs no functions of its own. */
export class Creation {
  readonly #root: Chroot
  /** The ACL of nodes that are created without one. */
  readonly #acl: readonly ACL[]
  /** Reads the Stat of a created node, for servers before 3.5. */
  readonly #exists: (path: string) => Promise<Stat | null>

  constructor(root: Chroot, acl: readonly ACL[], exists: (path: string) => Promise<Stat | null>) {
    this.#root = root
    this.#acl = acl
    this.#exists = exists
  }

  body(path: string, data: Data, { mode = 'persistent', acl = this.#acl }: CreateOptions): CreateBody {
    const flags = createModes[mode]
    return { path: this.#root.add(path, isSequential(flags)), data, acl, flags }
  }

  readonly result = (created: Created, path: string): Created => ({
    path: this.#root.created(path, created.path),
    stat: created.stat,
  })

  /** Servers before 3.5 know neither containers nor TTLs. Their reply to create has no Stat. */
  readonly details: CallDetails<TypeOf<typeof CreateRequest>, Created> = {
    fallback: sent => {
      const { container, persistent } = createModes
      const body = sent.flags === container ? { ...sent, flags: persistent } : sent
      return substitute(operations.create, body, ({ path }, requested) => this.#withStat(path, requested))
    },
  }

  async #withStat(serverPath: string, requested: string): Promise<Created> {
    const path = this.#root.created(requested, serverPath)
    const failed = (detail: string, cause?: unknown) =>
      new ZooKeeperError('NONODE', { op: 'create', path: requested, fate: 'unknown', detail, cause })
    const stat = await this.#exists(path).catch((cause: unknown) => {
      throw failed('the node was created, but its Stat could not be read', cause)
    })
    if (stat !== null) return { path, stat }
    throw failed('the node was created, and has been deleted since')
  }
}

type CreateBody = Encodable<TypeOf<typeof CreateRequest>>
