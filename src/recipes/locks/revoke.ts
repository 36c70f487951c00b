// Asking a holder for the lock, in Curator's way: by what is written into the holder's node.
import { isCode } from '../../protocol/index.ts'
import type { Client } from '../../client/index.ts'

const REVOKE = '__REVOKE__'

/**
 * Asks the holder, or a waiter, to give the lock up: `held.revoked` aborts there if it watches its own node, and Curator's revocable locks call
 * their listener. Nothing forces it.
 * @param path of the node, as `held.path` or `contenders()` give it
 * @returns false where that node is gone
 * @throws ZooKeeperError NOAUTH
 */
export async function revoke(client: Client, path: string): Promise<boolean> {
  try {
    await client.retry(() => client.setData(path, REVOKE))
    return true
  } catch (error) {
    if (isCode(error, 'NONODE')) return false
    throw error
  }
}

/** Has the node's owner been asked? Who may not read the node cannot know. */
export async function isRevocation(client: Client, path: string): Promise<boolean> {
  try {
    const { data } = await client.getData(path)
    return data?.toString() === REVOKE
  } catch (error) {
    if (isCode(error, 'NONODE', 'NOAUTH')) return false
    throw error
  }
}
