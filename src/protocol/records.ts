// All records that a client and a server exchange, with the names and the order of zookeeper.jute. Records that the
// client of this package does not use are marked as pure, so that bundlers drop them.
import type { TypeOf } from './codec.ts'
import { jsonSafe } from './json.ts'
import { record } from './jute.ts'

// org.apache.zookeeper.data

export const Id = record('Id', f => ({ scheme: f.stringOrEmpty(), id: f.stringOrEmpty() }))
export type Id = TypeOf<typeof Id>

export const ACL = record('ACL', f => ({ perms: f.int(), id: f.record(Id) }))
export type ACL = TypeOf<typeof ACL>

export const Stat = record('Stat', f =>
  jsonSafe({
    /** The transaction that created the node. It is greater for each later node, so it can serve as a fencing token. */
    czxid: f.long(),
    /** The transaction that last changed the data. */
    mzxid: f.long(),
    /** When the node was created, in milliseconds since 1970, by the clock of the server. */
    ctime: f.time(),
    /** When the data was last changed, in milliseconds since 1970, by the clock of the server. */
    mtime: f.time(),
    /** The number of changes to the data. */
    version: f.int(),
    /** The number of changes to the list of children. */
    cversion: f.int(),
    /** The number of changes to the access control list. */
    aversion: f.int(),
    /** The session that owns an ephemeral node; 0 for nodes that are not ephemeral. */
    ephemeralOwner: f.long(),
    /** The length of the data in bytes; 0 if there is none. */
    dataLength: f.int(),
    /** The number of children now. */
    numChildren: f.int(),
    /** The transaction that last changed the list of children. */
    pzxid: f.long(),
  }),
)
export type Stat = TypeOf<typeof Stat>

export const ClientInfo = record('ClientInfo', f => ({ authScheme: f.string(), user: f.string() }))
export type ClientInfo = TypeOf<typeof ClientInfo>

// org.apache.zookeeper.proto: the session

