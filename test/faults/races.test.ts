// Acquires that are cancelled, or whose session expires, just before they are granted, on a real server. Each has
// exactly one result and leaves no node or watch.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex, type Held } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { fastRetry } from '../support/fast-retry-clock.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { has } from '../../environment/server-version.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../../environment/until.ts'

describe(`an acquire that is cancelled or loses its session (SEED=${seed})`, function () {
  this.timeout(60_000)
  const sessions = new Sessions()
  let server: ApacheZooKeeper
  let observer: Client
  let watchesBefore: number
  let path: string
  let run = 0

  before(async () => {
    server = await sharedServer()
  })
  beforeEach(async () => {
    observer = await connect(server.connectString)
    watchesBefore = await server.watchCount()
    path = `/races-${++run}`
    await observer.ensurePath(path)
  })
  afterEach(async () => {
    await sessions.settled()
    const watches = await server.watchCount()
    await sessions.close()
    await observer.deleteRecursive(path)
    await observer.close()
    expect(watches, 'watches at the server').to.equal(watchesBefore)
  })

  const nodesIn = async (directory: string) =>
    (await observer.exists(directory)) === null ? [] : (await observer.getChildren(directory)).children

  /** The step of an acquire at which it is cancelled. */
  interface Point {
    name: string
    /** The opcode of the pending request, and its number among requests with this opcode. */
    opcode: number
    nth?: number
    isMissing?: boolean
    isTaken?: boolean
    isReleased?: boolean
  }
  const points: Point[] = [
    { name: 'it creates its directory', opcode: opcodes.createContainer, isMissing: true },
    { name: 'it creates its node', opcode: opcodes.create2 },
    { name: 'it lists the contenders', opcode: opcodes.getChildren2 },
    { name: 'it sets its watch', opcode: opcodes.getData, isTaken: true },
    { name: 'it waits', opcode: opcodes.exists, isTaken: true },
    {
      name: 'it lists the contenders again after a notification, without look-ahead',
      opcode: opcodes.getChildren2,
      nth: 2,
      isTaken: true,
      isReleased: true,
    },
  ]

  for (const { name, opcode: newOpcode, nth = 1, isMissing = false, isTaken = false, isReleased = false } of points) {
    for (const then of ['the reply arrives', 'the connection is cut'] as const) {
      it(`while ${name} rejects with the signal’s reason and leaves nothing when ${then}`, async () => {
        if (isMissing) await observer.delete(path)
        const faultyDial = new FaultyDial()
        const client = await sessions.open(server.connectString, { dial: faultyDial.dial, ...fastRetry })
        // A server of 3.4 closes the connection after the first create2, with all replies that are due. From then on it
        // gets a create instead.
        await client.create(`${path}-before`)
        await client.delete(`${path}-before`)
        const isCreate = newOpcode === opcodes.create2 || newOpcode === opcodes.createContainer
        const isReplaced =
          isCreate && !has(await server.version(), 'creates with a Stat, containers, removal of watches, TLS')
        const opcode = isReplaced ? opcodes.create : newOpcode
        const holder = isTaken ? await new Mutex(observer, path).acquire() : undefined
        let arrived = nth === 1 ? faultyDial.holdReply(opcode, isReplaced && isMissing ? 2 : 1) : undefined
        const controller = new AbortController()
        const mutex = new Mutex(client, path, { lookAhead: !isReleased })
        const failing = failureOf(mutex.acquire({ signal: controller.signal }))
        if (opcode === opcodes.exists) {
          // The contender sends no request while it waits, so the test sends one.
          await until(async () => (await server.watchCount()) === watchesBefore + 2)
          client.exists(path).catch(() => undefined)
        } else if (nth > 1) {
          await until(async () => (await server.watchCount()) === watchesBefore + 1)
          arrived = faultyDial.holdReply(opcode)
          if (isReleased) await holder?.release()
        }
        await arrived
        const reason = new Error('cancelled')
        controller.abort(reason)
        expect(await failing).to.equal(reason)
        if (then === 'the reply arrives') faultyDial.deliver()
        else faultyDial.cut()
        await client.settled()
        const left = await nodesIn(path)
        expect(left.filter(node => !holder?.path.endsWith(node))).to.deep.equal([])
        await holder?.release()
      })
    }
  }

  it('in the turn of the grant still gets the lock: a signal after the grant has no effect', async () => {
    const client = await sessions.open(server.connectString)
    const controller = new AbortController()
    const held = await new Mutex(client, path).acquire({ signal: controller.signal }).then(held => {
      controller.abort()
      return held
    })
    expect(held.signal.aborted).to.equal(false)
    expect(await nodesIn(path)).to.have.length(1)
    await held.release()
  })

  for (const lookAhead of [true, false])
    it(`rejects if its session expires after the grant at the server and before its notification, with lookAhead: ${lookAhead}`, async () => {
      const faultyDial = new FaultyDial()
      const client = await sessions.open(server.connectString, { dial: faultyDial.dial })
      const holder = await new Mutex(observer, path).acquire()
      const acquiring = outcomeOf(new Mutex(client, path, { lookAhead }).acquire())
      await until(async () => (await server.watchCount()) === watchesBefore + (lookAhead ? 2 : 1))
      const granted = faultyDial.holdEvent()
      await holder.release()
      await granted
      expect(await nodesIn(path), 'its node is the first').to.have.length(1)
      await expireSession(server, client.sessionId, client.sessionPassword)
      const next = await new Mutex(observer, path).acquire()
      expect(client.state, 'the client has not noticed the expiry').to.equal('connected')
      faultyDial.deliver()
      // The notification was sent while the session existed, and the end of the connection arrives with it.
      expect(await acquiring).to.have.property('code', 'SESSIONEXPIRED')
      expect(await nodesIn(path)).to.deep.equal([next.path.slice(path.length + 1)])
      await next.release()
    })

  it('in a race with the grant returns either the lock or the reason, in 900 rounds', async () => {
    const LANES = 30
    const ROUNDS = 30
    const random = seededRandom(seed)
    /** The number of frames of the contender's session so far. */
    let frameCount = 0
    const due = new Map<number, (() => void)[]>()
    const tick = () => {
      for (const cancel of due.get(++frameCount) ?? []) cancel()
      due.delete(frameCount)
    }
    const options: ConnectOptions = { onFrame: tick, sessionTimeout: 10_000 }
    const contender = await sessions.open(server.connectString, options)
    const holder = await sessions.open(server.connectString, { sessionTimeout: 10_000 })
    const counts = { held: 0, cancelled: 0 }

    const round = async (directory: string): Promise<void> => {
      const first = await new Mutex(holder, directory).acquire()
      const controller = new AbortController()
      const reason = new Error('cancelled')
      // A random frame of this round: a round has a few frames, mixed with those of all other lanes.
      const frame = frameCount + 1 + Math.floor(random() * 10 * LANES)
      const microtasks = Math.floor(random() * 4)
      const cancel = () => {
        let left = microtasks
        const later = () => (left-- > 0 ? queueMicrotask(later) : controller.abort(reason))
        later()
      }
      due.set(frame, [...(due.get(frame) ?? []), cancel])
      const acquiring = outcomeOf(new Mutex(contender, directory).acquire({ signal: controller.signal }))
      if (random() < 0.5) await contender.sync('/')
      await first.release()
      const outcome = await acquiring
      if (outcome === reason) {
        counts.cancelled++
        return
      }
      const held = outcome as Held
      expect(await nodesIn(directory), 'the holder’s node exists').to.include(held.path.slice(directory.length + 1))
      counts.held++
      await held.release()
    }
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const directory = `${path}/${lane}`
        await observer.create(directory)
        for (let i = 0; i < ROUNDS; i++) await round(directory)
      }),
    )
    await contender.settled()
    for (let lane = 0; lane < LANES; lane++) expect(await nodesIn(`${path}/${lane}`)).to.deep.equal([])
    expect(counts.held + counts.cancelled).to.equal(LANES * ROUNDS)
    // Both results must occur, otherwise it is no race.
    expect(Math.min(counts.held, counts.cancelled), JSON.stringify(counts)).to.be.above((LANES * ROUNDS) / 10)
    if (this.ctx.test) this.ctx.test.title += ` (${counts.held} held, ${counts.cancelled} cancelled)`
  })
})
