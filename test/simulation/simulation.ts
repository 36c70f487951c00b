// A world in one process, in virtual time, that a seed makes: machines with sessions that want locks, an embedded server, and whatever can
// go wrong between them. The same seed makes the same again, to the last packet.
import { connect, type Client } from '../../src/index.ts'
import { Server, VirtualClock, type FaultKind, type NodeKind } from '../../src/server/index.ts'
import { isTerminal } from '../../src/session/life/states.ts'
import { toLine, type Event } from '../linearizability/history.ts'
import { violations } from '../linearizability/invariants.ts'
import { Recorder, type Contestant } from '../linearizability/recorder.ts'
import { transactionOf, type Transaction } from '../linearizability/transaction-log.ts'
import { kindsOf, type TorturedLocks } from '../linearizability/workload.ts'
import { oneOf, seeded, type Chance } from '../support/seeded-random.ts'
import { Machine } from './machine.ts'

export interface Outcome {
  /** What must not be, in words. */
  violations: string[]
  /** All that happened, with its time: to be told where something was wrong. */
  trace: () => string[]
  grants: number
  /** How often each kind of fault came about. */
  faults: ReadonlyMap<string, number>
}

/** For how long there are faults, ms. */
const STORM = 2000
/** When they are over, everybody is to be done within this time, ms. */
const DRAIN = 60_000
/** For how long one whose turn it is may not know, ms, while packets pass. */
const PATIENCE = 3000

const KINDS: readonly FaultKind[] = [
  ...(['create', 'create', 'delete', 'exists', 'getChildren', 'getData', 'multi', 'sync'] as const),
  ...(['removeWatches', 'setWatches', 'ping', 'connect', 'event'] as const),
]

export const simulate = (seed: number, locks: TorturedLocks): Promise<Outcome> => new Simulation(seed, locks).run()

/** A machine, and the session that it has at present. */
interface Seat {
  readonly machine: Machine
  readonly random: Chance
  contestant: Contestant
}

class Simulation {
  readonly #seed: number
  readonly #locks: TorturedLocks
  readonly #random: Chance
  readonly #clock = new VirtualClock()
  readonly #events: Event[] = []
  readonly #log: Transaction[] = []
  readonly #trace: [at: number, what: string | Event | Transaction][] = []
  readonly #wrong: string[] = []
  readonly #faults = new Map<string, number>()
  readonly #clients: Client[] = []
  readonly #contestants: Contestant[] = []
  readonly #seats: Seat[] = []
  /** Somebody who deletes what is not his. */
  #outsider!: Client
  /** Directories, by their transactions, whose numbers were brought near their end. */
  readonly #exhausted = new Set<bigint>()
  readonly #sessionTimeout: number
  readonly #recorder: Recorder
  #server!: Server
  #drawers = 0
  #isStorm = true

  constructor(seed: number, locks: TorturedLocks) {
    this.#seed = seed
    this.#locks = locks
    this.#random = this.#chance()
    this.#sessionTimeout = oneOf(this.#random, [400, 1000, 2000])
    const tell = (event: Event) => {
      this.#events.push(event)
      this.#note(event)
    }
    // No two events at the same time: what comes later in a turn is later.
    this.#recorder = new Recorder(tell, () => this.#clock.now() + this.#events.length * 1e-6)
  }

