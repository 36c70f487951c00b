// Random bytes, and the recorded frames of a real server with a few flipped bits.
//
// A failure prints the seed and the path that reproduce it.
import { expect } from 'chai'
import fc from 'fast-check'
import { ConnectResponse, errnos, operations, xids, ZooKeeperError } from '../../src/protocol/index.ts'
import { connect, type Client } from '../../src/client/index.ts'
import { settle, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { frameOf, type ScriptedConnection, type ScriptedServer } from '../support/scripted-server.ts'
import { dataReply, scriptedSession, scriptedConnect, T } from '../support/scripted-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { prefixed } from './malformed-replies.ts'

/** RUNS=400 sets how often each property is tried. */
const RUNS = Number(process.env['RUNS'] ?? 20)

const random = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // A complete frame with a meaningful xid and random content.
  fc.tuple(fc.constantFrom(0, 1, 2, ...Object.values(xids)), fc.uint8Array({ maxLength: 120 })).map(([xid, rest]) =>
    frameOf(writer => {
      writer.int(xid)
      writer.bytes(rest)
    }),
  ),
)

function expectTyped(outcomes: readonly unknown[]): void {
  for (const outcome of outcomes) if (outcome instanceof Error) expect(outcome).to.be.an.instanceOf(ZooKeeperError)
}

/** Advances the clock until the promise has settled. */
async function advanceUntilSettled(promise: Promise<unknown>, clock: VirtualClock, limit: number): Promise<void> {
  const isSettled = trackSettled(promise)
  for (let passed = 0; passed <= limit; passed += limit / 50) {
    await settle()
    if (isSettled()) return
    await clock.advance(limit / 50)
  }
  expect.fail(`the promise did not settle within ${limit} ms`)
}

/** From now on the server accepts every connection and answers every request correctly. It has only one node. */
function serveCorrectly(server: ScriptedServer): void {
  const answer = async (connection: ScriptedConnection): Promise<never> => {
    for (;;) {
      const request = await connection.next()
      if (request.op === operations.getData) connection.reply(request, dataReply('correct'))
      else connection.reply(request, { err: request.xid > 0 ? errnos.NONODE : 0 })
    }
  }
  const serve = async (): Promise<never> => {
    for (;;) {
      const connection = await server.next()
      connection.open()
      connection.handshake()
      void answer(connection)
    }
  }
  void serve()
}

/**
 * Expects that the client works again. Before that, calls may fail on a connection that is in the middle of a frame or
 * has wrong xids.
 */
async function expectWorkingAgain(client: Client, clock: VirtualClock): Promise<void> {
  const { sessionId } = client
  const outcomes: unknown[] = []
  for (let i = 0; i < 3; i++) {
    const read = outcomeOf(client.getData('/works'))
    await advanceUntilSettled(read, clock, Math.max(2 * client.sessionTimeout, 10_000))
    outcomes.push(await read)
    if (client.state === 'suspended') await clock.advance(5000)
  }
  expectTyped(outcomes)
  expect(outcomes.at(-1)).to.have.property('data')
  expect(client.sessionId).to.equal(sessionId)
}

describe('a client survives random bytes', () => {
  const inEachCase = (property: (bytes: Uint8Array) => Promise<void>) =>
    fc.assert(fc.asyncProperty(random, property), { numRuns: RUNS })

  it('as the first frame', () =>
    inEachCase(async bytes => {
      // With connectTimeout, because text as the first frame means that no ZooKeeper server is there.
      const { opening, server, clock } = scriptedConnect({ connectTimeout: T })
      const faulty = await server.next()
      faulty.open()
      faulty.send(bytes)
      serveCorrectly(server)
      await advanceUntilSettled(opening, clock, T)
      expect((await opening).state).to.equal('connected')
    }))

  it('with 3 requests pending', () =>
    inEachCase(async bytes => {
      const all = await scriptedSession()
      const { client, connection, clock } = all
      const calls = ['/a', '/b', '/c'].map(path => outcomeOf(client.getData(path)))
      await settle()
      connection.send(bytes)
      serveCorrectly(all.server)
      // The client waits for the rest of an incomplete frame until the heartbeat detects silence.
      await advanceUntilSettled(Promise.all(calls), clock, T)
      expectTyped(await Promise.all(calls))
      if (client.state !== 'authFailed') await expectWorkingAgain(client, clock)
    }))

  it('during close()', () =>
    inEachCase(async bytes => {
      const { client, connection, clock } = await scriptedSession()
      const calls = ['/a', '/b', '/c'].map(path => outcomeOf(client.getData(path)))
      const closing = client.close()
      await settle()
      connection.send(bytes)
      await advanceUntilSettled(closing, clock, T)
      expectTyped(await Promise.all(calls))
      expect(client.state).to.be.oneOf(['closed', 'authFailed'])
      expect(clock.pendingTimers).to.equal(0)
    }))
})

