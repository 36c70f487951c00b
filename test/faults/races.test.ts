// Section 2.6 and 2.2 of the fault matrix, the rows about an acquire that is given up, or whose session ends, just as it is granted: G2, G3
// and B5, on a real server. Whatever comes first, one thing is told, and nothing is left behind.
import { expect } from 'chai'
import { connect, type Client, type ConnectOptions } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import { Mutex, type Held } from '../../src/recipes/index.ts'
import { Sessions } from '../recipes/sessions.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { failureOf, outcomeOf } from '../support/settled.ts'
import { fastRetryClock } from '../support/fast-retry-clock.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { seed, seededRandom } from '../support/seeded-random.ts'
import { expireSession, sharedServer } from '../support/shared-server.ts'
import { until } from '../support/until.ts'

describe(`2.6 an acquire that is given up (SEED=${seed})`, function () {
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
    expect(watches, 'watches left behind').to.equal(watchesBefore)
  })

  const nodesIn = async (directory: string) =>
    (await observer.exists(directory)) === null ? [] : (await observer.getChildren(directory)).children

  /** Where an acquire is when it is given up. */
  interface Point {
    name: string
    /** The request whose answer is being waited for, and which of its kind it is. */
    opcode: number
    nth?: number
    isMissing?: boolean
    isTaken?: boolean
    isReleased?: boolean
  }
  const points: Point[] = [
    { name: 'its directory is being made', opcode: opcodes.createContainer, isMissing: true },
    { name: 'its node is being created', opcode: opcodes.create2 },
    { name: 'the contenders are being listed', opcode: opcodes.getChildren2 },
    { name: 'the watch is being set', opcode: opcodes.getData, isTaken: true },
    { name: 'it waits', opcode: opcodes.exists, isTaken: true },
    { name: 'it is woken and has not looked', opcode: opcodes.getChildren2, nth: 2, isTaken: true, isReleased: true },
  ]

  for (const { name, opcode, nth = 1, isMissing = false, isTaken = false, isReleased = false } of points) {
    for (const then of ['the answer comes', 'the connection dies'] as const) {
      it(`G2: while ${name}, rejects with the signal’s reason, and leaves nothing when ${then}`, async () => {
        if (isMissing) await observer.delete(path)
        const faultyDial = new FaultyDial()
        const client = await sessions.open(server.connectString, { dial: faultyDial.dial, clock: fastRetryClock })
        const holder = isTaken ? await new Mutex(observer, path).acquire() : undefined
        let arrived = nth === 1 ? faultyDial.holdReply(opcode) : undefined
        const controller = new AbortController()
        const failing = failureOf(new Mutex(client, path).acquire({ signal: controller.signal }))
        if (opcode === opcodes.exists) {
          // It asks for nothing while it waits: this is ours.
          await until(async () => (await server.watchCount()) === watchesBefore + 1)
          client.exists(path).catch(() => undefined)
        } else if (nth > 1) {
          await until(async () => (await server.watchCount()) === watchesBefore + 1)
          arrived = faultyDial.holdReply(opcode)
          if (isReleased) await holder?.release()
        }
        await arrived
        const reason = new Error('given up')
        controller.abort(reason)
        expect(await failing).to.equal(reason)
        if (then === 'the answer comes') faultyDial.deliver()
        else faultyDial.cut()
        await client.settled()
        const left = await nodesIn(path)
        expect(left.filter(node => !holder?.path.endsWith(node))).to.deep.equal([])
        await holder?.release()
      })
    }
  }

  it('G2: before it began sends nothing', async () => {
    const faultyDial = new FaultyDial()
    const client = await sessions.open(server.connectString, { dial: faultyDial.dial, clock: fastRetryClock })
    const reason = new Error('too late')
    expect(await failureOf(new Mutex(client, path).acquire({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
    expect(await nodesIn(path)).to.deep.equal([])
  })

  it('G2: in the turn in which it was granted, has the lock: a signal that comes behind the grant gives up nothing', async () => {
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

  it('B5: whose session ends between the grant at the server and its wake-up, rejects, and is no holder', async () => {
    const faultyDial = new FaultyDial()
    const client = await sessions.open(server.connectString, { dial: faultyDial.dial })
    const holder = await new Mutex(observer, path).acquire()
    const failing = failureOf(new Mutex(client, path).acquire())
    await until(async () => (await server.watchCount()) === watchesBefore + 1)
    const granted = faultyDial.holdEvent()
    await holder.release()
    await granted
    expect(await nodesIn(path), 'its node is the first now').to.have.length(1)
    await expireSession(server, client.sessionId, client.sessionPassword)
    const next = await new Mutex(observer, path).acquire()
    expect(client.state, 'it knows of nothing').to.equal('connected')
    faultyDial.deliver()
    expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
    expect(await nodesIn(path)).to.deep.equal([next.path.slice(path.length + 1)])
    await next.release()
  })

  it('G3: in a race with the grant, gives the lock or the reason, and never both nor neither, 3,000 times over', async () => {
    const LANES = 30
    const ROUNDS = 100
    const random = seededRandom(seed)
    /** At which frame of the contender's session a round is given up. */
    let seen = 0
    const due = new Map<number, (() => void)[]>()
    const tick = () => {
      for (const giveUp of due.get(++seen) ?? []) giveUp()
      due.delete(seen)
    }
    const options: ConnectOptions = { onFrame: tick, sessionTimeout: 10_000 }
    const contender = await sessions.open(server.connectString, options)
    const holder = await sessions.open(server.connectString, { sessionTimeout: 10_000 })
    const counts = { held: 0, givenUp: 0 }

    const round = async (directory: string): Promise<void> => {
      const first = await new Mutex(holder, directory).acquire()
      const controller = new AbortController()
      const reason = new Error('given up')
      // Within what a round may see: a few frames of its own, and in between those of all other lanes.
      const frame = seen + 1 + Math.floor(random() * 10 * LANES)
      const microtasks = Math.floor(random() * 4)
      const giveUp = () => {
        let left = microtasks
        const later = () => (left-- > 0 ? queueMicrotask(later) : controller.abort(reason))
        later()
      }
      due.set(frame, [...(due.get(frame) ?? []), giveUp])
      const acquiring = outcomeOf(new Mutex(contender, directory).acquire({ signal: controller.signal }))
      if (random() < 0.5) await contender.sync('/')
      await first.release()
      const outcome = await acquiring
      if (outcome === reason) {
        counts.givenUp++
        return
      }
      const held = outcome as Held
      expect(await nodesIn(directory), 'it has it').to.include(held.path.slice(directory.length + 1))
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
    expect(counts.held + counts.givenUp).to.equal(LANES * ROUNDS)
    // Both must happen, or it is no race.
    expect(Math.min(counts.held, counts.givenUp), JSON.stringify(counts)).to.be.above((LANES * ROUNDS) / 10)
    if (this.ctx.test) this.ctx.test.title += ` (${counts.held} held, ${counts.givenUp} given up)`
  })
})
