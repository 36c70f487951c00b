// The options of a Membership and their checks, its members, and their changes.
import { aBoolean, anACL } from '../../client/recipe-support.ts'
import type { ACL } from '../../protocol/index.ts'
import { mustBe, type Checks } from '../../options/checks.ts'
import { aCodecOrSchema, type DataCodec, type NotInferred, type StandardSchema, type Written } from '../call/codec.ts'
import { namings, type MembershipDialect } from './member-names.ts'

/**
 * One member of a group, as of the moment when it was read.
 * @example
 * await using group = new Membership('/workers', { id: 'host-1' })
 * await group.start(zk)
 * const [member]: readonly GroupMember[] = group.members
 * member?.session // => zk.sessionId
 */
export interface GroupMember<T = Buffer | null> {
  /**
   * The name of its node, which is unique in the group. A member of kazoo's `party` has the data of its node instead,
   * because a random name is that of the node; several may have the same.
   */
  readonly id: string
  /**
   * The data that it joined with, or has set since. With a codec: the value that the data stands for, or null if the codec
   * refuses the data.
   */
  readonly data: T | null
  /** Why the codec refuses the data: a RecipeError UNSUPPORTED. Undefined if it does not. */
  readonly error?: Error
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
export interface MembershipChange<T = Buffer | null> {
  /** All members after the change. */
  readonly members: readonly GroupMember<T>[]
  /** The members that are new. */
  readonly joined: readonly GroupMember<T>[]
  /** The members that left, with the data that they had. A member that left and joined again is in both lists. */
  readonly left: readonly GroupMember<T>[]
  /** The members with new data. */
  readonly updated: readonly GroupMember<T>[]
}

/**
 * Options of a Membership.
 * @example
 * const options: MembershipOptions = { id: 'host-1', data: 'eu' }
 * await using group = new Membership('/workers', options)
 * await group.start(zk, { timeout: 10_000 })
 * group.members.length // => 1
 */
export interface MembershipOptions<T = Buffer | null, In = Written<T>> {
  /**
   * The id of this member: a name without '/'. With the dialect `curator`, another member with the same id is replaced:
   * see `takeOver` of PersistentEphemeral. Default: a random UUID.
   */
  id?: string | undefined
  /**
   * Converts the data of all members: a {@link DataCodec}, or a validator, which writes JSON. Then members have values of its
   * type instead of bytes. The dialects of kazoo have no data, and so no codec. Default: the values are the data.
   */
  codec?: DataCodec<T> | StandardSchema<In, T> | undefined
  /** The data of this member. Default: none, which a validator refuses. The dialects of kazoo have no data. */
  data?: NotInferred<In> | undefined
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
  codec: aCodecOrSchema,
  // The conversion checks it.
  data: () => undefined,
  dialect: mustBe(`one of ${Object.keys(namings).join(', ')}`, (name: string) => Object.hasOwn(namings, name)),
  acl: anACL,
  observer: aBoolean,
}
