// Random nemeses stop, start, pause, resume, delay and cut off the servers: in any order, or one after the other, as an
// operator does. When all this is undone, every server must serve again, with every write that was acknowledged. A failure
// prints the seed: SEED=… NEMESES=1.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { INIT_LIMIT } from '../../src/server/ensemble/leading.ts'
import { Server, type Member } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { oneOf, seed, seededRandom, type Random } from '../support/seeded-random.ts'
import { SYNC_LIMIT, TICK, UNAWARE } from '../support/virtual-ensemble.ts'

const runs = Number(process.env['NEMESES'] ?? 25)
const STEPS = 25

type Target = Server | Member

const actions = {
  stop: (target: Target) => void target.stop(),
  start: (target: Target) => void target.start(),
  pause: (target: Target) => target.pause(),
  resume: (target: Target) => target.resume(),
  dropConnections: (target: Target) => target.dropConnections(),
  elect: (_: Target, server: Server, random: Random) =>
    void (server.members.length > 0 && server.elect(random() < 0.5 ? oneOf(random, server.members) : undefined)),
  lag: (target: Target, _: Server, random: Random) =>
    'lag' in target ? target.lag(oneOf(random, [0, 50, 1500])) : undefined,
  cutOff: (target: Target, _: Server, random: Random) =>
    'cutOff' in target ? target.cutOff(oneOf(random, ['both', 'incoming', 'outgoing'])) : undefined,
  partition: (_: Target, server: Server, random: Random) => {
    const [some, others]: Member[][] = [[], []]
    for (const member of server.members) (random() < 0.5 ? some : others)?.push(member)
    if (server.members.length > 0) server.partition([some ?? [], others ?? []])
  },
  heal: (target: Target) => target.heal(),
}

/** What an operator does to one member after the other, and what ends it. */
const kindsOfRounds: Record<string, readonly [(member: Member) => void, (member: Member) => void]> = {
  'stop, start': [member => void member.stop(), member => void member.start()],
  'pause, resume': [member => member.pause(), member => member.resume()],
  'cutOff, heal': [member => member.cutOff(), member => member.heal()],
  'lag, lag(0)': [member => member.lag(1500), member => member.lag(0)],
}

/**
 * How long servers wait for each other after all was undone, in milliseconds. A server that others have elected, and then
 * left, waits for followers until initLimit has passed (Leader.getEpochToPropose). Then there are an election and a tick.
 */
const HEALED = INIT_LIMIT * SYNC_LIMIT * TICK + 2 * TICK

class Run {
  readonly clock = new VirtualClock()
  readonly random: Random
  readonly trace: string[] = []
  readonly #acknowledged: string[] = []
  readonly #clients: Client[] = []
  #server!: Server

  constructor(runSeed: number) {
    this.random = seededRandom(runSeed)
  }

