// The records of requests that read and change nodes, and of their replies. The requests that clients send most often
// have a function that writes them, because that saves a tenth of a call. Tests compare its bytes with the declaration.
import type { Encodable, TypeOf } from './codec.ts'
import { record } from './jute.ts'
import { ACL, Stat } from './records.ts'
import type { Writer } from './writer.ts'

type Path = { readonly path: string }

function writePathAndWatch(writer: Writer, { path, watch }: Path & { readonly watch: boolean }): void {
  writer.string(path)
  writer.bool(watch)
}

function writePathAndVersion(writer: Writer, { path, version }: Path & { readonly version: number }): void {
  writer.string(path)
  writer.int(version)
}

/**
 * @example
 * const record = { path: '/a', data: null, acl: [], flags: createModes.ephemeral }
 * records.CreateRequest.encode(record).toString('hex') // => '000000022f61ffffffff0000000000000001'
 */
export const CreateRequest = record(
  'CreateRequest',
  f => ({
    path: f.string(),
    data: f.buffer(),
    acl: f.vectorOrNull(ACL),
    flags: f.int(),
  }),
  (writer, { path, data, acl, flags }) => {
    writer.string(path)
    writer.buffer(data)
    writer.int(acl?.length ?? -1)
    const entries = acl ?? []
    // By index, because V8 does not inline the iterator of a frozen list, such as the default ACL.
    for (let i = 0; i < entries.length; i++) {
      const { perms, id } = entries[i] as Encodable<TypeOf<typeof ACL>>
      writer.int(perms)
      writer.string(id.scheme)
      writer.string(id.id)
    }
    writer.int(flags)
  },
)

/**
 * @example
 * const record = { path: '/a', data: null, acl: [], flags: createModes.persistentTTL, ttl: 60_000 }
 * records.CreateTTLRequest.encode(record).toString('hex') // => '000000022f61ffffffff0000000000000005000000000000ea60'
 */
export const CreateTTLRequest = record('CreateTTLRequest', f => ({
  path: f.string(),
  data: f.buffer(),
  acl: f.vectorOrNull(ACL),
  flags: f.int(),
  /** The server may delete the node when its data has not changed for this many milliseconds and it has no child. */
  ttl: f.time(),
}))
/** @example records.CreateResponse.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const CreateResponse = record('CreateResponse', f => ({ path: f.string() }))

/**
 * @example
 * const { layout } = records.Create2Response
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['path', 'stat']
 */
export const Create2Response = record('Create2Response', f => ({ path: f.string(), stat: f.record(Stat) }))

/** @example records.DeleteRequest.encode({ path: '/a', version: -1 }).toString('hex') // => '000000022f61ffffffff' */
export const DeleteRequest = record('DeleteRequest', f => ({ path: f.string(), version: f.int() }), writePathAndVersion)

/** @example records.ExistsRequest.encode({ path: '/a', watch: true }).toString('hex') // => '000000022f6101' */
export const ExistsRequest = record('ExistsRequest', f => ({ path: f.string(), watch: f.bool() }), writePathAndWatch)

/**
 * @example
 * const { layout } = records.ExistsResponse
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['stat']
 */
export const ExistsResponse = record('ExistsResponse', f => ({ stat: f.record(Stat) }))

/** @example records.GetDataRequest.encode({ path: '/a', watch: true }).toString('hex') // => '000000022f6101' */
export const GetDataRequest = record('GetDataRequest', f => ({ path: f.string(), watch: f.bool() }), writePathAndWatch)

/**
 * @example
 * const { layout } = records.GetDataResponse
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['data', 'stat']
 */
export const GetDataResponse = record('GetDataResponse', f => ({ data: f.buffer(), stat: f.record(Stat) }))

/**
 * @example
 * const record = { path: '/a', data: 'v1', version: -1 }
 * records.SetDataRequest.encode(record).toString('hex') // => '000000022f61000000027631ffffffff'
 */
export const SetDataRequest = record(
  'SetDataRequest',
  f => ({ path: f.string(), data: f.buffer(), version: f.int() }),
  (writer, { path, data, version }) => {
    writer.string(path)
    writer.buffer(data)
    writer.int(version)
  },
)

/**
 * @example
 * const { layout } = records.SetDataResponse
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['stat']
 */
export const SetDataResponse = record('SetDataResponse', f => ({ stat: f.record(Stat) }))

/** @example records.GetChildrenRequest.encode({ path: '/a', watch: false }).toString('hex') // => '000000022f6100' */
export const GetChildrenRequest = record('GetChildrenRequest', f => ({ path: f.string(), watch: f.bool() }))

/**
 * @example
 * records.GetChildrenResponse.encode({ children: ['b', 'c'] }).toString('hex') // => '0000000200000001620000000163'
 */
