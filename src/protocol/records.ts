// The records that a client and a server exchange, with the names and the order of zookeeper.jute: data, sessions,
// watches. node-records.ts and multi.ts have the others. Records that the client of this package does not use are
// marked as pure, so that bundlers drop them.
import type { FieldReader, TypeOf } from './codec.ts'
import { makeJsonSafe } from './json.ts'
import { record } from './jute.ts'

// org.apache.zookeeper.data

/** @example records.Id.encode({ scheme: 'ip', id: '::1' }).toString('hex') // => '000000026970000000033a3a31' */
export const Id = record('Id', f => ({
  /**
   * How the server recognizes the client: `world`, `auth`, `digest`, `ip`, `sasl`, `x509`, or a scheme of a plugin
   * (AuthenticationProvider).
   */
  scheme: f.stringOrEmpty(),
  /**
   * Who that is, in the form of the scheme: `anyone` for `world`; empty for `auth`, which stands for all identities of
   * the session that creates the node; `user:hash` for `digest`; an address or `address/bits` for `ip`.
   */
  id: f.stringOrEmpty(),
}))

/**
 * An identity: a scheme, such as `digest`, and an id in it.
 * @example
 * const id: Id = { scheme: 'digest', id: digest('ann', 'secret') }
 * await zk.create('/mine', '', { acl: [{ perms: perms.all, id }] })
 * await zk.getData('/mine') // throws NOAUTH
 */
export type Id = TypeOf<typeof Id>

/** @example records.ACL.encode({ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }).length // => 23 */
export const ACL = record('ACL', f => ({
  /** The permissions, as a sum of bits of {@link perms}: 1 read, 2 write, 4 create, 8 delete, 16 admin. */
  perms: f.int(),
  /** The identity that has them. */
  id: f.record(Id),
}))

/**
 * An entry of an access control list: an identity, and the permissions that it has.
 * @example
 * const entry: ACL = { perms: perms.read | perms.write, id: { scheme: 'world', id: 'anyone' } }
 * await zk.create('/app', '', { acl: [entry] })
 * await zk.create('/app/a') // throws NOAUTH
 */
export type ACL = TypeOf<typeof ACL>

/**
 * A class, because V8 creates its objects fast, with the methods that JSON needs. Its fields are only declared, because
 * V8 would first set each of them to undefined.
 */
class StatFields {
  static {
    makeJsonSafe(this)
  }

  /** The transaction that created the node. It is greater for each later node, so it can serve as a fencing token. */
  declare czxid: bigint
  /** The transaction that last changed the data. */
  declare mzxid: bigint
  /** When the node was created, in milliseconds since 1970, by the clock of the server. */
  declare ctime: number
  /** When the data was last changed, in milliseconds since 1970, by the clock of the server. */
  declare mtime: number
  /** The number of changes to the data. */
  declare version: number
  /** The number of changes to the list of children: each create and each delete of a child counts as one. */
  declare cversion: number
  /** The number of changes to the access control list. */
  declare aversion: number
  /** The session that owns an ephemeral node; 0 for nodes that are not ephemeral. */
  declare ephemeralOwner: bigint
  /** The length of the data in bytes; 0 if there is none. */
  declare dataLength: number
  /** The number of children now. */
  declare numChildren: number
  /** The transaction that last changed the list of children. */
  declare pzxid: bigint

  constructor(f: FieldReader) {
    this.czxid = f.long()
    this.mzxid = f.long()
    this.ctime = f.time()
    this.mtime = f.time()
    this.version = f.int()
    this.cversion = f.int()
    this.aversion = f.int()
    this.ephemeralOwner = f.long()
    this.dataLength = f.int()
    this.numChildren = f.int()
    this.pzxid = f.long()
  }
}

/**
 * @example
 * const { layout } = records.Stat
 * layout.is === 'fields' && layout.fields.length // => 11
 */
