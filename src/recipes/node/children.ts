// Lists the children of a node, and reads them.
import { isCode, join } from '../../protocol/index.ts'
import type { Client, ReadOptions } from '../../client/index.ts'
import { unlessRefused } from '../../client/recipe-support.ts'

export interface Children {
  readonly children: readonly string[]
  /**
   * The transaction that created the directory. An older node was deleted together with an earlier directory of the
   * same path. Each directory starts its numbers again, so another node may have the same name now.
   */
  readonly directoryCzxid: bigint
}

/** Lists a directory. Returns no children if it does not exist. */
export async function listChildren(client: Client, directory: string, options: ReadOptions = {}): Promise<Children> {
  try {
    const { children, stat } = await client.getChildren(directory, options)
    return { children, directoryCzxid: stat.czxid }
  } catch (error) {
    if (isCode(error, 'NONODE')) return { children: [], directoryCzxid: 0n }
    throw error
  }
}

/** The largest number of reads in flight for one list. More would delay the other requests of the session. */
const READS_IN_FLIGHT = 100

/** Reads the nodes of these names, and leaves out those that do not exist any more. */
export async function readNodes(
  client: Client,
  directory: string,
  names: readonly string[],
  options: ReadOptions = {},
) {
  const read = async (name: string) => {
    const path = join(directory, name)
    const node = await unlessRefused(client.getData(path, options), 'NONODE')
    return node === undefined ? [] : [{ name, path, ...node }]
  }
  const nodes = []
  for (let i = 0; i < names.length; i += READS_IN_FLIGHT)
    nodes.push(...(await Promise.all(names.slice(i, i + READS_IN_FLIGHT).map(read))).flat())
  return nodes
}
