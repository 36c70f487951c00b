// Waits until it is the turn of a ticket. A waiter learns before its predecessor's end whether that is its turn, so the
// next holder has the lock one round trip after the release.
import { newPace, type Pace } from '../../client/recipe-support.ts'
import { join } from '../../protocol/index.ts'
import { onAbort } from '../../runtime/abort.ts'
import { NodeWatch } from '../node/node-watch.ts'
import type { OwnNode } from '../node/own-node.ts'
import { childNames, type LockQueue } from '../queue/queue.ts'
import { onLeft, onListed, onRead, onSeen, ticketName, type Ahead, type Seen, type Step } from './ticket.ts'

interface Contender {
  /** The queue in the directory of the ticket's life. */
  readonly queue: LockQueue
  readonly ownNode: OwnNode
  /** The number of the own ticket. */
  readonly number: number
  /** Reads which ticket before the own one was released last. */
  readReleased(): Promise<number | undefined>
}

/**
 * The watches of one waiter: on its own ticket, on the nearest one ahead, and on the one before that until it has left.
 *
 * If only the nearest ticket is ahead, it is the waiter's turn when that ticket is deleted, for whatever reason. The own
 * ticket must still exist then. On one connection events come in the order of their transactions, so its watch would
 * have reported an earlier deletion. After a reconnect that order is lost, and the watch is set again.
 */
export class TicketWait {
  readonly #contender: Contender
  readonly #signal: AbortSignal
  readonly #pace: Pace
  /** The watches on other tickets, by number. */
  readonly #watches = new Map<number, NodeWatch>()
  #own: NodeWatch | undefined
  /** Undefined if no ticket is ahead. */
  #ahead: Ahead | undefined
  #released: number | undefined
  #onChange: () => void = () => undefined

  /** @param signal removes the watches on other tickets when it aborts */
  constructor(contender: Contender, ahead: Ahead | undefined, signal: AbortSignal) {
    this.#contender = contender
    this.#ahead = ahead
    this.#signal = signal
    this.#pace = newPace(contender.queue.client)
    onAbort(signal, () => this.stop())
  }

  /** Resolves with true when it is the ticket's turn, and with false if the ticket was deleted. */
  async wait(): Promise<boolean> {
    const { client } = this.#contender.queue
    const signal = this.#signal
    for (;;) {
      const isTurn = await client.retry(() => this.#advance(), { signal })
      if (isTurn !== undefined && (!isTurn || !client.leaseSignal.aborted)) return isTurn
      // The lock is not granted in a session that is presumed lost.
      if (client.leaseSignal.aborted) await client.whenConnected({ signal })
    }
  }

  /** Removes the watches on other tickets. */
  stop(): void {
    this.#keepOnly([])
  }

  /** Executes one step. Returns undefined if it does not decide yet. */
  async #advance(): Promise<boolean | undefined> {
    this.#throwFailure()
    // The own ticket is watched first: the server answers in order, so it is known to exist when the others are watched.
    const own = this.#watchOwn()
    const ahead = this.#ahead
    const step: Step = ahead === undefined ? { do: 'take' } : onSeen(ahead, this.#watchAhead(ahead), this.#released)
    if (own.status === 'gone') return false
    switch (step.do) {
      case 'wait':
        await this.#nextChange()
        break
      case 'take':
        return this.#take(own)
      case 'read':
        await this.#moveTo(onLeft(step.ahead, await this.#readReleased()))
        break
      case 'pass':
        await this.#moveTo(step.ahead)
        break
      case 'list':
        return this.#list()
    }
    return undefined
  }

  /** Resolves with true if the own ticket exists. No ticket is ahead any more. */
  async #take(own: NodeWatch): Promise<boolean | undefined> {
    if (own.isThere) return true
    // The session may not read its own node, so no event reports its deletion.
    if (own.status === 'hidden') return this.#contender.ownNode.isThere({ signal: this.#signal })
    await this.#nextChange()
    return undefined
  }

  async #list(): Promise<boolean | undefined> {
    const { queue, number } = this.#contender
    const signal = this.#signal
    await this.#pace.wait(signal)
    // Usually this ticket is the head. If the list then shows only this one, its watch is set already.
    const likelyHead = (this.#released ?? -1) + 1
    if (likelyHead < number) this.#watch(likelyHead)
    const listed = onListed(number, await childNames(queue, { signal }))
    if (listed === 'gone') return false
    if (listed === 'first') this.#ahead = undefined
    else await this.#moveTo(listed)
    return undefined
  }

  async #moveTo(ahead: Ahead): Promise<void> {
    this.#ahead = ahead
    // If the nearest ticket has left too, only the list can decide.
    if (ahead.second === undefined || this.#watches.get(ahead.nearest)?.status === 'gone') return
    // Sent together with the read. If the second ticket is missing, it is then known whether it was released.
    this.#watchAhead(ahead)
    this.#ahead = onRead(ahead, await this.#readReleased())
  }

  async #readReleased(): Promise<number | undefined> {
    const released = await this.#contender.readReleased()
    this.#released = released
    return released
  }

  /** Watches the tickets ahead, and stops watching others. */
  #watchAhead({ nearest, second }: Ahead): { nearest: Seen; second: Seen } {
    const seen = {
      nearest: seenBy(this.#watch(nearest)),
      second: second === undefined ? ('missing' as const) : seenBy(this.#watch(second)),
    }
    this.#keepOnly([nearest, second])
    return seen
  }

  /** @throws the error of a read that has failed. The next call does not throw it again. */
  #throwFailure(): void {
    const own = this.#own
    if (own?.status === 'failed') {
      this.#own = undefined
      throw own.error as Error
    }
    for (const ticket of [this.#ahead?.nearest, this.#ahead?.second]) {
      const watch = ticket === undefined ? undefined : this.#watches.get(ticket)
      if (ticket === undefined || (watch?.status !== 'failed' && watch?.status !== 'hidden')) continue
      this.#watches.delete(ticket)
      throw watch.error as Error
    }
  }

  /** Sets a watch, unless the present one will still report the ticket's deletion or has reported it. */
  #watch(ticket: number): NodeWatch {
    const known = this.#watches.get(ticket)
    if (known !== undefined && (known.isPending || known.status === 'gone')) return known
    // A watch that is set after the signal has aborted would stay.
    this.#signal.throwIfAborted()
    const { client, directory } = this.#contender.queue
    const watch = new NodeWatch(client, join(directory, ticketName(ticket)), () => this.#onChange())
    this.#watches.set(ticket, watch)
    return watch
  }

  /** Watches the own ticket on the present connection. */
  #watchOwn(): NodeWatch {
    const known = this.#own
    if (known?.status === 'gone' || known?.status === 'hidden') return known
    return (this.#own = this.#contender.ownNode.watch(() => this.#onChange()))
  }

  #keepOnly(kept: readonly (number | undefined)[]): void {
    for (const [ticket, watch] of this.#watches) {
      if (kept.includes(ticket)) continue
      watch.stop()
      this.#watches.delete(ticket)
    }
  }

  async #nextChange(): Promise<void> {
    const signal = this.#signal
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(signal.reason as Error))
      this.#onChange = () => {
        stopListening()
        resolve()
      }
    })
  }
}

function seenBy({ status, hasFired }: NodeWatch): Seen {
  if (status === 'gone') return hasFired ? 'left' : 'missing'
  return status === 'there' ? 'there' : 'pending'
}