  async run(): Promise<void> {
    const { random, clock } = this
    const servers = oneOf(random, [1, 1, 2, 3, 3, 5])
    // An operator does nothing but rounds, and few of them.
    const [rounds, steps] = oneOf(random, [
      [0.05, STEPS],
      [0.05, STEPS],
      [1, 4],
    ] as const)
    const observers = servers === 1 ? 0 : oneOf(random, [0, 0, 1, 2])
    this.#server = await Server.start({
      servers,
      observers,
      listen: false,
      clock,
      random,
      tickTime: TICK,
      syncLimit: SYNC_LIMIT,
    })
    await this.#open(this.#server)
    for (let step = 0; step < steps; step++) {
      if (random() < rounds) await this.#round()
      else await this.#act()
      this.#write(`/n-${step}`)
      if (random() < 0.5) await this.#advance(oneOf(random, [0, 1, 100, 250, 1000, 8000]))
    }
    await this.#undo()
    await this.#check()
    await this.#close()
  }

  async #act(): Promise<void> {
    const { random } = this
    const server = this.#server
    const target = random() < 0.4 ? server : oneOf(random, [server, ...server.members])
    const name = oneOf(random, Object.keys(actions) as (keyof typeof actions)[])
    this.trace.push(`${target === server ? 'server' : `member ${(target as Member).id}`}: ${name}`)
    actions[name](target, server, random)
    // Half of the calls overlap with the next one.
    if (random() < 0.5) await this.#advance(0)
  }

  /** Goes through all members: either ends what it does to one before the next one, or does it to all and then ends it. */
  async #round(): Promise<void> {
    const { random } = this
    const { members, leader } = this.#server
    const [name, [act, end]] = oneOf(random, Object.entries(kindsOfRounds))
    const order = oneOf(random, [
      [...members],
      [...members].reverse(),
      members.toSorted(each => (each === leader ? 1 : -1)),
    ])
    const isOneByOne = random() < 0.5
    const [during, after] = [oneOf(random, [0, 150, 8000]), oneOf(random, [0, 150, 1000, 8000])]
    const steps = isOneByOne
      ? order.flatMap(member => [
          { member, step: act, wait: during },
          { member, step: end, wait: after },
        ])
      : [act, end].flatMap(step => order.map(member => ({ member, step, wait: step === act ? during : after })))
    const how = isOneByOne ? 'one by one' : 'all, and then all'
    this.trace.push(`members ${order.map(({ id }) => id).join(' ')}: ${name}, ${how}, ${during} and ${after} ms apart`)
    for (const { member, step, wait } of steps) {
      step(member)
      await this.clock.advance(wait)
    }
  }

  #write(path: string): void {
    const client = this.#clients.at(-1)
    const created = () => void this.#acknowledged.push(path)
    client?.create(path).then(created, () => undefined)
  }

  async #undo(): Promise<void> {
    const server = this.#server
    this.trace.push('everything: resume, heal, start')
    server.resume()
    server.heal()
    for (const member of server.members) member.lag(0)
    await server.start()
    await this.#advance(HEALED)
    for (const member of server.members) {
      await member.stop()
      await this.#advance(UNAWARE)
      await member.start()
      await this.#advance(2 * TICK)
      const modes = server.members.map(({ mode }) => mode)
      expect(modes, `after a restart of member ${member.id}`).not.to.include('looking')
    }
  }

  /** Every server serves reads and writes, and has every write that a client was told of. */
  async #check(): Promise<void> {
    const server = this.#server
    const acknowledged = [...this.#acknowledged]
    const targets = server.members.length > 0 ? server.members : [server]
    const modes = server.members.map(({ mode }) => mode).filter(mode => mode !== 'observer')
    if (modes.length > 0) expect(modes.sort()).to.deep.equal([...modes.slice(1).map(() => 'follower'), 'leader'])
    for (const [i, target] of targets.entries()) {
      const client = await this.#open(target)
      await this.clock.until(client.create(`/after-${i}`), { within: TICK })
      await this.clock.until(client.sync('/'), { within: TICK })
      const { children } = await this.clock.until(client.getChildren('/'), { within: TICK })
      expect(children).to.include.members(acknowledged.map(path => path.slice(1)))
    }
    await this.#advance(0)
    const [first, ...others] = targets.map(each => each.snapshot())
    for (const each of others) expect(each.nodes).to.deep.equal(first?.nodes)
  }

  async #open(target: Target): Promise<Client> {
    const { clock } = this
    const joining = connect(target.connectString, { dial: target.dial, clock, sessionTimeout: 20 * TICK })
    const client = await clock.until(joining, { within: 2 * TICK })
    this.#clients.push(client)
    return client
  }

  async #close(): Promise<void> {
    const closed = Promise.allSettled(this.#clients.map(client => client.close({ timeout: 1000 })))
    await this.#advance(1000)
    await closed
    await this.#server.close()
    expect(this.clock.pendingTimers).to.equal(0)
  }

  async #advance(ms: number): Promise<void> {
    if (ms > 0) this.trace.push(`${ms} ms`)
    await this.clock.advance(ms)
  }
}

describe(`an embedded server under ${runs} random nemeses (SEED=${seed})`, function () {
  this.timeout(60_000 + runs * 1000)

  it('serves again when they have ended, with all that it had acknowledged', async () => {
    for (let i = 0; i < runs; i++) {
      const run = new Run(seed + i)
      try {
        await run.run()
      } catch (error) {
        throw new Error(`SEED=${seed + i} NEMESES=1\n${run.trace.join('\n')}`, { cause: error })
      }
    }
  })
})
