// The machine that measures: its own processes and those of the other machines have the sessions of a run.
import { randomUUID } from 'node:crypto'
import { Queue } from '../../src/recipes/index.ts'
import type { CommandMessage } from '../harness/messages.ts'
import type { UnitOwner, UnitStart } from '../harness/workers.ts'
import { Fleet, type Arrivals, type Machine, type Meeting, type Order, type Report } from './meeting.ts'
import { decode, MessageQueue } from './message-queue.ts'
import { processUnits } from './processes.ts'

const OUTBOX = 'outbox-'
/** The time that the other machines have to leave at the end, ms. */
const LEAVING_TIMEOUT = 10_000

/** A machine has left or died while its sessions were measured. */
export class MachineLost extends Error {
  readonly machine: string

  constructor(machine: string) {
    super(`the machine ${machine} has left the run or died`)
    this.machine = machine
  }
}

export class Organizer implements AsyncDisposable {
  readonly #fleet: Fleet
  readonly #others = new Map<string, OtherMachine>()
  readonly #own: Machine

  private constructor(fleet: Fleet, machines: ReadonlyMap<string, Machine>, own: Machine) {
    this.#fleet = fleet
    this.#own = own
    for (const [id, machine] of machines)
      if (id !== fleet.id) this.#others.set(id, new OtherMachine(fleet, id, machine))
  }

  /**
   * Resolves when this many machines, with this one, have joined.
   * @param onWaiting called with the number of the machines that are there
   * @throws Error if another program organizes a run there
   */
  static async gather(
    meeting: Meeting,
    { machines: count, processes }: { machines: number; processes: number },
    onWaiting: (machines: number) => void,
    signal: AbortSignal,
  ): Promise<Organizer> {
    // Undefined until all machines are there.
    let organizer: Organizer | undefined
    const arrivals: Arrivals = {
      onLeft: id => {
        if (organizer !== undefined) organizer.#onLeft(id)
      },
      onJoined: (id, machine) => {
        if (organizer !== undefined) organizer.#refuse(id, machine)
      },
    }
    const fleet = await Fleet.join(meeting, { processes, organizes: true }, arrivals, signal)
    try {
      // Only the program that joins last looks for another organizer: if both did, the first might leave unseen.
      const rival = [...fleet.machines].find(([id, { organizes }]) => organizes && id !== fleet.id)
      if (rival !== undefined) throw new Error(`${rival[1].name} organizes a run there already`)
      const machines = await fleet.until(there => {
        onWaiting(there.size)
        return there.size >= count
      }, signal)
      const own = machines.get(fleet.id)
      if (own === undefined) throw new Error('this machine was removed from the run')
      organizer = new Organizer(fleet, machines, own)
      return organizer
    } catch (error) {
      await fleet[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The machines that take part, this one first. */
  get machines(): Machine[] {
    return [this.#own, ...[...this.#others.values()].map(({ machine }) => machine)]
  }

  get processes(): number {
    return this.machines.reduce((sum, { processes }) => sum + processes, 0)
  }

  /** Starts the processes of all machines for one run. */
  readonly units = (_count: number, servers: string, fencePath: string): UnitStart[] => [
    ...processUnits(this.#own.processes, servers, fencePath),
    ...[...this.#others.values()].flatMap(other => other.units(servers, fencePath)),
  ]

  /** Dismisses the other machines, and leaves. */
  async [Symbol.asyncDispose](): Promise<void> {
    const fleet = this.#fleet
    const { client, path } = fleet
    try {
      await Promise.allSettled([...this.#others.values()].map(other => other.dismiss()))
      // They would take this machine for a dead one if it left before them.
      await fleet.until(there => there.size <= 1, AbortSignal.timeout(LEAVING_TIMEOUT)).catch(() => undefined)
      const { children } = await client.getChildren(path)
      // Machines that have died could not remove their nodes.
      const nodes = children.filter(name => name === 'inbox' || name.startsWith(OUTBOX))
      await Promise.all(nodes.map(name => client.deleteRecursive(`${path}/${name}`)))
    } finally {
      await fleet[Symbol.asyncDispose]()
    }
  }

  /** Sends a machine away that has joined after the run began. Another organizer goes by itself. */
  #refuse(id: string, { organizes }: Machine): void {
    if (organizes || this.#others.has(id)) return
    const { client } = this.#fleet
    // It leaves of its own accord if it cannot be told, because the organizer leaves too at the end.
    new MessageQueue<Order>(new Queue(client, this.#fleet.inboxOf(id)), () => undefined).send({ is: 'refuse' })
  }

  #onLeft(id: string): void {
    const other = this.#others.get(id)
    this.#others.delete(id)
    other?.lost()
  }
}

/** The processes of another machine. */
class OtherMachine {
  readonly machine: Machine
  readonly #fleet: Fleet
  readonly #id: string
  readonly #inbox: MessageQueue<Order>
  #owners: readonly (UnitOwner | undefined)[] = []
  #consuming: Promise<void> = Promise.resolve()

  constructor(fleet: Fleet, id: string, machine: Machine) {
    this.machine = machine
    this.#fleet = fleet
    this.#id = id
    this.#inbox = new MessageQueue(new Queue(fleet.client, fleet.inboxOf(id)), error => this.#fail(error as Error))
  }

  units(servers: string, fencePath: string): UnitStart[] {
    const { client, path } = this.#fleet
    const outbox = `${path}/${OUTBOX}${randomUUID().slice(0, 8)}`
    const owners: (UnitOwner | undefined)[] = []
    const stop = new AbortController()
    this.#owners = owners
    this.#inbox.send({ is: 'begin', servers, fencePath, outbox })
    this.#consuming = new Queue(client, outbox)
      .consume(
        ({ data }) => {
          for (const { unit, message } of decode<Report>(data ?? Buffer.alloc(0))) owners[unit]?.received(message)
        },
        { signal: stop.signal },
      )
      .catch((error: unknown) => this.#fail(error as Error))
      .then(() => client.deleteRecursive(outbox))
      .catch(() => undefined)
    return Array.from({ length: this.machine.processes }, (_, unit): UnitStart => owner => {
      owners[unit] = owner
      return {
        clock: this.#id,
        send: (message: CommandMessage) => this.#inbox.send({ is: 'command', unit, message }),
        terminate: () => this.#end(stop),
      }
    })
  }

  lost(): void {
    this.#fail(new MachineLost(this.machine.name))
  }

  async dismiss(): Promise<void> {
    this.#inbox.send({ is: 'dismiss' })
    await this.#inbox.sent()
  }

  async #end(stop: AbortController): Promise<void> {
    if (!stop.signal.aborted) {
      stop.abort()
      this.#inbox.send({ is: 'end' })
    }
    await this.#consuming
  }

  #fail(error: Error): void {
    for (const owner of this.#owners) owner?.lost(error)
  }
}
