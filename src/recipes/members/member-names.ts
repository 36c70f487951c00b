// The names and the data of members, as other libraries write them.
import type { Data } from '../../client/index.ts'

export type MembershipDialect = 'curator' | 'party' | 'shallowParty'

interface MemberNaming {
  /** @param uuid a UUID without hyphens, new for each member */
  nameOf(id: string, uuid: string): string
  /** Returns the id of the member whose node has this name and data, or undefined if the node is no member. */
  idOf(name: string, data: Buffer | null): string | undefined
  /** Returns why the member's own data is not possible. */
  dataProblem?: string
  /** Returns the node's data. */
  dataOf(id: string, data: Data): Data
}

export const namings: Readonly<Record<MembershipDialect, MemberNaming>> = {
  curator: { nameOf: id => id, idOf: name => name, dataOf: (_, data) => data },
  party: {
    nameOf: (_, uuid) => `${uuid}__party__`,
    idOf: (name, data) => (name.includes('__party__') ? (data?.toString() ?? '') : undefined),
    dataOf: id => id,
    dataProblem: "a member of kazoo's Party has no data but its id",
  },
  shallowParty: {
    nameOf: (id, uuid) => `${uuid}-${id}`,
    idOf: name => name.slice(name.indexOf('-') + 1),
    dataOf: id => id,
    dataProblem: "a member of kazoo's ShallowParty has no data but its id",
  },
}
