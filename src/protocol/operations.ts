// The declarations of all operations.
import * as r from './every-record.ts'
import { operation } from './operation.ts'

const isWrite = true
/** The creates whose replies have a Stat. Alpha versions of 3.5 that lack one of them are not told apart. */
const createWithStat = { method: 'create', since: 5, isWrite }

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.create, { path: '/a', data: 'v1', acl: [], flags: createModes.persistent }, 1024)
 * explain(writer.take()).sentence // => 'client #1 create {path: "/a", data: "v1", acl: [], flags: persistent}'
 */
export const create = operation('create', r.CreateRequest, r.CreateResponse, { isWrite })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.create2, { path: '/a', data: 'v1', acl: [], flags: createModes.ephemeral }, 1024)
 * explain(writer.take()).sentence // => 'client #1 create2 {path: "/a", data: "v1", acl: [], flags: ephemeral}'
 */
export const create2 = operation('create2', r.CreateRequest, r.Create2Response, createWithStat)

/**
 * @example
 * const writer = new Writer()
 * const request = { path: '/a', data: '', acl: [], flags: createModes.container }
 * encodeRequest(writer, 1, operations.createContainer, request, 1024)
 * explain(writer.take()).sentence // => 'client #1 createContainer {path: "/a", data: "", acl: [], flags: container}'
 */
export const createContainer = operation('createContainer', r.CreateRequest, r.Create2Response, createWithStat)

/**
 * @example
 * const writer = new Writer()
 * const request = { path: '/a', data: '', acl: [], flags: createModes.persistentTTL, ttl: 5000 }
 * encodeRequest(writer, 1, operations.createTTL, request, 1024)
 * explain(writer.take()).sentence
 * // => 'client #1 createTTL {path: "/a", data: "", acl: [], flags: persistentTTL, ttl: 5000}'
 */
export const createTTL = operation('createTTL', r.CreateTTLRequest, r.Create2Response, createWithStat)

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.delete, { path: '/a', version: -1 }, 1024)
 * explain(writer.take()).sentence // => 'client #1 delete {path: "/a", version: -1}'
 */
const delete_ = operation('delete', r.DeleteRequest, r.EmptyRecord, { isWrite })
export { delete_ as delete }

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.exists, { path: '/a', watch: true }, 1024)
 * explain(writer.take()).sentence // => 'client #1 exists {path: "/a", watch: true}'
 */
export const exists = operation('exists', r.ExistsRequest, r.ExistsResponse, { watch: 'exist' })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getData, { path: '/a', watch: false }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getData {path: "/a", watch: false}'
 */
export const getData = operation('getData', r.GetDataRequest, r.GetDataResponse, { watch: 'data' })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.setData, { path: '/a', data: 'v2', version: 0 }, 1024)
 * explain(writer.take()).sentence // => 'client #1 setData {path: "/a", data: "v2", version: 0}'
 */
export const setData = operation('setData', r.SetDataRequest, r.SetDataResponse, { isWrite })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getACL, { path: '/a' }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getACL {path: "/a"}'
 */
export const getACL = operation('getACL', r.GetACLRequest, r.GetACLResponse)

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.setACL, { path: '/a', acl: [], version: -1 }, 1024)
 * explain(writer.take()).sentence // => 'client #1 setACL {path: "/a", acl: [], version: -1}'
 */
export const setACL = operation('setACL', r.SetACLRequest, r.SetACLResponse, { isWrite })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getChildren, { path: '/a', watch: false }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getChildren {path: "/a", watch: false}'
 */
export const getChildren = operation('getChildren', r.GetChildrenRequest, r.GetChildrenResponse, {
  watch: 'children',
})

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getChildren2, { path: '/a', watch: false }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getChildren2 {path: "/a", watch: false}'
 */
export const getChildren2 = operation('getChildren2', r.GetChildren2Request, r.GetChildren2Response, {
  watch: 'children',
  method: 'getChildren',
})

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.sync, { path: '/a' }, 1024)
 * explain(writer.take()).sentence // => 'client #1 sync {path: "/a"}'
 */
export const sync = operation('sync', r.SyncRequest, r.SyncResponse)

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, constants.xids.ping, operations.ping, {}, 1024)
 * explain(writer.take()).sentence // => 'client ping'
 */
export const ping = operation('ping', r.EmptyRecord, r.EmptyRecord)

/**
 * Use it only in a multi. To a successful check that is sent alone, servers do not reply. From 3.8.5 and 3.9.3 on they
 * close the connection instead (ZOOKEEPER-2623).
 * @example
 * const item = { type: constants.opcodes.check, body: { path: '/a', version: 3 } }
 * records.MultiRequest.encode([item]).length // => 28
 */
export const check = /* @__PURE__ */ operation('check', r.CheckVersionRequest, r.SetDataResponse)

