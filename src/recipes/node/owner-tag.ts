// Marks a node as ours by its data, if its name cannot: the data begins with a uuid drawn for the attempt that created
// it.
import type { Data } from '../../client/index.ts'

const TAG = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\n|$)/
const UUID_LENGTH = 36

/** The node's data: the uuid, then a line feed and the user's own data, if any. */
export function tag(uuid: string, data: Data): Data {
  if (data === null || data.length === 0) return uuid
  return typeof data === 'string' ? `${uuid}\n${data}` : Buffer.concat([Buffer.from(`${uuid}\n`), data])
}

export const isTagged = (data: Buffer | null, uuid: string): boolean =>
  data?.toString('latin1', 0, UUID_LENGTH) === uuid

/** The user's own data. */
export function untag(data: Buffer | null): Buffer | null {
  const match = data === null ? null : TAG.exec(data.toString('latin1', 0, UUID_LENGTH + 1))
  return match === null || data === null ? data : data.subarray(match[0].length)
}
