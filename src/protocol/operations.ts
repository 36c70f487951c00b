// The declarations of all operations.
import { opcodes } from './constants.ts'
import { MultiReadRequest, MultiRequest, MultiResponse } from './multi.ts'
import { operation } from './operation.ts'
import * as r from './records.ts'

const isWrite = true
/** The creates whose replies have a Stat. Alpha versions of 3.5 that lack one of them are not told apart. */
const createWithStat = { method: 'create', since: 5, isWrite }

export const create = operation('create', opcodes.create, r.CreateRequest, r.CreateResponse, { isWrite })
export const create2 = operation('create2', opcodes.create2, r.CreateRequest, r.Create2Response, createWithStat)
export const createContainer = operation(
  'createContainer',
  opcodes.createContainer,
  r.CreateRequest,
  r.Create2Response,
  createWithStat,
)
export const createTTL = operation(
  'createTTL',
  opcodes.createTTL,
  r.CreateTTLRequest,
  r.Create2Response,
  createWithStat,
)
const delete_ = operation('delete', opcodes.delete, r.DeleteRequest, r.EmptyRecord, { isWrite })
export { delete_ as delete }
export const exists = operation('exists', opcodes.exists, r.ExistsRequest, r.ExistsResponse, { watch: 'exist' })
export const getData = operation('getData', opcodes.getData, r.GetDataRequest, r.GetDataResponse, { watch: 'data' })
export const setData = operation('setData', opcodes.setData, r.SetDataRequest, r.SetDataResponse, { isWrite })
export const getACL = operation('getACL', opcodes.getACL, r.GetACLRequest, r.GetACLResponse)
export const setACL = operation('setACL', opcodes.setACL, r.SetACLRequest, r.SetACLResponse, { isWrite })
export const getChildren = operation('getChildren', opcodes.getChildren, r.GetChildrenRequest, r.GetChildrenResponse, {
  watch: 'children',
})
export const getChildren2 = operation(
  'getChildren2',
  opcodes.getChildren2,
  r.GetChildren2Request,
  r.GetChildren2Response,
  { watch: 'children', method: 'getChildren' },
)
export const sync = operation('sync', opcodes.sync, r.SyncRequest, r.SyncResponse)
export const ping = operation('ping', opcodes.ping, r.EmptyRecord, r.EmptyRecord)
/**
 * Use it only in a multi. To a successful check that is sent alone, servers do not reply. From 3.8.5 and 3.9.3 on they
 * close the connection instead (ZOOKEEPER-2623).
 */
export const check = operation('check', opcodes.check, r.CheckVersionRequest, r.SetDataResponse)
export const multi = operation('multi', opcodes.multi, MultiRequest, MultiResponse, { isWrite })
export const multiRead = operation('multiRead', opcodes.multiRead, MultiReadRequest, MultiResponse, { since: 6 })
export const reconfig = operation('reconfig', opcodes.reconfig, r.ReconfigRequest, r.GetDataResponse, {
  since: 5,
  isWrite,
})
export const checkWatches = operation('checkWatches', opcodes.checkWatches, r.CheckWatchesRequest, r.EmptyRecord, {
  since: 5,
})
export const removeWatches = operation('removeWatches', opcodes.removeWatches, r.RemoveWatchesRequest, r.EmptyRecord, {
  since: 5,
})
export const auth = operation('auth', opcodes.auth, r.AuthPacket, r.EmptyRecord)
export const setWatches = operation('setWatches', opcodes.setWatches, r.SetWatches, r.EmptyRecord)
export const setWatches2 = operation('setWatches2', opcodes.setWatches2, r.SetWatches2, r.EmptyRecord, { since: 6 })
export const sasl = operation('sasl', opcodes.sasl, r.GetSASLRequest, r.SetSASLResponse)
export const getEphemerals = operation(
  'getEphemerals',
  opcodes.getEphemerals,
  r.GetEphemeralsRequest,
  r.GetEphemeralsResponse,
  { since: 6 },
)
export const getAllChildrenNumber = operation(
  'getAllChildrenNumber',
  opcodes.getAllChildrenNumber,
  r.GetAllChildrenNumberRequest,
  r.GetAllChildrenNumberResponse,
  { since: 6 },
)
export const addWatch = operation('addWatch', opcodes.addWatch, r.AddWatchRequest, r.ErrorResponse, { since: 6 })
export const whoAmI = operation('whoAmI', opcodes.whoAmI, r.EmptyRecord, r.WhoAmIResponse, { since: 7 })
export const closeSession = operation('closeSession', opcodes.closeSession, r.EmptyRecord, r.EmptyRecord, { isWrite })