  async run(): Promise<Outcome> {
    const random = this.#random
    this.#server = await Server.start({
      listen: false,
      clock: this.#clock,
      random: this.#chance(),
      tickTime: oneOf(random, [50, 200]),
      minSessionTimeout: 100,
      // Empty directories go at once, so that their numbers begin anew again and again.
      containerCheckInterval: oneOf(random, [100, 500]),
      onTransaction: record => this.#onTransaction(transactionOf(record)),
    })
    this.#outsider = await connect(this.#server.connectString, {
      dial: this.#server.dial,
      clock: this.#clock,
      random: this.#chance(),
    })
    this.#clients.push(this.#outsider)
    const machines = 2 + Math.floor(4 * random())
    const played = this.#play(machines, 1 + Math.floor(2 * random()))
    await this.#until('the world has come to rest', played, STORM + DRAIN)
    await this.#until('all is cleaned up', Promise.all(this.#clients.map(client => client.settled())))
    // A session whose last word was lost ends by itself, later, and its watches with it.
    const ended = new Set(this.#clients.filter(({ state }) => isTerminal(state)).map(({ sessionId }) => sessionId))
    for (const { kind, path, session } of this.#server.snapshot().watches)
      if (!ended.has(session)) this.#wrong.push(`a watch is left: ${kind} ${path}`)
    await this.#until('all are closed', Promise.all(this.#clients.map(client => client.close())))
    // The last packets, and the ends of faults.
    await this.#clock.advance(5000)
    for (const session of this.#server.snapshot().sessions) this.#wrong.push(`a session is left: ${session.id}`)
    await this.#server.close()
    if (this.#clock.pendingTimers > 0) this.#wrong.push(`${this.#clock.pendingTimers} timers are left`)
    for (const { rule, lock, what } of this.#judge()) this.#wrong.push(`${rule}: ${lock}: ${what}`)
    const grants = this.#events.filter(event => event.is === 'granted').length
    return {
      violations: this.#wrong,
      trace: () => this.#trace.map(([at, what]) => `${at.toFixed(2)} ${told(what)}`),
      grants,
      faults: this.#faults,
    }
  }

  #judge() {
    return violations({
      locks: kindsOf(this.#locks),
      events: this.#events,
      log: this.#log,
      wallAhead: this.#clock.wallNow() - this.#clock.now(),
      patience: PATIENCE,
      grace: this.#sessionTimeout + 500,
    })
  }

  async #play(machines: number, loops: number): Promise<void> {
    const seats = await Promise.all(Array.from({ length: machines }, () => this.#sit()))
    this.#seats.push(...seats)
    const working = seats.flatMap(seat => Array.from({ length: loops }, () => this.#work(seat, this.#chance())))
    const harming = this.#harm(this.#chance())
    await this.#sleep(STORM)
    this.#isStorm = false
    await harming
    this.#heal()
    await Promise.all(working)
    await Promise.all(this.#contestants.map(contestant => contestant.left()))
  }

  async #until(what: string, promise: Promise<unknown>, within = DRAIN): Promise<void> {
    try {
      await this.#clock.until(promise, { within })
    } catch (error) {
      this.#wrong.push(`not in time: ${what} (${String(error)})`)
    }
  }

  // Those who want locks

  async #sit(): Promise<Seat> {
    const random = this.#chance()
    const machine = new Machine(this.#clock, random)
    return { machine, random, contestant: await this.#enter(machine, random) }
  }

  async #enter(machine: Machine, random: Chance): Promise<Contestant> {
    for (;;) {
      try {
        const contestant = await this.#recorder.open(this.#server.connectString, {
          sessionTimeout: this.#sessionTimeout,
          clock: machine,
          random,
          dial: machine.dialThrough(this.#server.dial),
          onUncaughtError: error => this.#wrong.push(`a callback threw ${String(error)}`),
        })
        this.#clients.push(contestant.client)
        this.#contestants.push(contestant)
        return contestant
      } catch {
        await machine.sleep(10)
      }
    }
  }

  /** Wants one lock after the other, in every way there is; in a session of its own when the seat's is over. */
  async #work(seat: Seat, random: Chance): Promise<void> {
    const { machine } = seat
    while (this.#isStorm) {
      const { contestant } = seat
      const [path, { make }] = oneOf(random, [...this.#locks])
      const way = random()
      const length = random()
      const hold = length < 0.03 ? 1.5 * this.#sessionTimeout : length < 0.3 ? 100 * random() : 5 * random()
      const patience = 1 + Math.floor(300 * random())
      const abort = new AbortController()
      const giveUp = way < 0.25 ? machine.setTimeout(() => abort.abort(new Error('given up')), patience) : undefined
      await contestant.pass(make(contestant.client, path, random), () => machine.sleep(hold), {
        signal: abort.signal,
        watchOwnNode: true,
        ...(way > 0.9 && { timeout: patience }),
        isTry: way > 0.75 && way < 0.9,
        downgrade: random() < 0.3,
        isHasty: random() < 0.3,
        // Each loop is somebody, and his chance is his own.
        owner: random,
      })
      machine.clearTimeout(giveUp)
      if (this.#isOver(contestant) && seat.contestant === contestant) {
        const next = await this.#enter(machine, seat.random)
        if (seat.contestant === contestant) seat.contestant = next
      }
      await machine.sleep(random() < 0.3 ? 100 * random() : random() < 0.5 ? 5 : 0)
    }
  }

  #isOver({ client }: Contestant): boolean {
    return ['expired', 'closed', 'authFailed'].includes(client.state)
  }

  // What befalls them

  /** Each world has its own mixture, so that few kinds of faults come close together too. */
  async #harm(random: Chance): Promise<void> {
    const { deleteOne, deleteAll, ...others } = this.#harms
    const namesReturn = [...this.#locks.values()].some(lock => lock.namesReturn)
    const kinds = namesReturn ? others : { ...others, deleteOne, deleteAll }
    const mixture = Object.entries<(seat: Seat, harm: Harm) => void>(kinds).filter(() => random() < 0.4)
    const pause = oneOf(random, [30, 120, 500])
    this.#note(`faults: ${mixture.map(([kind]) => kind).join(', ')}`)
    while (this.#isStorm) {
      await this.#sleep(2 * pause * random())
      if (mixture.length === 0) continue
      const [kind, harm] = oneOf(random, mixture)
      const seat = oneOf(random, this.#seats)
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1)
      this.#note(`${kind} ${seat.contestant.client.sessionId}`)
      const ms = this.#sessionTimeout * oneOf(random, [0.1, 0.3, 0.7, 1.5])
      harm(seat, { random, ms })
    }
  }

  readonly #harms = {
    cut: ({ machine }: Seat) => machine.cut(),
    block: ({ machine, contestant }: Seat, { random, ms }: Harm) => {
      this.#hush(contestant)
      const which = random()
      if (which < 0.7) machine.block('up')
      if (which > 0.3) machine.block('down')
      void this.#sleep(ms).then(() => {
        machine.unblock()
        this.#unhush(contestant)
      })
    },
    stop: ({ machine, contestant }: Seat, { ms }: Harm) => {
      this.#hush(contestant)
      machine.stop()
      void this.#sleep(ms).then(() => {
        machine.goOn()
        this.#unhush(contestant)
      })
    },
    hold: ({ contestant }: Seat, { random, ms }: Harm) => {
      const fault = this.#server.faults.hold(oneOf(random, KINDS), { session: contestant.client.sessionId })
      void fault.triggered.then(async () => {
        this.#hush(contestant)
        await this.#sleep(ms / 2)
        fault.release()
        this.#unhush(contestant)
      })
    },
    drop: ({ contestant: { client } }: Seat, { random }: Harm) =>
      void this.#server.faults.drop(oneOf(random, KINDS), { session: client.sessionId }),
    ignore: ({ contestant: { client } }: Seat, { random }: Harm) => {
      const kind = oneOf(random, KINDS)
      if (kind !== 'event') this.#server.faults.ignore(kind, { session: client.sessionId })
    },
    cutAfter: ({ contestant: { client } }: Seat, { random }: Harm) =>
      this.#server.faults.cutAfter(Math.floor(200 * random()), { session: client.sessionId }),
    throttle: ({ contestant: { client } }: Seat, { random }: Harm) => {
      const kind = oneOf(random, ['create', 'delete', 'exists', 'getChildren', 'getData', 'multi'] as const)
      this.#server.faults.replace(kind, 'THROTTLEDOP', { session: client.sessionId })
    },
    expire: ({ contestant: { client } }: Seat) => {
      this.#recorder.say({ is: 'killed', session: client.sessionId })
      this.#server.expireSession(client.sessionId)
    },
    close: ({ machine, contestant: { client } }: Seat) => machine.run(() => void client.close()),
    deleteOne: (_: Seat, { random }: Harm) => {
      const node = this.#oneNode(random, 'ephemeral')
      if (node !== undefined) this.#outsider.delete(node.path).catch(() => undefined)
    },
    deleteAll: (_: Seat, { random }: Harm) => {
      const node = this.#oneNode(random, 'container', 'persistent')
      if (node !== undefined && random() < 0.2) this.#outsider.deleteRecursive(node.path).catch(() => undefined)
    },
    /** The numbers of a directory come to their end. */
    exhaust: (_: Seat, { random }: Harm) => {
      const node = this.#oneNode(random, 'container', 'persistent')
      if (node === undefined || this.#exhausted.has(node.madeBy) || random() < 0.8) return
      this.#exhausted.add(node.madeBy)
      this.#server.setSequenceCounter(node.path, 0x7fff_ffff - Math.floor(5 * random()))
    },
    dropAll: () => this.#server.dropConnections(),
    pause: (_: Seat, { ms }: Harm) => {
      for (const { contestant } of this.#seats) this.#hush(contestant)
      this.#server.pause()
      void this.#sleep(ms).then(() => {
        this.#server.resume()
        for (const { contestant } of this.#seats) this.#unhush(contestant)
      })
    },
  }

  /** One of the nodes of such a life that belong to the locks, if there is any. */
  #oneNode(random: Chance, ...lives: NodeKind['is'][]): { path: string; madeBy: bigint } | undefined {
    const isLocks = (path: string) => [...this.#locks.keys()].some(lock => path === lock || path.startsWith(`${lock}/`))
    const all = [...this.#server.snapshot().nodes].filter(
      ([path, { kind }]) => lives.includes(kind.is) && isLocks(path),
    )
    return oneOf(
      random,
      all.map(([path, { stat }]) => ({ path, madeBy: stat.czxid })),
    )
  }

  /** Nothing reaches it, whatever its state says. */
  #hush({ client }: Contestant): void {
    this.#recorder.say({ is: 'cutOff', session: client.sessionId })
  }

  #unhush({ client }: Contestant): void {
    if (client.state === 'connected') this.#recorder.say({ is: 'connected', session: client.sessionId })
  }

  #heal(): void {
    this.#note('healed')
    this.#server.faults.clear()
    this.#server.resume()
    for (const { machine, contestant } of this.#seats) {
      machine.unblock()
      machine.goOn()
      this.#unhush(contestant)
    }
  }

  // The rest

  #onTransaction(transaction: Transaction): void {
    this.#log.push(transaction)
    if (transaction.changes.length > 0) this.#note(transaction)
  }

  #note(what: string | Event | Transaction): void {
    this.#trace.push([this.#clock.now(), what])
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.#clock.setTimeout(resolve, ms))
  }

  /** Everybody draws for himself, so that what one does changes nothing for another. */
  #chance(): Chance {
    return seeded(this.#seed + 7919 * this.#drawers++)
  }
}

interface Harm {
  random: Chance
  ms: number
}

function told(what: string | Event | Transaction): string {
  if (typeof what === 'string') return what
  if (!('zxid' in what)) return toLine(what)
  return `transaction ${what.zxid} of ${what.session}: ${what.changes.map(({ is, path }) => `${is} ${path}`).join(', ')}`
}