/**
 * @example
 * const writer = new Writer()
 * const items = [{ type: constants.opcodes.check, body: { path: '/a', version: 3 } }]
 * encodeRequest(writer, 1, operations.multi, items, 1024)
 * explain(writer.take()).sentence // => 'client #1 multi {0 {check {path: "/a", version: 3}}}'
 */
export const multi = operation('multi', r.MultiRequest, r.MultiResponse, { isWrite })

/**
 * @example
 * const writer = new Writer()
 * const items = [{ type: constants.opcodes.getData, body: { path: '/a', watch: false } }]
 * encodeRequest(writer, 1, operations.multiRead, items, 1024)
 * explain(writer.take()).sentence // => 'client #1 multiRead {0 {getData {path: "/a", watch: false}}}'
 */
export const multiRead = operation('multiRead', r.MultiReadRequest, r.MultiResponse, { since: 6 })

/**
 * @example
 * const writer = new Writer()
 * const request = { joiningServers: null, leavingServers: '3', newMembers: null, curConfigId: -1n }
 * encodeRequest(writer, 1, operations.reconfig, request, 1024)
 * explain(writer.take()).sentence
 * // => 'client #1 reconfig {joiningServers: null, leavingServers: "3", newMembers: null, curConfigId: 0xffffffffffffffff}'
 */
export const reconfig = operation('reconfig', r.ReconfigRequest, r.GetDataResponse, {
  since: 5,
  isWrite,
})

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.checkWatches, { path: '/a', type: constants.watcherTypes.data }, 1024)
 * explain(writer.take()).sentence // => 'client #1 checkWatches {path: "/a", type: 2}'
 */
export const checkWatches = operation('checkWatches', r.CheckWatchesRequest, r.EmptyRecord, {
  since: 5,
})

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.removeWatches, { path: '/a', type: constants.watcherTypes.any }, 1024)
 * explain(writer.take()).sentence // => 'client #1 removeWatches {path: "/a", type: 3}'
 */
export const removeWatches = operation('removeWatches', r.RemoveWatchesRequest, r.EmptyRecord, {
  since: 5,
})

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, constants.xids.auth, operations.auth, { type: 0, scheme: 'digest', auth: 'ann:secret' }, 1024)
 * explain(writer.take()).sentence // => 'client auth {type: 0, scheme: "digest", auth: 10 bytes, not shown}'
 */
export const auth = operation('auth', r.AuthPacket, r.EmptyRecord)

/**
 * @example
 * const writer = new Writer()
 * const request = { relativeZxid: 1n, dataWatches: ['/a'], existWatches: [], childWatches: [] }
 * encodeRequest(writer, constants.xids.setWatches, operations.setWatches, request, 1024)
 * explain(writer.take()).sentence
 * // => 'client setWatches {relativeZxid: 0x1, dataWatches: [/a], existWatches: [], childWatches: []}'
 */
export const setWatches = operation('setWatches', r.SetWatches, r.EmptyRecord)

/**
 * @example
 * const { opcode, since } = operations.setWatches2
 * opcode // => 105
 * since // => 6
 */
export const setWatches2 = operation('setWatches2', r.SetWatches2, r.EmptyRecord, { since: 6 })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.sasl, { token: 'ticket' }, 1024)
 * explain(writer.take()).sentence // => 'client #1 sasl {token: 6 bytes, not shown}'
 */
export const sasl = operation('sasl', r.GetSASLRequest, r.SetSASLResponse)

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getEphemerals, { prefixPath: '/a' }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getEphemerals {prefixPath: "/a"}'
 */
export const getEphemerals = operation('getEphemerals', r.GetEphemeralsRequest, r.GetEphemeralsResponse, { since: 6 })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.getAllChildrenNumber, { path: '/a' }, 1024)
 * explain(writer.take()).sentence // => 'client #1 getAllChildrenNumber {path: "/a"}'
 */
export const getAllChildrenNumber = operation(
  'getAllChildrenNumber',
  r.GetAllChildrenNumberRequest,
  r.GetAllChildrenNumberResponse,
  { since: 6 },
)

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.addWatch, { path: '/a', mode: constants.addWatchModes.persistent }, 1024)
 * explain(writer.take()).sentence // => 'client #1 addWatch {path: "/a", mode: 0}'
 */
export const addWatch = operation('addWatch', r.AddWatchRequest, r.ErrorResponse, { since: 6 })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.whoAmI, {}, 1024)
 * explain(writer.take()).sentence // => 'client #1 whoAmI'
 */
export const whoAmI = operation('whoAmI', r.EmptyRecord, r.WhoAmIResponse, { since: 7 })

/**
 * @example
 * const writer = new Writer()
 * encodeRequest(writer, 1, operations.closeSession, {}, 1024)
 * explain(writer.take()).sentence // => 'client #1 closeSession'
 */
export const closeSession = operation('closeSession', r.EmptyRecord, r.EmptyRecord, { isWrite })
