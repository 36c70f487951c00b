// Producers and consumers of a queue in a random world, and what must be true of them.
import { Queue, type QueueItem } from '../../../src/recipes/index.ts'
import { oneOf } from '../../support/seeded-random.ts'
import type { Happened, Host, World } from '../worlds.ts'

/** Checks that no two consumers have an item at the same time while their sessions live, and that no item is lost. */
export class QueueModel {
  readonly #world: World
  readonly #happened: Happened
  readonly #holders = new Map<string, { item: QueueItem; session: bigint }>()
  /** Items that were put for certain. */
  readonly #put = new Set<string>()
  readonly #perhapsPut = new Set<string>()
  readonly #completed = new Set<string>()
  /** Items whose complete() failed because the session ended: the server may have executed it. */
  readonly #perhapsCompleted = new Set<string>()
  /** All queues that were opened, each with its session. */
  readonly #queues = new Map<Queue, bigint>()
  #count = 0

  constructor(world: World, happened: Happened) {
    this.#world = world
    this.#happened = happened
  }

  async produce(host: Host): Promise<void> {
    const world = this.#world
    let queue = this.open(host)
    for (let i = 0; i < 5; i++) {
      const names = Array.from({ length: 1 + Math.floor(3 * world.random()) }, () => `item ${++this.#count}`)
      const priority = oneOf(world.random, [0, 100, 100, 500])
      await queue.putMany(names, { priority }).then(
        () => names.forEach(name => this.#put.add(name)),
        () => names.forEach(name => this.#perhapsPut.add(name)),
      )
      await world.sleep(oneOf(world.random, [0, 1, 30]))
      queue = await this.#reopened(host, queue)
    }
  }

  async consume(host: Host, until: () => Promise<boolean>): Promise<void> {
    const world = this.#world
    let queue = this.open(host)
    while (!(await until())) {
      const taking =
        world.random() < 0.7 ? queue.take({ timeout: oneOf(world.random, [5, 50, 500]) }) : this.#tryTake(queue)
      const item = await taking.catch(() => null)
      if (item === null) await world.sleep(oneOf(world.random, [1, 20]))
      else await this.#process(this.#queues.get(queue) ?? 0n, item)
      queue = await this.#reopened(host, queue)
    }
  }

  /** Checks a null: no item was free from the call to its end, unless one was taken or given back meanwhile. */
  async #tryTake(queue: Queue): Promise<QueueItem | null> {
    const before = this.#present()
    const item = await queue.tryTake({ timeout: 500 })
    const after = this.#present()
    this.#happened(item === null ? 'found nothing' : 'found an item')
    const missed = before.free.find(name => after.free.includes(name))
    if (item === null && missed !== undefined && before.changes === after.changes)
      this.#world.violations.push(`tryTake() resolved with null although ${missed} was free`)
    return item
  }

  /** The items that are not taken, and a number that grows when one is taken or given back. */
  #present(): { free: string[]; changes: number | undefined } {
    const { nodes } = this.#world.server.snapshot()
    const entries = [...nodes.keys()].flatMap(path => /^\/queue\/entries\/(.+)/.exec(path)?.[1] ?? [])
    const free = entries.filter(name => !nodes.has(`/queue/taken/${name}`))
    return { free, changes: nodes.get('/queue/taken')?.stat.cversion }
  }

  open({ client }: Host): Queue {
    const queue = new Queue(client, '/queue')
    this.#queues.set(queue, client.sessionId)
    return queue
  }

  async #reopened(host: Host, queue: Queue): Promise<Queue> {
    const { client } = host
    await this.#world.reopen(host)
    if (host.client === client && this.#world.random() < 0.9) return queue
    await queue.close()
    return this.open(host)
  }

  async #process(session: bigint, item: QueueItem): Promise<void> {
    const world = this.#world
    const data = String(item.data)
    const other = this.#holders.get(data)
    // If the reply was delayed until after the end of the session, the consumer learns of the end later.
    if (world.isAlive(session)) {
      if (other !== undefined && world.isAlive(other.session))
        world.violations.push(`${data} has two consumers at a time`)
      if (this.#completed.has(data)) world.violations.push(`${data} was taken after it was completed`)
    }
    const holder = { item, session }
    this.#holders.set(data, holder)
    const end = () => {
      if (this.#holders.get(data) === holder) this.#holders.delete(data)
    }
    await world.sleep(oneOf(world.random, [0, 0, 1, 20, 300]))
    const chance = world.random()
    if (chance < 0.2 && world.isFaulty) {
      // The reply may arrive after another consumer has the item, so this one gives it up before the call.
      end()
      this.#happened('released')
      await item.release().catch(() => undefined)
    } else {
      await item.complete().then(
        () => {
          this.#happened('completed')
          this.#completed.add(data)
        },
        () => {
          this.#happened('lost')
          this.#perhapsCompleted.add(data)
        },
      )
      end()
    }
  }

  async check(): Promise<void> {
    const world = this.#world
    for (const queue of this.#queues.keys()) await queue.close()
    for (const name of this.#put)
      if (!this.#completed.has(name) && !this.#perhapsCompleted.has(name)) world.violations.push(`${name} is lost`)
    for (const name of this.#completed)
      if (!this.#put.has(name) && !this.#perhapsPut.has(name)) world.violations.push(`${name} was never put`)
    if ((await new Queue(world.observer, '/queue').size()) > 0) world.violations.push('an item is left')
    const { nodes } = world.server.snapshot()
    for (const path of nodes.keys())
      if (/^\/queue\/(?!(entries|taken)$)/.test(path)) world.violations.push(`${path} is left`)
  }
}
