// Locks that only send the requests of a hand-over among contenders that never fail: the lower limit for each kind of
// lock. They are no locks for programs, because they handle no error, no lost connection and no contender that gives up.
import type { HandOver } from '../workloads.ts'
import type { PlainSession } from './plain-session.ts'

type Release = () => Promise<unknown>

const EPHEMERAL_SEQUENTIAL = 3
const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const data = Buffer.alloc(0)
const numberOf = (path: string): number => Number(path.slice(-10))
const digitsOf = (number: number): string => String(number).padStart(10, '0')

/** One contender of a lock in a directory of its own, which exists. */
abstract class PlainLock {
  protected readonly session: PlainSession
  protected readonly directory: string

  constructor(session: PlainSession, directory: string) {
    this.session = session
    this.directory = directory
  }

  abstract acquire(): Promise<Release>

  protected async create(): Promise<string> {
    const { create2 } = this.session.protocol.operations
    const body = { path: `${this.directory}/lock-`, data, acl, flags: EPHEMERAL_SEQUENTIAL }
    return (await this.session.call(create2, body)).reply.path
  }

  protected delete(path: string): Promise<unknown> {
    return this.session.call(this.session.protocol.operations.delete, { path, version: -1 })
  }

  /** Watches the own node, a second one if there is one, and perhaps a node that is to be created, by one request. */
  protected setWatches(dataWatches: string[], existWatches: string[] = []): void {
    const { setWatches } = this.session.protocol.operations
    const relativeZxid = 0x7fff_ffff_ffff_ffffn
    void this.session.call(setWatches, { relativeZxid, dataWatches, existWatches, childWatches: [] })
  }

  protected async readDirectory(): Promise<number> {
    const { getData } = this.session.protocol.operations
    const { reply } = await this.session.call(getData, { path: this.directory, watch: false })
    return reply.data?.length === 10 ? Number(reply.data.toString()) : -1
  }

  /** Watches the own node, the predecessor and the contender before that, as a waiter does that looks ahead. */
  protected watch(own: string, predecessor: string, second: string | undefined) {
    const { getData } = this.session.protocol.operations
    const secondGone = second === undefined ? undefined : this.session.event(second)
    const event = this.session.event(predecessor)
    this.setWatches(second === undefined ? [own] : [own, second])
    const watched = async (): Promise<unknown> => {
      const { err } = await this.session.call(getData, { path: predecessor, watch: true })
      return err === 0 ? event : undefined
    }
    return { secondGone, predecessorGone: watched() }
  }
}

/** The requests of a Mutex. */
class PlainMutex extends PlainLock {
  override async acquire(): Promise<Release> {
    const [own, listed] = await Promise.all([this.create(), this.#list()])
    const release = () => this.delete(own)
    for (let ahead = aheadOf(own, listed); ahead.length > 0; ahead = aheadOf(own, await this.#list())) {
      const [predecessor = '', second] = ahead
      const { secondGone, predecessorGone } = this.watch(own, predecessor, second)
      if (secondGone !== undefined) {
        await Promise.race([secondGone, predecessorGone])
        if (aheadOf(own, await this.#list())[0] !== predecessor) continue
      }
      await predecessorGone
      return release
    }
    return release
  }

  async #list(): Promise<string[]> {
    const { getChildren2 } = this.session.protocol.operations
    const { reply } = await this.session.call(getChildren2, { path: this.directory, watch: false })
    return reply.children.map(name => `${this.directory}/${name}`)
  }
}

/** Returns the two nearest contenders ahead, the nearest first. */
const aheadOf = (own: string, all: readonly string[]): string[] =>
  all
    .filter(path => path < own)
    .sort()
    .slice(-2)
    .reverse()

/** The requests of a TicketMutex. */
class PlainTickets extends PlainLock {
  override async acquire(): Promise<Release> {
    const [own, released] = await Promise.all([this.create(), this.readDirectory()])
    const pathOf = (ahead: number) => own.slice(0, -10) + digitsOf(numberOf(own) - ahead)
    if (numberOf(own) - 1 > released) {
      const second = numberOf(own) - 2 > released ? pathOf(2) : undefined
      const { secondGone, predecessorGone } = this.watch(own, pathOf(1), second)
      if (secondGone !== undefined) {
        await Promise.race([secondGone, predecessorGone])
        await this.readDirectory()
      }
      await predecessorGone
    }
    return () => this.release(own)
  }

  protected release(own: string): Promise<unknown> {
    const { multi } = this.session.protocol.operations
    const { setData, delete: remove } = this.session.protocol.opcodes
    return this.session.call(multi, [
      { type: setData, body: { path: this.directory, data: Buffer.from(own.slice(-10)), version: -1 } },
      { type: remove, body: { path: own, version: -1 } },
    ])
  }
}

/**
 * A lock that does not exist: the holder names the next one. Its release also creates and deletes a node that only the
 * next holder waits for. So no waiter looks ahead, and each is woken once.
 */
class SignalledTickets extends PlainLock {
  override async acquire(): Promise<Release> {
    const [own, released] = await Promise.all([this.create(), this.readDirectory()])
    const predecessor = numberOf(own) - 1
    if (predecessor > released) {
      const signal = this.#signalOf(predecessor)
      const signalled = this.session.event(signal)
      this.setWatches([own, own.slice(0, -10) + digitsOf(predecessor)], [signal])
      // The release may be older than the watch.
      const missed = this.session.event(own.slice(0, -10) + digitsOf(predecessor))
      await Promise.race([signalled, missed])
    }
    return () => this.#release(own)
  }

  #release(own: string): Promise<unknown> {
    const { multi } = this.session.protocol.operations
    const { setData, create, delete: remove } = this.session.protocol.opcodes
    const signal = this.#signalOf(numberOf(own))
    return this.session.call(multi, [
      { type: setData, body: { path: this.directory, data: Buffer.from(own.slice(-10)), version: -1 } },
      { type: create, body: { path: signal, data, acl, flags: 0 } },
      { type: remove, body: { path: signal, version: -1 } },
      { type: remove, body: { path: own, version: -1 } },
    ])
  }

  /** A path beside the directory, because a create in it would use up a number. */
  #signalOf(number: number): string {
    return `${this.directory}-${digitsOf(number)}`
  }
}

export const plainLocks: Record<HandOver['lock'], new (session: PlainSession, directory: string) => PlainLock> = {
  Mutex: PlainMutex,
  TicketMutex: PlainTickets,
  signalled: SignalledTickets,
}
