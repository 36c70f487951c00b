// withLock() of Sessions with an idleTimeout of 0: a session for one lock, in three round trips.
import { expect } from 'chai'
import { Sessions, explain, type Client, type Dial, type SessionsOptions } from '../../src/index.ts'
import {
  EphemeralMutex,
  HerdMutex,
  MultiLock,
  Mutex,
  ReadWriteLock,
  Semaphore,
  TicketMutex,
  type Held,
} from '../../src/recipes/index.ts'
import { Machine } from '../simulation/machine.ts'
import { abortOf, failureOf } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const ROUND_TRIP = 10
const T = 6_000

type NewLock = Parameters<Sessions['withLock']>[0]

/** A server that is half a round trip away, and what was sent to it. */
class Stage extends VirtualServer {
  machine!: Machine
  /** The frames of the client, by packet. */
  readonly packets: string[][] = []
  #frames: string[] = []
  readonly #opened: Sessions[] = []

  constructor() {
    super({ line: ROUND_TRIP })
  }

  override async begin(): Promise<void> {
    await super.begin()
    this.machine = new Machine(this.clock, { roundTrip: ROUND_TRIP })
  }

  override async close(): Promise<void> {
    await this.until(Promise.all(this.#opened.map(each => each.close())))
    await super.close()
  }

  readonly dial: Dial = (address, handler) => {
    const transport = this.machine.dialThrough(this.server.dial)(address, handler)
    const write = (bytes: Uint8Array) => {
      this.packets.push(this.#frames.splice(0))
      transport.write(bytes)
    }
    return { write, destroy: () => transport.destroy() }
  }

  openSessions(options?: SessionsOptions): Sessions {
    const sessions = new Sessions('localhost', {
      dial: this.dial,
      clock: this.clock,
      sessionTimeout: T,
      idleTimeout: 0,
      onFrame: frame => {
        const { op } = explain(frame.bytes, frame)
        if (frame.from === 'client') this.#frames.push(op)
      },
      ...options,
    })
    this.#opened.push(sessions)
    return sessions
  }

  /** Lets time pass, in milliseconds. */
  pass(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  /** Returns the round trips that a call takes. */
  async count(work: Promise<unknown>): Promise<number> {
    const begun = this.clock.now()
    await this.clock.until(work)
    return (this.clock.now() - begun) / ROUND_TRIP
  }
}
const mutex = (client: Client) => new Mutex(client, '/locks/key')
const locks: Record<string, [NewLock, trips: number]> = {
  Mutex: [mutex, 3],
  'Mutex of kazoo': [client => new Mutex(client, '/locks/key', { dialect: 'kazoo' }), 3],
  // The names of its nodes have the id of the session in them, which the server chooses.
  'Mutex of ZooKeeper': [client => new Mutex(client, '/locks/key', { dialect: 'zookeeper' }), 4],
  HerdMutex: [client => new HerdMutex(client, '/locks/key'), 3],
  EphemeralMutex: [client => new EphemeralMutex(client, '/locks/key'), 3],
  'ReadWriteLock.readLock': [client => new ReadWriteLock(client, '/locks/key').readLock, 3],
  MultiLock: [client => new MultiLock([mutex(client), new Mutex(client, '/locks/other')]), 4],
  TicketMutex: [client => new TicketMutex(client, '/locks/key'), 4],
  Semaphore: [client => new Semaphore(client, '/locks/key', 2), 4],
}

describe('withLock() in a session of its own', () => {
  for (const [name, [newLock, trips]] of Object.entries(locks))
    it(`takes ${trips} round trips with a ${name}, and leaves nothing`, async () => {
      await using stage = await Stage.start()
      const sessions = stage.openSessions()
      const call = () => stage.count(sessions.withLock(newLock, {}, held => (held as Held).validFor()))
      await call() // makes the directory
      for (let i = 0; i < 2; i++) expect(await call()).to.equal(trips)
      expect(stage.ephemerals).to.deep.equal([])
    })

  it('sends the handshake with the first requests, and the end of the session with the release', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    await stage.count(sessions.withLock(mutex, {}, () => undefined))
    stage.packets.length = 0
    await stage.count(sessions.withLock(mutex, {}, () => undefined))
    expect(stage.packets).to.deep.equal([
      ['connect', 'create2', 'getChildren2'],
      ['exists'],
      ['delete', 'closeSession'],
    ])
    stage.packets.length = 0
    const failing = failureOf(
      sessions.withLock(mutex, {}, () => stage.sleep(50).then(() => Promise.reject(Error('no')))),
    )
    expect(await stage.clock.until(failing)).to.include({ message: 'no' })
    expect(stage.packets.at(-1)).to.deep.equal(['delete', 'closeSession'])
  })

  for (const [name, options] of Object.entries<SessionsOptions>({
    auth: { auth: [{ scheme: 'digest', auth: 'ann:secret' }] },
    readOnly: { readOnly: true },
  }))
    it(`sends nothing with the handshake if it has the option ${name}`, async () => {
      await using stage = await Stage.start()
      expect(await stage.clock.until(stage.openSessions(options).withLock(mutex, {}, () => 'done'))).to.equal('done')
      expect(stage.packets[0]).to.deep.equal(['connect'])
    })

  it('runs the function once, in another session, if the answer to the handshake is lost', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    await stage.count(sessions.withLock(mutex, {}, () => undefined))
    const observer = await stage.open()
    let runs = 0
    const locking = sessions.withLock(mutex, { timeout: 3 * T }, async () => {
      runs++
      return (await observer.getChildren('/locks/key')).children.length
    })
    await stage.pass(ROUND_TRIP)
    stage.machine.block('down')
    await stage.pass(ROUND_TRIP)
    stage.machine.cut()
    await stage.pass(2 * ROUND_TRIP)
    stage.machine.unblock()
    expect(await stage.clock.until(observer.getChildren('/locks/key'))).to.have.nested.property('children.length', 1)
    const begun = stage.clock.now()
    // The node of the lost session blocks the lock until the server has expired it. It is never taken for the own node.
    expect(await stage.clock.until(locking)).to.equal(1)
    expect(stage.clock.now() - begun).to.be.within(T - 100, 1.5 * T)
    expect(runs).to.equal(1)
  })

  it('is served by the next server if one does not serve, and says why if none does', async () => {
    await using stage = await Stage.start()
    stage.server.faults.ignore('connect')
    const sessions = stage.openSessions()
    expect(await stage.clock.until(sessions.withLock(mutex, { timeout: 2_000 }, () => 'served'))).to.equal('served')
    stage.server.faults.ignore('connect', { times: Infinity })
    const error = await stage.clock.until(failureOf(sessions.withLock(mutex, { timeout: 2_000 }, () => 'never')))
    expect(error).to.include({ code: 'CONNECTIONLOSS', fate: 'notSent' })
    expect((error as Error).message).to.match(/there was no session within 2000 ms: NOSERVER/)
  })

  it('closes the session if it is cancelled before the answer to the handshake', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    await stage.count(sessions.withLock(mutex, {}, () => undefined))
    const stop = new AbortController()
    const locking = failureOf(sessions.withLock(mutex, { signal: stop.signal }, () => 'never'))
    await stage.pass(1.6 * ROUND_TRIP)
    expect(stage.ephemerals).to.have.length(1)
    stop.abort('cancelled')
    expect(await stage.clock.until(locking)).to.equal('cancelled')
    expect(stage.ephemerals).to.deep.equal([])
  })

  it('ends its session at close(), also while its function runs', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    const locking = failureOf(sessions.withLock(mutex, {}, held => abortOf(held.signal)))
    await stage.pass(10 * ROUND_TRIP)
    await stage.clock.until(sessions.close({ timeout: 100 }))
    expect(stage.ephemerals).to.deep.equal([])
    expect(await stage.clock.until(locking)).to.include({ code: 'LOST' })
    expect(await failureOf(sessions.withLock(mutex, {}, () => 'never'))).to.include({ code: 'CLOSED' })
  })

  it('throws the errors of the lock, and what its factory throws', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    const refused = failureOf(
      sessions.withLock(
        client => new Mutex(client, 'relative'),
        {},
        () => 'never',
      ),
    )
    expect(await stage.clock.until(refused)).to.include({ code: 'BADARGUMENTS' })
    const observer = await stage.open()
    await stage.clock.until(mutex(observer).acquire())
    const taken = failureOf(sessions.withLock(mutex, { timeout: 500 }, () => 'never'))
    expect(await stage.clock.until(taken)).to.include({ code: 'TIMEOUT' })
  })

  it('gives the lock to one at a time: 60 calls on 5 keys, 20 at once', async () => {
    await using stage = await Stage.start()
    const sessions = stage.openSessions()
    const holders = new Set<number>()
    const run = async (i: number): Promise<void> => {
      if (i >= 60) return
      const key = i % 5
      await sessions.withLock(
        client => new Mutex(client, `/locks/${key}`),
        { timeout: 60_000 },
        async () => {
          expect(holders.has(key)).to.equal(false)
          holders.add(key)
          await stage.sleep(3)
          holders.delete(key)
        },
      )
      return run(i + 20)
    }
    await stage.clock.until(Promise.all(Array.from({ length: 20 }, (_, i) => run(i))))
    expect(stage.ephemerals).to.deep.equal([])
  })
})
