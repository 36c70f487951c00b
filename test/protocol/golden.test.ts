// Frames captured between Apache ZooKeeper 3.8.0 and its Java client, or written to a socket by hand: see
// capture-golden.ts. ZooKeeper's own classes decoded the expected values.
import { expect } from 'chai'
import {
  codeOf,
  ConnectRequest,
  ConnectResponse,
  explain,
  Framer,
  LegacyConnectRequest,
  LegacyConnectResponse,
  opcodes,
  operations,
  Reader,
  ReplyHeader,
  RequestHeader,
  WatcherEvent,
  Writer,
  xids,
  type Codec,
  type ErrorCode,
} from '../../src/protocol/index.ts'
import { everyCodec } from './codecs.ts'
import { prefixed } from './frame-of.ts'
import { goldenFrames, type GoldenFrame, type Plain } from './golden.ts'

const bytesOf = (frame: GoldenFrame) => Buffer.from(frame.hex, 'hex')

function codecOf(record: string): Codec<unknown> {
  const found = everyCodec.find(({ exported }) => exported === record)
  if (found === undefined) throw new Error(`no codec ${record}`)
  return found.codec
}

/** Converts a value to the form used in golden.jsonl. */
function plain(value: unknown): Plain {
  if (typeof value === 'bigint') return value > -(2n ** 53n) && value < 2n ** 53n ? Number(value) : String(value)
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value as Plain
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

const steps = new Map<string, GoldenFrame[]>()
for (const frame of goldenFrames) steps.set(frame.step, [...(steps.get(frame.step) ?? []), frame])

/** Returns the body of the only frame that this end sent in the step. */
function only<T>(step: string, from: 'client' | 'server', codec: Codec<T>): T {
  const frames = (steps.get(step) ?? []).filter(each => each.from === from)
  expect(frames, step).to.have.length(1)
  const [frame] = frames
  if (frame === undefined) throw new Error(step)
  const reader = new Reader(bytesOf(frame))
  if (from === 'client') RequestHeader.read(reader)
  else ReplyHeader.read(reader)
  return codec.read(reader)
}

describe('captured frames', () => {
  describe('decode to the values that ZooKeeper decodes, and encode to the same bytes:', () => {
    for (const [step, frames] of steps)
      it(step, () => {
        for (const frame of frames) {
          const reader = new Reader(bytesOf(frame))
          const codecs = frame.records.map(codecOf)
          const values = codecs.map(codec => codec.read(reader))
          // ZooKeeper decodes the create2 of this step as a create. A test below checks our value.
          if (step !== 'multi-create2' || frame.from === 'server') expect(values.map(plain)).to.deep.equal(frame.told)
          expect(reader.remaining).to.equal(0)
          const writer = new Writer()
          codecs.forEach((codec, i) => codec.write(writer, values[i]))
          expect(writer.take().toString('hex')).to.equal(frame.hex)
        }
      })
  })

  it('are described by explain() with their operation and the end that sent them', () => {
    const names = new Map<number | undefined, string>(
      Object.values(operations)
        .filter(op => typeof op === 'object')
        .map(op => [op.opcode, op.name]),
    )
    names.set(opcodes.notification, 'event').set(undefined, 'connect')
    for (const frame of goldenFrames) {
      // Operation 999 does not exist.
      if (frame.step === 'unimplemented') continue
      const opcode = frame.opcode === undefined ? {} : { opcode: frame.opcode }
      const { from, op, sentence } = explain(bytesOf(frame), { from: frame.from, ...opcode })
      expect([from, op], `${frame.step}: ${sentence}`).to.deep.equal([frame.from, names.get(frame.opcode)])
      const guess = explain(prefixed(bytesOf(frame)))
      expect(guess.from, `${frame.step}: ${guess.sentence}`).to.equal(frame.from)
    }
  })

  it('have the declared body after their header, and no body after the header of a failure', () => {
    const byOpcode = new Map(
      Object.values(operations)
        .filter(op => typeof op === 'object')
        .map(op => [op.opcode, op]),
    )
    for (const { step, from, opcode, records, hex } of goldenFrames) {
      const op = byOpcode.get(opcode as never)
      if (op === undefined) continue
      const failed = from === 'server' && ReplyHeader.decode(Buffer.from(hex, 'hex')).err !== 0
      const body = failed ? 'EmptyRecord' : op[from === 'client' ? 'request' : 'response'].name
      expect(records.slice(1), `${step}, ${from}`).to.deep.equal(body === 'EmptyRecord' ? [] : [body])
    }
  })

  it('are the same after a Framer has split their stream', () => {
    const received: string[] = []
    const framer = new Framer(1000, (bytes, start, end) => received.push(bytes.toString('hex', start, end)))
    const stream = Buffer.concat(goldenFrames.map(frame => prefixed(bytesOf(frame))))
    for (let at = 0; at < stream.length; at += 7) framer.push(Buffer.from(stream.subarray(at, at + 7)))
    expect(received).to.deep.equal(goldenFrames.map(({ hex }) => hex))
  })

  it('include every operation except those that need a configured server', () => {
    const captured = new Set(goldenFrames.map(({ opcode }) => opcode))
    const missing = Object.values(operations)
      .filter(op => typeof op === 'object')
      .filter(({ opcode }) => !captured.has(opcode))
    expect(missing.map(({ name }) => name)).to.deep.equal(['sasl'])
    const answered = new Set(goldenFrames.filter(({ records }) => records.length > 1).flatMap(({ records }) => records))
    const unanswered = Object.values(operations)
      .filter(op => typeof op === 'object')
      .map(({ response }) => response.name)
      .filter(name => name !== 'EmptyRecord' && !answered.has(name))
    expect(unanswered).to.deep.equal(['SetSASLResponse'])
  })

  describe('show', () => {
    const connectFrames = (step: string) => (steps.get(step) ?? []).slice(0, 2).map(bytesOf)

    it('that a connect request has 45 bytes and its response 37', () => {
      const [request, response] = connectFrames('connect')
      expect([request?.length, response?.length]).to.deep.equal([45, 37])
      expect(ConnectRequest.decode(request ?? Buffer.of())).to.deep.equal({
        protocolVersion: 0,
        lastZxidSeen: 0n,
        timeOut: 40_000,
        sessionId: 0n,
        passwd: Buffer.alloc(16),
        readOnly: false,
      })
      expect(ConnectResponse.decode(response ?? Buffer.of())).to.include({ timeOut: 10_000, readOnly: false })
      expect(ConnectRequest.decode(connectFrames('connect-readOnly')[0] ?? Buffer.of()).readOnly).to.equal(true)
    })

    it('that a client that omits the last byte gets a response without it', () => {
      const [request, response] = connectFrames('connect-legacy')
      expect([request?.length, response?.length]).to.deep.equal([44, 36])
      expect(LegacyConnectRequest.decode(request ?? Buffer.of()).timeOut).to.equal(40_000)
      expect(LegacyConnectResponse.decode(response ?? Buffer.of()).timeOut).to.equal(10_000)
    })

    it('that a timeout of 0 means that the session has expired', () => {
      const [request, response] = connectFrames('session-gone')
      expect(ConnectRequest.decode(request ?? Buffer.of()).sessionId).to.equal(0x1234_5678_90ab_cdefn)
      expect(ConnectResponse.decode(response ?? Buffer.of())).to.deep.equal({
        protocolVersion: 0,
        timeOut: 0,
        sessionId: 0n,
        passwd: Buffer.alloc(16),
        readOnly: false,
      })
    })

    it('that a client resumes its session with its id, its password and the last zxid that it saw', () => {
      const [, first] = connectFrames('connect')
      const { sessionId, passwd } = ConnectResponse.decode(first ?? Buffer.of())
      const [request, response] = connectFrames('reconnect')
      expect(ConnectRequest.decode(request ?? Buffer.of())).to.deep.include({ sessionId, passwd, lastZxidSeen: 25n })
      expect(ConnectResponse.decode(response ?? Buffer.of())).to.deep.include({ sessionId, passwd })
    })

    it('which requests the server rejects', () => {
      const refusals: Record<string, ErrorCode> = {
        'create-exists': 'NODEEXISTS',
        createTTL: 'UNIMPLEMENTED',
        'exists-absent': 'NONODE',
        'getData-absent': 'NONODE',
        'setData-badVersion': 'BADVERSION',
        'delete-notEmpty': 'NOTEMPTY',
        'create-nullACL': 'INVALIDACL',
        'removeWatches-noWatcher': 'NOWATCHER',
        'check-badVersion': 'BADVERSION',
        unimplemented: 'UNIMPLEMENTED',
        'addAuth-unknown': 'AUTHFAILED',
        'reconfig-disabled': 'RECONFIGDISABLED',
      }
      const refused: Record<string, ErrorCode> = {}
      for (const frame of goldenFrames) {
        if (frame.from !== 'server' || frame.opcode === undefined) continue
        const { err } = ReplyHeader.decode(bytesOf(frame))
        if (err === 0) continue
        refused[frame.step] = codeOf(err)
        expect(frame.hex, 'nothing after the header of a failure').to.have.length(32)
      }
      expect(refused).to.deep.equal(refusals)
    })

    it('that null and empty data are different', () => {
      const dataOf = (step: string) => only(step, 'server', operations.getData.response).data
      expect(dataOf('getData')?.toString()).to.equal('hello')
      expect(dataOf('getData-null')).to.equal(null)
      expect(dataOf('getData-empty')).to.deep.equal(Buffer.alloc(0))
    })

    it('the fields of a create request, and the Stat of an ephemeral node', () => {
      const request = only('create2', 'client', operations.create2.request)
      expect(request).to.deep.equal({
        path: '/golden/e-',
        data: Buffer.from('żółw'),
        acl: [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }],
        flags: 3,
      })
      const { path, stat } = only('create2', 'server', operations.create2.response)
      const { sessionId } = ConnectResponse.decode(connectFrames('connect')[1] ?? Buffer.of())
      expect(path).to.equal('/golden/e-0000000003')
      expect(stat).to.include({ ephemeralOwner: sessionId, dataLength: 7, version: 0, czxid: 8n, mzxid: 8n, pzxid: 8n })
      expect(stat.ctime).to.equal(stat.mtime)
      expect(new Date(stat.ctime).getUTCFullYear()).to.be.within(2024, 2040)
      expect(only('createTTL-extended', 'client', operations.createTTL.request).ttl).to.equal(86_400_000)
    })

    it('that a multi has a result of the matching type for each operation', () => {
      const results = only('multi', 'server', operations.multi.response)
      const { create, setData, check, delete: remove, create2 } = opcodes
      expect(results.map(({ type }) => type)).to.deep.equal([create, setData, check, remove, create2])
      expect(only('multi-empty', 'server', operations.multi.response)).to.deep.equal([])
    })

    it('that a failed multi has errors in its results and none in the reply header', () => {
      const results = only('multi-failed', 'server', operations.multi.response)
      expect(results.map(({ type, body }) => [type, 'err' in body && codeOf(body.err)])).to.deep.equal([
        [-1, 'UNKNOWN'],
        [-1, 'BADVERSION'],
        [-1, 'RUNTIMEINCONSISTENCY'],
      ])
      expect(results[0]).to.deep.equal({ type: -1, body: { err: 0 } })
    })

    it('that the result of a create2 in a multi has type create (ZOOKEEPER-4026)', () => {
      const [request] = only('multi-create2', 'client', operations.multi.request)
      expect(request?.type).to.equal(opcodes.create2)
      const results = only('multi-create2', 'server', operations.multi.response)
      expect(results).to.deep.equal([{ type: opcodes.create, body: { path: '/by-hand' } }])
    })

    it('that a multiRead has each error at the index of its operation', () => {
      const results = only('multiRead', 'server', operations.multiRead.response)
      expect(results.map(({ type }) => type)).to.deep.equal([opcodes.getData, opcodes.getChildren, opcodes.error])
      expect(results[2]?.body).to.deep.equal({ err: -101 })
    })

    it('which event each change causes, and that its zxid is -1', () => {
      const events = goldenFrames
        .filter(({ opcode }) => opcode === opcodes.notification)
        .map(frame => {
          const reader = new Reader(bytesOf(frame))
          expect(ReplyHeader.read(reader)).to.deep.equal({ xid: xids.notification, zxid: -1n, err: 0 })
          const { type, state, path } = WatcherEvent.read(reader)
          expect(state).to.equal(3)
          return `${frame.step}: ${type} ${path}`
        })
      expect(events).to.deep.equal([
        'event-NodeDataChanged: 3 /golden',
        'event-NodeChildrenChanged: 4 /golden/container',
        'event-NodeCreated: 1 /golden/absent',
        'event-NodeDeleted: 2 /golden/absent',
        'reconnect: 3 /golden',
        'reconnect: 1 /golden/absent',
        'event-recursive: 3 /golden/container/x',
        'closeSession: 2 /golden/e-0000000003',
      ])
    })

    it('that a persistent watch gets no events for changes that it missed', () => {
      const order = (steps.get('reconnect-persistent') ?? []).map(
        ({ from, opcode }) => `${from} ${opcode ?? 'connect'}`,
      )
      expect(order).to.include('server 105').and.not.include('server 0')
    })

    it('that missed events arrive before the reply to setWatches and after the reply to credentials', () => {
      const order = (steps.get('reconnect') ?? []).map(({ from, opcode }) => `${from} ${opcode ?? 'connect'}`)
      expect(order).to.deep.equal([
        'client connect',
        'server connect',
        'client 100',
        'client 101',
        'server 100',
        'server 0',
        'server 0',
        'server 101',
      ])
    })
  })
})