/**
 * Calls every operation, so that the server sends replies of each type, errors, events, and the reply to credentials.
 */
const everyOperation = (client: Client, path: string): Promise<unknown>[] =>
  [
    client.create(path, 'data'),
    client.getData(path, { watch: () => undefined }),
    client.setData(path, Buffer.alloc(300)),
    client.addAuth('digest', 'ann:secret'),
    client.create(`${path}/child-`, '', { mode: 'ephemeralSequential' }),
    client.getChildren(path, { watch: () => undefined }),
    client.getACL(path),
    client.exists(`${path}/absent`, { watch: () => undefined }),
    client.multi([{ create: `${path}/absent` }, { setData: path, data: '' }, { delete: `${path}/absent` }]),
    client.multi([{ check: path, version: 99 }]),
    client.multiRead([{ getData: path }, { getChildren: path }, { getData: `${path}/absent` }]),
    client.delete(`${path}/absent`),
    client.getEphemerals(),
    client.getAllChildrenNumber(path),
    client.sync(path),
  ].map(outcomeOf)

/** Records the frames that a real server sends in such a session. */
async function recorded(path: string): Promise<{ handshake: Buffer; rest: Buffer[] }> {
  const frames: Buffer[] = []
  const client = await connect((await sharedServer()).connectString, {
    onFrame: ({ from, bytes }) => {
      if (from === 'server') frames.push(prefixed(bytes))
    },
  })
  await Promise.all(everyOperation(client, path))
  const [handshake, ...rest] = frames
  await client.deleteRecursive(path)
  await client.close()
  if (handshake === undefined) throw new Error('the server sent no handshake')
  return { handshake, rest }
}

function flipped(bytes: Buffer, bits: readonly number[]): Buffer {
  const result = Buffer.from(bytes)
  for (const bit of bits) {
    const at = (bit >> 3) % result.length
    result[at] = (result[at] ?? 0) ^ (1 << (bit & 7))
  }
  return result
}

describe('the recorded frames of a real server', function () {
  this.timeout(60_000)
  const path = '/recorded'
  let handshake: Buffer
  let rest: Buffer[]

  before(async () => {
    ;({ handshake, rest } = await recorded(path))
  })

  const bits = fc.array(fc.nat({ max: 0x7fff_ffff }), { minLength: 1, maxLength: 8 })

  it('are accepted unchanged', async () => {
    const all = scriptedConnect({ sessionTimeout: 30_000 })
    const connection = await all.server.next()
    connection.open()
    connection.send(handshake)
    const client = await all.opening
    const calls = everyOperation(client, path)
    await settle()
    connection.send(...rest)
    const codes = (await Promise.all(calls)).map(outcome => outcome instanceof ZooKeeperError && outcome.code)
    expect(codes.filter(code => code !== false)).to.deep.equal(['BADVERSION', 'NONODE'])
    expect(connection.dropped).to.equal(false)
  })

  it('with 1 to 8 flipped bits cause typed errors only, and the session continues', () =>
    fc.assert(
      fc.asyncProperty(bits, fc.nat({ max: 2000 }), async (flips, cut) => {
        const all = scriptedConnect({ sessionTimeout: 30_000 })
        const connection = await all.server.next()
        connection.open()
        connection.send(handshake)
        const client = await all.opening
        const calls = everyOperation(client, path)
        await settle()
        const bytes = flipped(Buffer.concat(rest), flips)
        connection.send(bytes.subarray(0, cut))
        connection.send(bytes.subarray(cut))
        serveCorrectly(all.server)
        await advanceUntilSettled(Promise.all(calls), all.clock, 2 * client.sessionTimeout)
        expectTyped(await Promise.all(calls))
        // Only rejected credentials end a session here.
        if (client.state !== 'authFailed') await expectWorkingAgain(client, all.clock)
      }),
      { numRuns: RUNS },
    ))

  it('with 1 to 8 flipped bits in the handshake lead to another session, expiry, or the next server', () =>
    fc.assert(
      fc.asyncProperty(bits, async flips => {
        const all = scriptedConnect({ sessionTimeout: 30_000, connectTimeout: 25_000 })
        const outcome = outcomeOf(all.opening)
        const faulty = await all.server.next()
        faulty.open()
        const bytes = flipped(handshake, flips)
        faulty.send(bytes)
        serveCorrectly(all.server)
        await advanceUntilSettled(outcome, all.clock, 30_000)
        if ((await outcome) instanceof Error) {
          expect(await outcome).to.include({ code: 'SESSIONEXPIRED' })
          expect(ConnectResponse.decode(bytes.subarray(4)).timeOut).to.be.at.most(0)
        } else await expectWorkingAgain(await all.opening, all.clock)
      }),
      { numRuns: RUNS },
    ))
})
