// Builds the request of create() for each mode, and its fallback for servers before 3.5.
import {
  createModes,
  isSequential,
  ZooKeeperError,
  type CreateRequest,
  type CreateResponse,
  type Stat,
  type TypeOf,
} from '../protocol/index.ts'
import * as operations from '../protocol/operations.ts'
import type { AnyCall, Call } from '../session/requests/request.ts'
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

/**
 * Returns the call that creates a node.
 * @param exists reads the Stat of the created node, for servers before 3.5
 */
export function createCall(
  root: Chroot,
  path: string,
  data: Data,
  { mode = 'persistent', acl = openACL, ttl, signal }: CreateOptions,
  exists: (path: string) => Promise<Stat | null>,
): AnyCallOf<Created> {
  const body = { path: root.add(path, isSequential(createModes[mode])), data, acl, flags: createModes[mode] }
  const result = (created: Created) => ({ path: root.created(path, created.path), stat: created.stat })
  if (ttl !== undefined)
    return { op: operations.createTTL, body: { ...body, ttl }, path, signal, result } as unknown as AnyCallOf<Created>
  const isContainer = mode === 'container'
  const call: Call<TypeOf<typeof CreateRequest>, Created, Created> = {
    op: isContainer ? operations.createContainer : operations.create2,
    body,
    path,
    signal,
    result,
    fallback: sent => ({
      ...createCall34(root, path, isContainer ? { ...sent, flags: createModes.persistent } : sent, exists),
      signal,
    }),
  }
  return call as unknown as AnyCallOf<Created>
}

type AnyCallOf<V> = Call<unknown, unknown, V>

/**
 * Returns the call for servers before 3.5. Their reply to create has no Stat, and they know neither containers nor
 * TTLs.
 */
function createCall34(
  root: Chroot,
  path: string,
  body: TypeOf<typeof CreateRequest>,
  exists: (path: string) => Promise<Stat | null>,
): AnyCall {
  const call: Call<TypeOf<typeof CreateRequest>, TypeOf<typeof CreateResponse>, Created> = {
    op: operations.create,
    body,
    path,
    result: async response => {
      const created = root.created(path, response.path)
      const failed = (detail: string, cause?: unknown) =>
        new ZooKeeperError('NONODE', { op: 'create', path, fate: 'unknown', detail, cause })
      const stat = await exists(created).catch((cause: unknown) => {
        throw failed('the node was created, but its Stat could not be read', cause)
      })
      if (stat !== null) return { path: created, stat }
      throw failed('the node was created, and has been deleted since')
    },
  }
  return call as unknown as AnyCall
}
