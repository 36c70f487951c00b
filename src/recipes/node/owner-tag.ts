// Marks a node as ours in its data, if the name has no uuid. The data then begins with a uuid, drawn for the attempt
// that created the node.
import type { Data } from '../../client/index.ts'

const TAG = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\n|$)/
const UUID_LENGTH = 36

/** Returns the node's data: the uuid, then a line feed and the user's own data, if any. */
export function tag(uuid: string, data: Data): Data {
  if (data === null || data.length === 0) return uuid
  return typeof data === 'string' ? `${uuid}\n${data}` : Buffer.concat([Buffer.from(`${uuid}\n`), data])
}

export const isTagged = (data: Buffer | null, uuid: string): boolean =>
  data?.toString('latin1', 0, UUID_LENGTH) === uuid

/** Returns the user's own data. Data without a uuid is returned as it is. */
export function untag(data: Buffer | null): Buffer | null {
  const match = data === null ? null : TAG.exec(data.toString('latin1', 0, UUID_LENGTH + 1))
  return match === null || data === null ? data : data.subarray(match[0].length)
}
