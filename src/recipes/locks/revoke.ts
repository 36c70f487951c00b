// Requests to release a lock, written into the holder's node as Curator does.
import { isCode } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'
import { checkArguments } from '../node/arguments.ts'

const REVOKE = '__REVOKE__'

/**
 * Asks the holder, or a waiter, to release the lock. `held.revoked` aborts there if it watches its own node, and
 * Curator's revocable locks call their listener. The holder decides whether it releases the lock.
 * @param path the contender's node, as in `held.path` or `contenders()`
 * @returns false if the node does not exist
 * @throws ZooKeeperError BADARGUMENTS, NOAUTH
 */
export async function revoke(client: Client, path: string): Promise<boolean> {
  checkArguments('revoke', client, path)
  try {
    await client.retry(() => client.setData(path, REVOKE))
    return true
  } catch (error) {
    if (isCode(error, 'NONODE')) return false
    throw error
  }
}

/**
 * Returns true if a client has asked for the lock. Without READ permission on the node this cannot be known, and is
 * false.
 */
export async function isRevocation(client: Client, path: string): Promise<boolean> {
  try {
    const { data } = await client.getData(path)
    return data?.toString() === REVOKE
  } catch (error) {
    if (isCode(error, 'NONODE', 'NOAUTH')) return false
    throw error
  }
}
