// Where the machines of a run meet: the nodes below a path of a ZooKeeper.
import { randomUUID } from 'node:crypto'
import { availableParallelism, hostname } from 'node:os'
import { connect, type Client } from '../../src/index.ts'
import { Membership, type GroupMember } from '../../src/recipes/index.ts'
import type { CommandMessage, Notice, Reply } from '../harness/messages.ts'

/** The servers and the path at which machines meet. */
export interface Meeting {
  servers: string
  path: string
}

export interface Machine {
  /** The host and the process, such as 'bench-2 (4711)'. */
  name: string
  /** The number of processes with sessions. */
  processes: number
  cores: number
  /** True for the machine that was started with --machines. */
  organizes: boolean
}

/** What the organizer sends to the inbox of a machine. */
export type Order =
  | { is: 'begin'; servers: string; fencePath: string; outbox: string }
  | { is: 'command'; unit: number; message: CommandMessage }
  | { is: 'end' }
  /** The run is over. */
  | { is: 'dismiss' }
  /** The run began before this machine joined. */
  | { is: 'refuse' }

/** What a machine sends to the outbox of a run. */
export interface Report {
  machine: string
  unit: number
  message: Notice | Reply
}

/** A machine that has died is noticed after this time, ms. */
const SESSION_TIMEOUT = 8000

export interface Arrivals {
  /** Called with the id of each machine that has left or died. */
  onLeft: (id: string) => void
  onJoined?: (id: string, machine: Machine) => void
}

export class Fleet implements AsyncDisposable {
  readonly client: Client
  readonly path: string
  readonly id: string
  readonly #membership: Membership

  private constructor(client: Client, path: string, id: string, membership: Membership) {
    this.client = client
    this.path = path
    this.id = id
    this.#membership = membership
  }

  static async join(
    { servers, path }: Meeting,
    { processes, organizes }: Pick<Machine, 'processes' | 'organizes'>,
    { onLeft, onJoined }: Arrivals,
    signal: AbortSignal,
  ): Promise<Fleet> {
    const client = await connect(servers, { sessionTimeout: SESSION_TIMEOUT, signal })
    const name = `${hostname()} (${process.pid})`
    const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
    const machine: Machine = { name, processes, cores: availableParallelism(), organizes }
    const membership = new Membership(`${path}/machines`, { id, data: JSON.stringify(machine) })
    membership.on('change', ({ joined, left }) => {
      for (const member of left) onLeft(member.id)
      for (const member of joined) onJoined?.(member.id, machineOf(member))
    })
    try {
      await membership.start(client, { signal })
    } catch (error) {
      await client.close()
      throw error
    }
    return new Fleet(client, path, id, membership)
  }

  /** The machines that are there, by id. This one is among them. */
  get machines(): ReadonlyMap<string, Machine> {
    return new Map(this.#membership.members.map(member => [member.id, machineOf(member)]))
  }

  /** Resolves when the condition holds for the machines that are there. */
  async until(
    condition: (machines: ReadonlyMap<string, Machine>) => boolean,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Machine>> {
    for await (const _change of this.#membership.changes({ signal })) if (condition(this.machines)) break
    return this.machines
  }

  inboxOf(id: string): string {
    return `${this.path}/inbox/${id}`
  }

  /** Leaves, and removes the nodes that no other machine needs. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { client, path } = this
    try {
      await this.#membership.close()
      await client.deleteRecursive(this.inboxOf(this.id)).catch(() => undefined)
      for (const node of [`${path}/inbox`, `${path}/machines`, path])
        // Another machine is still there, or has removed the node.
        await client.delete(node).catch(() => undefined)
    } finally {
      await client.close()
    }
  }
}

const machineOf = ({ data }: GroupMember): Machine => JSON.parse(String(data)) as Machine
