// Builds the request of create() for each mode, and its fallback for servers before 3.5.
import {
  createModes,
  isSequential,
  ZooKeeperError,
  type CreateRequest,
  type Encodable,
  type Operation,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import { substitute, type CallDetails, type Substitute } from '../session/requests/request.ts'
import { openACL } from './acl.ts'
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

type Exists = (path: string) => Promise<Stat | null>

/** What is sent to create a node. */
interface CreateCall {
  op: Operation<TypeOf<typeof CreateRequest>, Created>
  body: Encodable<TypeOf<typeof CreateRequest>>
  result: (created: Created) => Created
  details?: CallDetails<TypeOf<typeof CreateRequest>, Created>
}

/**
 * Returns what to send to create a node.
 * @param exists reads the Stat of the created node, for servers before 3.5
 */
export function createCall(
  root: Chroot,
  path: string,
  data: Data,
  { mode = 'persistent', acl = openACL, ttl }: CreateOptions,
  exists: Exists,
): CreateCall {
  const flags = createModes[mode]
  const body = { path: root.add(path, isSequential(flags)), data, acl, flags }
  const result = (created: Created) => ({ path: root.created(path, created.path), stat: created.stat })
  if (ttl !== undefined) return { op: operations.createTTL, body: { ...body, ttl } as typeof body, result }
  const isContainer = mode === 'container'
  const fallback = (sent: TypeOf<typeof CreateRequest>) =>
    create34(root, path, isContainer ? { ...sent, flags: createModes.persistent } : sent, exists)
  return { op: isContainer ? operations.createContainer : operations.create2, body, result, details: { fallback } }
}

/**
 * Returns what to send to servers before 3.5. Their reply to create has no Stat, and they know neither containers nor
 * TTLs.
 */
function create34(root: Chroot, path: string, body: TypeOf<typeof CreateRequest>, exists: Exists): Substitute {
  return substitute(operations.create, body, async (response): Promise<Created> => {
    const created = root.created(path, response.path)
    const failed = (detail: string, cause?: unknown) =>
      new ZooKeeperError('NONODE', { op: 'create', path, fate: 'unknown', detail, cause })
    const stat = await exists(created).catch((cause: unknown) => {
      throw failed('the node was created, but its Stat could not be read', cause)
    })
    if (stat !== null) return { path: created, stat }
    throw failed('the node was created, and has been deleted since')
  })
}
