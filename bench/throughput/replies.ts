// The prepared replies of the mock server. Only their xid differs from call to call.
import { Buffer } from 'node:buffer'
import {
  ConnectResponse,
  Create2Response,
  ExistsResponse,
  GetChildren2Response,
  GetDataResponse,
  opcodes,
  ReplyHeader,
  SetDataResponse,
  Writer,
} from '../../src/protocol/index.ts'
import { DATA_BYTES, nameOf, NAMES, paths } from './workloads.ts'

const stat = {
  ...{ czxid: 0x1_0000_0007n, mzxid: 0x1_0000_0009n, pzxid: 0x1_0000_0007n, ephemeralOwner: 0n },
  ...{ ctime: 1_600_000_000_000, mtime: 1_600_000_000_000 },
  ...{ version: 1, cversion: 0, aversion: 0, dataLength: DATA_BYTES, numChildren: 0 },
}

function frame(write: (writer: Writer) => void): Buffer {
  const writer = new Writer()
  writer.frame(() => write(writer))
  return Buffer.from(writer.take())
}
const reply = (body: (writer: Writer) => void): Buffer =>
  frame(writer => {
    ReplyHeader.write(writer, { xid: 0, zxid: 0x1_0000_0010n, err: 0 })
    body(writer)
  })

export const connectResponse = frame(writer =>
  ConnectResponse.write(writer, {
    ...{ protocolVersion: 0, timeOut: 60_000, sessionId: 0x1234n, passwd: Buffer.alloc(16, 1), readOnly: false },
  }),
)

/** The offset of the xid in a reply. */
export const XID = 4

/** The reply to operations without results. */
export const emptyReply = reply(() => undefined)

const names = Array.from({ length: NAMES }, (_, index) => nameOf(index))
const data = Buffer.alloc(DATA_BYTES, 'x')
const created = { path: `${paths.mock}/n-0000000000`, stat }

export const replies: ReadonlyMap<number, Buffer> = new Map([
  [opcodes.getData, reply(writer => GetDataResponse.write(writer, { data, stat }))],
  [opcodes.setData, reply(writer => SetDataResponse.write(writer, { stat }))],
  [opcodes.exists, reply(writer => ExistsResponse.write(writer, { stat }))],
  [opcodes.getChildren2, reply(writer => GetChildren2Response.write(writer, { children: names, stat }))],
  [opcodes.create2, reply(writer => Create2Response.write(writer, created))],
])
