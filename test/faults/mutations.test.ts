// Row D20 of the fault matrix, random bytes, and row J10: what a real server said in a whole session, with a few bits flipped.
//
// A failure prints the seed and the path that make it again.
import { expect } from 'chai'
import fc from 'fast-check'
import { ConnectResponse, operations, xids, ZooKeeperError } from '../../src/protocol/index.ts'
import { connect, type Client } from '../../src/client/index.ts'
import { settle, type VirtualClock } from '../../src/testing/virtual-clock.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { frameOf, type ScriptedConnection, type ScriptedServer } from '../support/scripted-server.ts'
import { dataReply, scriptedSession, scriptedConnect, T } from '../support/scripted-session.ts'
import { sharedServer } from '../support/shared-server.ts'
import { prefixed } from './malformed-replies.ts'

const random = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // As if there was a frame, of an xid that means something, and behind it anything.
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

/** Lets time pass until something has come about. */
async function advanceUntilSettled(promise: Promise<unknown>, clock: VirtualClock, limit: number): Promise<void> {
  const isOver = trackSettled(promise)
  for (let passed = 0; passed <= limit; passed += limit / 50) {
    await settle()
    if (isOver()) return
    await clock.advance(limit / 50)
  }
  expect.fail(`${limit} ms passed and it did not come about`)
}

/** From now on every connection gets what it asks for. */
function serveCorrectly(server: ScriptedServer): void {
  const answer = async (connection: ScriptedConnection): Promise<never> => {
    for (;;) {
      const request = await connection.next()
      connection.reply(request, request.op === operations.getData ? dataReply('honest') : {})
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

/** A connection that the lie has put out of step, or in the middle of a frame, may cost a call more. */
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

describe('2.4 random bytes', () => {
  const inEachCase = (property: (bytes: Uint8Array) => Promise<void>) =>
    fc.assert(fc.asyncProperty(random, property), { numRuns: 150 })

  it('D20: random bytes, on the first frame', () =>
    inEachCase(async bytes => {
      const { opening, server, clock } = scriptedConnect()
      const liar = await server.next()
      liar.open()
      liar.send(bytes)
      serveCorrectly(server)
      await advanceUntilSettled(opening, clock, T)
      expect((await opening).state).to.equal('connected')
    }))

  it('D20: random bytes, with 3 requests pending', () =>
    inEachCase(async bytes => {
      const all = await scriptedSession()
      const { client, connection, clock } = all
      const calls = ['/a', '/b', '/c'].map(path => outcomeOf(client.getData(path)))
      await settle()
      connection.send(bytes)
      serveCorrectly(all.server)
      // What is no whole frame yet is waited for, until it is silence.
      await advanceUntilSettled(Promise.all(calls), clock, T)
      expectTyped(await Promise.all(calls))
      if (client.state !== 'authFailed') await expectWorkingAgain(client, clock)
    }))

  it('D20: random bytes, during close', () =>
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

/** Everything that a session may be told: answers of each shape, errors, events, and the answer to credentials. */
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

/** What a real server sends in such a session: the handshake, and all the rest. */
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
  if (handshake === undefined) throw new Error('there was no handshake')
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

describe('5.2 a session that a real server gave, with bits of it flipped', function () {
  this.timeout(60_000)
  const path = '/recorded'
  let handshake: Buffer
  let rest: Buffer[]

  before(async () => {
    ;({ handshake, rest } = await recorded(path))
  })

  const bits = fc.array(fc.nat({ max: 0x7fff_ffff }), { minLength: 1, maxLength: 8 })

  it('is good as it was recorded', async () => {
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

  it('J10: 1 to 8 bits of what a server sent, flipped, end in typed errors and a session that goes on', () =>
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
        // Nothing but the refusal of credentials ends a session here.
        if (client.state !== 'authFailed') await expectWorkingAgain(client, all.clock)
      }),
      { numRuns: 400 },
    ))

  it('J10: 1 to 8 bits of a handshake, flipped, make it another session, none, or the next server’s', () =>
    fc.assert(
      fc.asyncProperty(bits, async flips => {
        const all = scriptedConnect({ sessionTimeout: 30_000, connectTimeout: 25_000 })
        const outcome = outcomeOf(all.opening)
        const liar = await all.server.next()
        liar.open()
        const bytes = flipped(handshake, flips)
        liar.send(bytes)
        serveCorrectly(all.server)
        await advanceUntilSettled(outcome, all.clock, 30_000)
        if ((await outcome) instanceof Error) {
          expect(await outcome).to.include({ code: 'SESSIONEXPIRED' })
          expect(ConnectResponse.decode(bytes.subarray(4)).timeOut).to.be.at.most(0)
        } else await expectWorkingAgain(await all.opening, all.clock)
      }),
      { numRuns: 400 },
    ))
})
