// The options of a Membership and their checks, its members, and their changes.
import { aBoolean, anACL, newDataProblem } from '../../client/recipe-support.ts'
import type { Data } from '../../client/index.ts'
import type { ACL } from '../../protocol/index.ts'
import { mustBe, type Checks } from '../../options/checks.ts'
import { namings, type MembershipDialect } from './member-names.ts'

/**
 * One member of a group, as of the moment when it was read.
 * @example
 * await using group = new Membership('/workers', { id: 'host-1' })
 * await group.start(zk)
 * const [member]: readonly GroupMember[] = group.members
 * member?.session // => zk.sessionId
 */
export interface GroupMember {
  /**
   * The name of its node, which is unique in the group. A member of kazoo's `party` has the data of its node instead,
   * because a random name is that of the node; several may have the same.
   */
  readonly id: string
  /** The data that it joined with, or has set since. */
  readonly data: Buffer | null
  /** The id of its session. */
  readonly session: bigint
  /** The path of its node. */
  readonly path: string
}

/**
 * The difference between two states of a group. States in between may have been skipped.
 * @example
 * const onChange = ({ joined }: MembershipChange) => {
 *   joined.map(({ id }) => id) // => ['host-1']
 * }
 * await using group = new Membership('/workers', { id: 'host-1' }).on('change', onChange)
 * await group.start(zk)
 */
export interface MembershipChange {
  /** All members after the change. */
  readonly members: readonly GroupMember[]
  /** The members that are new. */
  readonly joined: readonly GroupMember[]
  /** The members that left, with the data that they had. A member that left and joined again is in both lists. */
  readonly left: readonly GroupMember[]
  /** The members with new data. */
  readonly updated: readonly GroupMember[]
}

/**
 * Options of a Membership.
 * @example
 * const options: MembershipOptions = { id: 'host-1', data: 'eu' }
 * await using group = new Membership('/workers', options)
 * await group.start(zk, { timeout: 10_000 })
 * group.members.length // => 1
 */
export interface MembershipOptions {
  /**
   * The id of this member: a name without '/'. With the dialect `curator`, another member with the same id is replaced:
   * see `takeOver` of PersistentEphemeral. Default: a random UUID.
   */
  id?: string | undefined
  /** The data of this member. Default: an empty string. The dialects of kazoo have no data. */
  data?: Data | undefined
  /**
   * Decides the names of the nodes. All members of a group must choose the same. `curator`: as GroupMember of Curator; the
   * name is the id. `party`: as kazoo's Party; the name is a UUID, and the data is the id. `shallowParty`: as kazoo's
   * ShallowParty; the name is a UUID and the id. Default `curator`.
   */
  dialect?: MembershipDialect | undefined
  /** ACL of the member's node and of a missing group. Default: the option `acl` of `connect`. */
  acl?: readonly ACL[] | undefined
  /** Follows the group without joining it. Default false. */
  observer?: boolean | undefined
}

export const membershipChecks: Checks<MembershipOptions> = {
  id: mustBe('a string', value => typeof value === 'string'),
  data: mustBe('a Uint8Array, a string or null', value => newDataProblem(value) === undefined),
  dialect: mustBe(`one of ${Object.keys(namings).join(', ')}`, (name: string) => Object.hasOwn(namings, name)),
  acl: anACL,
  observer: aBoolean,
}
