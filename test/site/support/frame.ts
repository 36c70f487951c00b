// A frame for tests of what draws frames.
import type { WireFrame } from '../../../site/world/wire-frame.ts'

export const frameOf = (fields: Partial<WireFrame>): WireFrame => ({
  ...{ n: 1, client: 1, server: 1, connection: 1, direction: 'up', kind: 'request', op: 'create', xid: 1, opcode: 1 },
  ...{ answers: undefined, sentAt: 0, arrivesAt: 5, lostAt: undefined, bytes: new Uint8Array(8) },
  ...fields,
})