export const GetChildrenResponse = record('GetChildrenResponse', f => ({ children: f.strings() }))
/** @example records.GetChildren2Request.encode({ path: '/a', watch: false }).toString('hex') // => '000000022f6100' */
export const GetChildren2Request = record(
  'GetChildren2Request',
  f => ({ path: f.string(), watch: f.bool() }),
  writePathAndWatch,
)

/**
 * @example
 * const { layout } = records.GetChildren2Response
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['children', 'stat']
 */
export const GetChildren2Response = record('GetChildren2Response', f => ({
  children: f.strings(),
  stat: f.record(Stat),
}))
/** @example records.GetAllChildrenNumberRequest.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const GetAllChildrenNumberRequest = record('GetAllChildrenNumberRequest', f => ({ path: f.string() }))
/** @example records.GetAllChildrenNumberResponse.encode({ totalNumber: 3 }).toString('hex') // => '00000003' */
export const GetAllChildrenNumberResponse = record('GetAllChildrenNumberResponse', f => ({ totalNumber: f.int() }))
/** @example records.GetEphemeralsRequest.encode({ prefixPath: '/a' }).toString('hex') // => '000000022f61' */
export const GetEphemeralsRequest = record('GetEphemeralsRequest', f => ({ prefixPath: f.string() }))

/**
 * @example
 * records.GetEphemeralsResponse.encode({ ephemerals: ['/a/b'] }).toString('hex') // => '00000001000000042f612f62'
 */
export const GetEphemeralsResponse = record('GetEphemeralsResponse', f => ({ ephemerals: f.strings() }))

/** @example records.GetACLRequest.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const GetACLRequest = record('GetACLRequest', f => ({ path: f.string() }))

/**
 * @example
 * const { layout } = records.GetACLResponse
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['acl', 'stat']
 */
export const GetACLResponse = record('GetACLResponse', f => ({ acl: f.vector(ACL), stat: f.record(Stat) }))

/**
 * @example
 * const record = { path: '/a', acl: null, version: -1 }
 * records.SetACLRequest.encode(record).toString('hex') // => '000000022f61ffffffffffffffff'
 */
export const SetACLRequest = record('SetACLRequest', f => ({
  path: f.string(),
  acl: f.vectorOrNull(ACL),
  version: f.int(),
}))

/**
 * @example
 * const { layout } = records.SetACLResponse
 * layout.is === 'fields' && layout.fields.map(({ name }) => name) // => ['stat']
 */
export const SetACLResponse = record('SetACLResponse', f => ({ stat: f.record(Stat) }))

/** @example records.SyncRequest.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const SyncRequest = record('SyncRequest', f => ({ path: f.string() }))
/** @example records.SyncResponse.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const SyncResponse = record('SyncResponse', f => ({ path: f.string() }))

/**
 * @example
 * records.CheckVersionRequest.encode({ path: '/a', version: 3 }).toString('hex') // => '000000022f6100000003'
 */
export const CheckVersionRequest = record('CheckVersionRequest', f => ({ path: f.string(), version: f.int() }))
/** @example records.ErrorResponse.encode({ err: errnos.NONODE }).toString('hex') // => 'ffffff9b' */
export const ErrorResponse = record('ErrorResponse', f => ({ err: f.int() }))

/**
 * A request to change the members of the ensemble. A field that is null changes nothing.
 * @example
 * const record = { joiningServers: null, leavingServers: '3', newMembers: null, curConfigId: -1n }
 * records.ReconfigRequest.encode(record).toString('hex') // => 'ffffffff0000000133ffffffffffffffffffffffff'
 */
export const ReconfigRequest = record('ReconfigRequest', f => ({
  joiningServers: f.stringOrNull(),
  leavingServers: f.stringOrNull(),
  newMembers: f.stringOrNull(),
  curConfigId: f.long(),
}))

// These records are declared in zookeeper.jute for a limit on children that was never implemented. No client sends
// these, and no server replies to them.
/** @example records.GetMaxChildrenRequest.encode({ path: '/a' }).toString('hex') // => '000000022f61' */
export const GetMaxChildrenRequest = /* @__PURE__ */ record('GetMaxChildrenRequest', f => ({ path: f.string() }))
/** @example records.GetMaxChildrenResponse.encode({ max: 3 }).toString('hex') // => '00000003' */
export const GetMaxChildrenResponse = /* @__PURE__ */ record('GetMaxChildrenResponse', f => ({ max: f.int() }))

/**
 * @example
 * records.SetMaxChildrenRequest.encode({ path: '/a', max: 3 }).toString('hex') // => '000000022f6100000003'
 */
export const SetMaxChildrenRequest = /* @__PURE__ */ record('SetMaxChildrenRequest', f => ({
  path: f.string(),
  max: f.int(),
}))