export const Stat = record('Stat', (f): { [Name in keyof StatFields]: StatFields[Name] } => new StatFields(f))

/**
 * The metadata of a node.
 * @example
 * const stat: Stat = await zk.setData('/', 'v1')
 * stat.version // => 1
 * stat.dataLength // => 2
 */
export type Stat = TypeOf<typeof Stat>

/**
 * @example
 * records.ClientInfo.encode({ authScheme: 'ip', user: '::1' }).toString('hex') // => '000000026970000000033a3a31'
 */
export const ClientInfo = record('ClientInfo', f => ({
  /** The scheme of the identity, for example `digest` or `ip`. */
  authScheme: f.string(),
  /** The user, without a hash or password: the part before the colon for `digest`, the address for `ip`. */
  user: f.string(),
}))

/**
 * An identity of a session, which {@link Client.whoAmI} returns.
 * @example
 * await zk.addAuth('digest', 'ann:secret')
 * const identities: ClientInfo[] = await zk.whoAmI()
 * identities.some(({ user }) => user === 'ann') // => true
 */
export type ClientInfo = TypeOf<typeof ClientInfo>

// org.apache.zookeeper.proto: the session

/**
 * The client's first frame. Clients before 3.4 omit `readOnly` and send a {@link LegacyConnectRequest}.
 * @example
 * const record = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 10_000, sessionId: 0n, passwd: '', readOnly: false }
 * records.ConnectRequest.encode(record).length // => 29
 */
