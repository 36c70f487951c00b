// A machine that takes part in a run: its processes have a part of the sessions, and execute the organizer's commands.
import { Queue } from '../../src/recipes/index.ts'
import { rejection } from '../harness/aborted.ts'
import { progressMemory } from '../harness/progress-counters.ts'
import type { Unit } from '../harness/workers.ts'
import { Fleet, type Meeting, type Order, type Report } from './meeting.ts'
import { decode, MessageQueue } from './message-queue.ts'
import { processUnits } from './processes.ts'

const ORGANIZER_LOST = 'the machine that organizes the run has left it or died'
/** The time limit for closing the sessions if the organizer does not do so, ms. */
const CLOSE_TIMEOUT = 5000
/** The id of commands of this machine. Those of the organizer are positive. */
const OWN_ID = -1

/**
 * Takes part until the organizer dismisses this machine, or refuses it because the run has begun.
 * @param say called with a line for the user when something happens
 * @throws Error if the organizer has left or died; the signal's reason
 */
export async function takePart(
  meeting: Meeting,
  { processes }: { processes: number },
  say: (line: string) => void,
  stop: AbortController,
): Promise<void> {
  const { signal } = stop
  const organizer: { id: string | undefined } = { id: undefined }
  const onLeft = (id: string) => {
    if (id === organizer.id) stop.abort(new Error(ORGANIZER_LOST))
  }
  await using fleet = await Fleet.join(meeting, { processes, organizes: false }, { onLeft }, signal)
  say(`joined ${fleet.path} with ${processes} processes, and waiting for the machine with --machines`)
  const machines = await fleet.until(there => [...there.values()].some(({ organizes }) => organizes), signal)
  organizer.id = [...machines].find(([, { organizes }]) => organizes)?.[0]
  if (organizer.id === undefined || !fleet.machines.has(organizer.id)) throw new Error(ORGANIZER_LOST)
  const team = new Team(fleet, processes, error => stop.abort(error))
  const dismissed = new AbortController()
  const orders = new Queue(fleet.client, fleet.inboxOf(fleet.id)).consume(
    async ({ data }) => {
      for (const order of decode<Order>(data ?? Buffer.alloc(0)))
        if (order.is === 'begin') {
          say(`measuring ${order.servers}`)
          team.begin(order)
        } else if (order.is === 'command') team.send(order)
        else if (order.is === 'end') await team.end()
        else {
          if (order.is === 'refuse') say('the run has begun without this machine')
          dismissed.abort()
        }
    },
    { signal: AbortSignal.any([signal, dismissed.signal]) },
  )
  try {
    await Promise.race([orders, rejection(signal)])
    signal.throwIfAborted()
  } finally {
    await team.close()
  }
}

/** The processes of one run. */
class Team {
  readonly #fleet: Fleet
  readonly #processes: number
  readonly #failed: (error: Error) => void
  #units: readonly Unit[] = []
  #onClosed: () => void = () => undefined
  #outbox: string | undefined

  constructor(fleet: Fleet, processes: number, failed: (error: Error) => void) {
    this.#fleet = fleet
    this.#processes = processes
    this.#failed = failed
  }

  begin({ servers, fencePath, outbox }: Extract<Order, { is: 'begin' }>): void {
    const { client, id } = this.#fleet
    this.#outbox = outbox
    const post = new MessageQueue<Report>(new Queue(client, outbox), error => this.#failed(error as Error))
    this.#units = processUnits(this.#processes, servers, fencePath).map((start, unit) => {
      const report = (message: Report['message']) => {
        if ('id' in message && message.id === OWN_ID) this.#onClosed()
        else post.send({ machine: id, unit, message })
      }
      // The organizer counts what passes. These counters are not read.
      return start({ progress: progressMemory(), received: report, lost: error => report({ is: 'failed', error }) })
    })
  }

  send({ unit, message }: Extract<Order, { is: 'command' }>): void {
    this.#units[unit]?.send(message)
  }

  /** Closes the sessions of a run that has not ended. */
  async close(): Promise<void> {
    let open = this.#units.length
    if (open > 0)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, CLOSE_TIMEOUT)
        this.#onClosed = () => {
          if (--open > 0) return
          clearTimeout(timer)
          resolve()
        }
        for (const unit of this.#units) unit.send({ id: OWN_ID, command: 'close', args: [] })
      })
    const isOpen = this.#units.length > 0
    await this.end()
    // The organizer removes it otherwise.
    if (isOpen && this.#outbox !== undefined)
      await this.#fleet.client.deleteRecursive(this.#outbox).catch(() => undefined)
  }

  async end(): Promise<void> {
    const units = this.#units
    this.#units = []
    await Promise.all(units.map(unit => unit.terminate()))
  }
}