/** The client's first frame. Clients before 3.4 omit `readOnly` and send a {@link LegacyConnectRequest}. */
export const ConnectRequest = record('ConnectRequest', f => ({
  protocolVersion: f.int(),
  lastZxidSeen: f.long(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
  readOnly: f.bool(),
}))
export const LegacyConnectRequest = /* @__PURE__ */ record('ConnectRequest', f => ({
  protocolVersion: f.int(),
  lastZxidSeen: f.long(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
}))

/** The server's first frame. Servers before 3.4 omit `readOnly` and send a {@link LegacyConnectResponse}. */
export const ConnectResponse = record('ConnectResponse', f => ({
  protocolVersion: f.int(),
  /** The negotiated session timeout in milliseconds; 0 if the session has expired. */
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
  readOnly: f.bool(),
}))
export const LegacyConnectResponse = record('ConnectResponse', f => ({
  protocolVersion: f.int(),
  timeOut: f.int(),
  sessionId: f.long(),
  passwd: f.buffer(),
}))

export const RequestHeader = record('RequestHeader', f => ({ xid: f.int(), type: f.int() }))
export const ReplyHeader = record('ReplyHeader', f => ({ xid: f.int(), zxid: f.long(), err: f.int() }))

/** The body without fields, for example of pings and of replies to delete. */
export const EmptyRecord = record('EmptyRecord', () => ({}))

export const AuthPacket = record('AuthPacket', f => ({ type: f.int(), scheme: f.stringOrNull(), auth: f.buffer() }))
export const GetSASLRequest = record('GetSASLRequest', f => ({ token: f.buffer() }))
export const SetSASLRequest = /* @__PURE__ */ record('SetSASLRequest', f => ({ token: f.buffer() }))
export const SetSASLResponse = record('SetSASLResponse', f => ({ token: f.buffer() }))
export const WhoAmIResponse = record('WhoAmIResponse', f => ({ clientInfo: f.vector(ClientInfo) }))

// org.apache.zookeeper.proto: nodes

export const CreateRequest = record('CreateRequest', f => ({
  path: f.string(),
  data: f.buffer(),
  acl: f.vectorOrNull(ACL),
  flags: f.int(),
}))
export const CreateTTLRequest = record('CreateTTLRequest', f => ({
  path: f.string(),
  data: f.buffer(),
  acl: f.vectorOrNull(ACL),
  flags: f.int(),
  /** The server may delete the node when its data has not changed for this many milliseconds and it has no child. */
  ttl: f.time(),
}))
export const CreateResponse = record('CreateResponse', f => ({ path: f.string() }))
export const Create2Response = record('Create2Response', f => ({ path: f.string(), stat: f.record(Stat) }))

export const DeleteRequest = record('DeleteRequest', f => ({ path: f.string(), version: f.int() }))

export const ExistsRequest = record('ExistsRequest', f => ({ path: f.string(), watch: f.bool() }))
export const ExistsResponse = record('ExistsResponse', f => ({ stat: f.record(Stat) }))

export const GetDataRequest = record('GetDataRequest', f => ({ path: f.string(), watch: f.bool() }))
export const GetDataResponse = record('GetDataResponse', f => ({ data: f.buffer(), stat: f.record(Stat) }))

export const SetDataRequest = record('SetDataRequest', f => ({
  path: f.string(),
  data: f.buffer(),
  version: f.int(),
}))
export const SetDataResponse = record('SetDataResponse', f => ({ stat: f.record(Stat) }))

export const GetChildrenRequest = record('GetChildrenRequest', f => ({ path: f.string(), watch: f.bool() }))
export const GetChildrenResponse = record('GetChildrenResponse', f => ({ children: f.strings() }))
export const GetChildren2Request = record('GetChildren2Request', f => ({ path: f.string(), watch: f.bool() }))
export const GetChildren2Response = record('GetChildren2Response', f => ({
  children: f.strings(),
  stat: f.record(Stat),
}))
export const GetAllChildrenNumberRequest = record('GetAllChildrenNumberRequest', f => ({ path: f.string() }))
export const GetAllChildrenNumberResponse = record('GetAllChildrenNumberResponse', f => ({ totalNumber: f.int() }))
export const GetEphemeralsRequest = record('GetEphemeralsRequest', f => ({ prefixPath: f.string() }))
export const GetEphemeralsResponse = record('GetEphemeralsResponse', f => ({ ephemerals: f.strings() }))

export const GetACLRequest = record('GetACLRequest', f => ({ path: f.string() }))
export const GetACLResponse = record('GetACLResponse', f => ({ acl: f.vector(ACL), stat: f.record(Stat) }))
export const SetACLRequest = record('SetACLRequest', f => ({
  path: f.string(),
  acl: f.vectorOrNull(ACL),
  version: f.int(),
}))
export const SetACLResponse = record('SetACLResponse', f => ({ stat: f.record(Stat) }))

export const SyncRequest = record('SyncRequest', f => ({ path: f.string() }))
export const SyncResponse = record('SyncResponse', f => ({ path: f.string() }))
export const CheckVersionRequest = record('CheckVersionRequest', f => ({ path: f.string(), version: f.int() }))
export const ErrorResponse = record('ErrorResponse', f => ({ err: f.int() }))

/** A request to change the members of the ensemble. A field that is null changes nothing. */
export const ReconfigRequest = record('ReconfigRequest', f => ({
  joiningServers: f.stringOrNull(),
  leavingServers: f.stringOrNull(),
  newMembers: f.stringOrNull(),
  curConfigId: f.long(),
}))

// These records are declared in zookeeper.jute for a limit on children that was never implemented. No client sends
// these, and no server replies to them.
export const GetMaxChildrenRequest = /* @__PURE__ */ record('GetMaxChildrenRequest', f => ({ path: f.string() }))
export const GetMaxChildrenResponse = /* @__PURE__ */ record('GetMaxChildrenResponse', f => ({ max: f.int() }))
export const SetMaxChildrenRequest = /* @__PURE__ */ record('SetMaxChildrenRequest', f => ({
  path: f.string(),
  max: f.int(),
}))

// org.apache.zookeeper.proto: watches

export const WatcherEvent = record('WatcherEvent', f => ({
  type: f.int(),
  state: f.int(),
  path: f.stringOrNull(),
}))
export const SetWatches = record('SetWatches', f => ({
  /** The last transaction that the client has seen. Watches of nodes that changed after it fire at once. */
  relativeZxid: f.long(),
  dataWatches: f.strings(),
  existWatches: f.strings(),
  childWatches: f.strings(),
}))
export const SetWatches2 = record('SetWatches2', f => ({
  relativeZxid: f.long(),
  dataWatches: f.strings(),
  existWatches: f.strings(),
  childWatches: f.strings(),
  persistentWatches: f.strings(),
  persistentRecursiveWatches: f.strings(),
}))
export const AddWatchRequest = record('AddWatchRequest', f => ({ path: f.string(), mode: f.int() }))
export const CheckWatchesRequest = record('CheckWatchesRequest', f => ({ path: f.string(), type: f.int() }))
export const RemoveWatchesRequest = record('RemoveWatchesRequest', f => ({ path: f.string(), type: f.int() }))

// org.apache.zookeeper.proto: the framing of multi

export const MultiHeader = record('MultiHeader', f => ({ type: f.int(), done: f.bool(), err: f.int() }))