export const ConnectRequest = record('ConnectRequest', f => ({
  protocolVersion: f.int(),
  lastZxidSeen: f.long(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
  readOnly: f.bool(),
}))

/**
 * @example
 * const record = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 10_000, sessionId: 0n, passwd: '' }
 * records.LegacyConnectRequest.encode(record).length // => 28
 */
export const LegacyConnectRequest = /* @__PURE__ */ record('ConnectRequest', f => ({
  protocolVersion: f.int(),
  lastZxidSeen: f.long(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
}))

/**
 * The server's first frame. Servers before 3.4 omit `readOnly` and send a {@link LegacyConnectResponse}.
 * @example
 * const record = { protocolVersion: 0, timeOut: 10_000, sessionId: 1n, passwd: 'secret', readOnly: false }
 * records.ConnectResponse.encode(record).length // => 27
 */
export const ConnectResponse = record('ConnectResponse', f => ({
  protocolVersion: f.int(),
  /** The negotiated session timeout in milliseconds; 0 if the session has expired. */
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
  readOnly: f.bool(),
}))

/**
 * @example
 * const record = { protocolVersion: 0, timeOut: 10_000, sessionId: 1n, passwd: 'secret' }
 * records.LegacyConnectResponse.encode(record).length // => 26
 */
export const LegacyConnectResponse = record('ConnectResponse', f => ({
  protocolVersion: f.int(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
}))

/**
 * @example
 * records.RequestHeader.encode({ xid: 1, type: constants.opcodes.exists }).toString('hex') // => '0000000100000003'
 */
export const RequestHeader = /* @__PURE__ */ record('RequestHeader', f => ({ xid: f.int(), type: f.int() }))

/**
 * @example
 * const record = { xid: 1, zxid: 2n, err: errnos.NONODE }
 * records.ReplyHeader.encode(record).toString('hex') // => '000000010000000000000002ffffff9b'
 */
export const ReplyHeader = /* @__PURE__ */ record('ReplyHeader', f => ({ xid: f.int(), zxid: f.long(), err: f.int() }))

/**
 * The body without fields, for example of pings and of replies to delete.
 * @example records.EmptyRecord.encode({}).toString('hex') // => ''
 */
export const EmptyRecord = record('EmptyRecord', () => ({}))

/**
 * @example
 * const record = { type: 0, scheme: 'digest', auth: 'ann:secret' }
 * records.AuthPacket.encode(record).toString('hex') // => '00000000000000066469676573740000000a616e6e3a736563726574'
 */
export const AuthPacket = record('AuthPacket', f => ({ type: f.int(), scheme: f.stringOrNull(), auth: f.buffer() }))
/** @example records.GetSASLRequest.encode({ token: 'abc' }).toString('hex') // => '00000003616263' */
export const GetSASLRequest = record('GetSASLRequest', f => ({ token: f.buffer() }))
/** @example records.SetSASLRequest.encode({ token: 'abc' }).toString('hex') // => '00000003616263' */
export const SetSASLRequest = /* @__PURE__ */ record('SetSASLRequest', f => ({ token: f.buffer() }))
/** @example records.SetSASLResponse.encode({ token: null }).toString('hex') // => 'ffffffff' */
export const SetSASLResponse = record('SetSASLResponse', f => ({ token: f.buffer() }))

/**
 * @example
 * const record = { clientInfo: [{ authScheme: 'ip', user: '::1' }] }
 * records.WhoAmIResponse.encode(record).toString('hex') // => '00000001000000026970000000033a3a31'
 */
export const WhoAmIResponse = record('WhoAmIResponse', f => ({ clientInfo: f.vector(ClientInfo) }))

// org.apache.zookeeper.proto: watches

/**
 * @example
 * const record = { type: constants.eventTypes.NodeCreated, state: 3, path: '/a' }
 * records.WatcherEvent.encode(record).toString('hex') // => '0000000100000003000000022f61'
 */
export const WatcherEvent = record('WatcherEvent', f => ({
  type: f.int(),
  state: f.int(),
  path: f.stringOrNull(),
}))

/**
 * @example
 * const record = { relativeZxid: 1n, dataWatches: ['/a'], existWatches: [], childWatches: [] }
 * records.SetWatches.encode(record).toString('hex') // => '000000000000000100000001000000022f610000000000000000'
 */
export const SetWatches = record('SetWatches', f => ({
  /** The last transaction that the client has seen. Watches of nodes that changed after it fire at once. */
  relativeZxid: f.long(),
  dataWatches: f.strings(),
  existWatches: f.strings(),
  childWatches: f.strings(),
}))

/**
 * @example
 * const { layout } = records.SetWatches2
 * layout.is === 'fields' && layout.fields[5]?.name // => 'persistentRecursiveWatches'
 */
export const SetWatches2 = record('SetWatches2', f => ({
  relativeZxid: f.long(),
  dataWatches: f.strings(),
  existWatches: f.strings(),
  childWatches: f.strings(),
  persistentWatches: f.strings(),
  persistentRecursiveWatches: f.strings(),
}))

/**
 * @example
 * const record = { path: '/a', mode: constants.addWatchModes.persistentRecursive }
 * records.AddWatchRequest.encode(record).toString('hex') // => '000000022f6100000001'
 */
export const AddWatchRequest = record('AddWatchRequest', f => ({ path: f.string(), mode: f.int() }))

/**
 * @example
 * const record = { path: '/a', type: constants.watcherTypes.data }
 * records.CheckWatchesRequest.encode(record).toString('hex') // => '000000022f6100000002'
 */
export const CheckWatchesRequest = record('CheckWatchesRequest', f => ({ path: f.string(), type: f.int() }))

/**
 * @example
 * const record = { path: '/a', type: constants.watcherTypes.data }
 * records.RemoveWatchesRequest.encode(record).toString('hex') // => '000000022f6100000002'
 */
export const RemoveWatchesRequest = record('RemoveWatchesRequest', f => ({ path: f.string(), type: f.int() }))

// org.apache.zookeeper.proto: the framing of multi

/**
 * @example
 * const record = { type: constants.opcodes.check, done: false, err: -1 }
 * records.MultiHeader.encode(record).toString('hex') // => '0000000d00ffffffff'
 */
export const MultiHeader = record('MultiHeader', f => ({ type: f.int(), done: f.bool(), err: f.int() }))
