// Requests to release a lock, written into the holder's node as Curator does.
import type { Client } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'
import { checkArguments } from '../call/arguments.ts'
import { cancellable, type WaitOptions } from '../call/cancellable.ts'

const REVOKE = '__REVOKE__'

/**
 * Asks the holder or a waiter to release the lock, by writing into its node. The holder's `held.revoked` aborts if it
 * watches its own node; Curator's revocable locks call their listener. The holder decides whether it releases the lock.
 * Waits through lost connections. A call that is cancelled may write the node nevertheless.
 * @param path the path of the contender's node: `held.path`, or `path` of one of `contenders()`
 * @returns true if the node was written, false if it does not exist
 * @throws RecipeError TIMEOUT; the signal's reason; ZooKeeperError, for example BADARGUMENTS, NOAUTH, SESSIONEXPIRED
 * @example
 * await using held = await new Mutex(zk, '/locks/orders').acquire({ watchOwnNode: true })
 * await revoke(other, held.path) // => true
 * await revoke(other, '/locks/orders/missing') // => false
 */
export async function revoke(client: Client, path: string, options: WaitOptions = {}): Promise<boolean> {
  checkArguments('revoke', client, path)
  const write = async (signal: AbortSignal) =>
    (await unlessRefused(client.setData(path, REVOKE, { signal }), 'NONODE')) !== undefined
  const call = { op: 'revoke', path, options }
  return cancellable(client, call, signal => client.retry(() => write(signal), { signal }))
}

/** Returns true if a client has asked for the lock. Returns false if not, and if the session may not read the node. */
export async function isRevocation(client: Client, path: string): Promise<boolean> {
  const node = await unlessRefused(client.getData(path), 'NONODE', 'NOAUTH')
  return node?.data?.toString() === REVOKE
}
