// Marks a node as ours in its data, if the name has no uuid. The data then begins with a uuid, drawn for the attempt
// that created the node.

const TAG = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\n|$)/

/** Returns the node's data: the uuid, then a line feed and the contender's id, if it has one. */
export const tag = (uuid: string, id: string): string => (id === '' ? uuid : `${uuid}\n${id}`)

/** Returns true if the data begins with the mark. */
export const isMarked = (data: Buffer | null, mark: string): boolean =>
  data?.toString('latin1', 0, mark.length) === mark

/** Returns the contender's id. Data without a uuid is all of it. */
export const idIn = (data: Buffer | null): string => (data?.toString() ?? '').replace(TAG, '')
