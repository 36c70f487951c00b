// What can happen next in a state of an explored world.
import { describeFrame, type Packet } from './packet.ts'
import {
  isStale,
  LONGEST_HOLD,
  nextAt,
  PATIENCE,
  SESSION_TIMEOUT,
  withProcess,
  type FaultKind,
  type HeldBack,
  type Link,
  type ProcessState,
  type State,
  type World,
} from './world.ts'

/** One thing that can happen now. */
export interface Step {
  /** @param describe tells what a packet on this connection says */
  what(describe: (link: string, packet: Packet) => string): string
  /** The fault that it is, if it is one. */
  readonly fault?: FaultKind
  /** The connection whose next request the server executes. */
  readonly executes?: Link
  take(): State | Promise<State>
}

/**
 * Returns what can happen next. Empty at the end of the schedule, and if nothing can happen although a caller still waits.
 * @param kinds the faults that may still happen
 * @param localFirst false if also the order of what happens in different processes matters. Only for the check that it does not
 */
export function stepsOf(world: World, state: State, kinds: ReadonlySet<FaultKind>, localFirst = true): readonly Step[] {
  return new Steps(world, state, state.faultsLeft > 0 ? kinds : none).all(localFirst)
}

const none: ReadonlySet<FaultKind> = new Set()

/** True if all callers have ended. */
export const isOver = ({ processes }: State): boolean => processes.every(({ local }) => local.view.isDone)

/** Returns why no step is possible, if a caller still waits. */
export function lostWakeUp(world: World, { processes }: State): string {
  const waiting = world.scenario.processes.filter((_, nth) => processes[nth]?.local.view.isDone !== true)
  return `lost wake-up: ${waiting.join(' and ')} still wait after ${PATIENCE} ms in which nothing happened`
}

class Steps {
  readonly #world: World
  readonly #state: State
  readonly #faults: ReadonlySet<FaultKind>

  constructor(world: World, state: State, faults: ReadonlySet<FaultKind>) {
    this.#world = world
    this.#state = state
    this.#faults = faults
  }

  all(localFirst: boolean): readonly Step[] {
    const all = this.#acting()
    // What happens in one process does not depend on what happens elsewhere. So the order of processes does not matter,
    // and only the faults that strike this process must be tried before.
    const ready = localFirst ? all.find(nth => this.#isReady(nth)) : undefined
    if (ready !== undefined) return [...this.#inProcess(ready), ...this.#localFaults(ready)]
    const steps = all.flatMap(nth => [...this.#inProcess(nth), ...this.#atServer(nth)])
    if (this.#state.servers.view.timerAt <= this.#state.time)
      steps.push({
        what: () => 'the server notices that time has passed',
        take: () => this.#world.giveServers(this.#state, { is: 'timers' }),
      })
    const isQuiet = steps.length === 0
    if (isQuiet && isOver(this.#state)) return this.#last(all)
    const optional = [...all.flatMap(nth => this.#optional(nth, isQuiet)), ...this.#lag()]
    if (isQuiet && this.#canPass(optional)) steps.push(this.#pass())
    if (steps.length + optional.length === 0) return []
    return [
      ...steps,
      ...optional,
      ...all.flatMap(nth =>
        !localFirst || isQuiet || this.#view(nth).next !== undefined ? this.#localFaults(nth) : [],
      ),
      ...all.flatMap(nth => this.#serverFaults(nth, isQuiet)),
      ...this.#beginLag(),
    ]
  }

  /** If two processes that are alike have done nothing yet, a schedule is the same with their names exchanged. */
  #acting(): readonly number[] {
    const all = [...this.#state.processes.keys()]
    if (this.#world.scenario.areAlike !== true) return all
    const first = all.findIndex(nth => this.#world.isAsBegun(this.#state, nth))
    return all.filter(nth => nth <= first || !this.#world.isAsBegun(this.#state, nth))
  }

  /**
   * A session can still end when all callers have ended. It must be tried, because it is the same as a session that ends
   * before the last reply is received.
   */
  #last(all: readonly number[]): readonly Step[] {
    const faults = this.#state.isFinal ? [] : all.flatMap(nth => this.#serverFaults(nth, true))
    const end = { what: () => 'nothing more happens', take: () => ({ ...this.#state, isFinal: true }) }
    return faults.length === 0 ? [] : [end, ...faults]
  }

  #process(nth: number): ProcessState {
    return this.#state.processes[nth] as ProcessState
  }

  #view(nth: number) {
    return this.#process(nth).local.view
  }

  #name(nth: number): string {
    return this.#world.scenario.processes[nth] as string
  }

  /** The connection on which a packet of the server can be delivered. */
  #receiving(nth: number): number {
    const { heldBack, links } = this.#process(nth)
    return heldBack === 'answers' ? -1 : links.findIndex(({ isLeft, down }) => !isLeft && down.length > 0)
  }

  /**
   * True if the client in this process can do something without the server. The next step of its caller does not count:
   * it can happen before or after what the server sends meanwhile.
   */
  #isReady(nth: number): boolean {
    const { heldBack, local } = this.#process(nth)
    return heldBack !== 'process' && (local.view.timerAt <= this.#state.time || this.#receiving(nth) !== -1)
  }

  #inProcess(nth: number): Step[] {
    const { heldBack, local, links } = this.#process(nth)
    const { next, timerAt } = local.view
    if (heldBack === 'process') return []
    const steps: Step[] = []
    const receiving = this.#receiving(nth)
    const [packet] = links[receiving]?.down ?? []
    if (packet !== undefined)
      steps.push({
        what: describe =>
          `server → ${this.#name(nth)}: ${packet === 'closed' ? 'end of the connection' : describe(`${nth}.${receiving}`, packet)}`,
        take: () => this.#world.receive(this.#state, nth, receiving),
      })
    if (next !== undefined)
      steps.push({
        what: () => `${this.#name(nth)} ${next}`,
        take: () => this.#world.give(this.#state, nth, { is: 'step' }),
      })
    if (timerAt <= this.#state.time)
      steps.push({
        what: () => `timers of ${this.#name(nth)} fire`,
        take: () => this.#world.give(this.#state, nth, { is: 'timers' }),
      })
    return steps
  }

  /** The next requests of the process that the server can execute. */
  #atServer(nth: number): Step[] {
    if (this.#process(nth).heldBack === 'requests') return []
    return this.#process(nth).links.flatMap((link, i) =>
      !link.isLeft && link.up.length > 0 ? [this.#execution(nth, link, i, '')] : [],
    )
  }

  #execution(nth: number, link: Link, i: number, when: string): Step {
    return {
      what: () => `${when}${this.#name(nth)} → server: ${link.up[0] === undefined ? '' : describeFrame(link.up[0])}`,
      executes: link,
      take: () => this.#world.execute(this.#state, nth, i),
    }
  }

  /** Steps that happen late, or never. */
  #optional(nth: number, isQuiet: boolean): Step[] {
    const { heldBack, heldSince, links } = this.#process(nth)
    const { time } = this.#state
    const steps: Step[] = []
    const heldFor = time - heldSince
    if (heldBack !== undefined && isQuiet && (heldFor === 0 || heldFor >= SESSION_TIMEOUT))
      steps.push({
        what: () => `${this.#name(nth)} goes on: ${released[heldBack]}`,
        take: () => this.#world.resume({ ...this.#state, lastChange: time }, nth),
      })
    for (const [i, link] of links.entries()) {
      if (!isStale(link)) continue
      if (link.up.length > 0) steps.push(this.#execution(nth, link, i, 'late, '))
      steps.push({
        what: () => `the server notices that ${this.#name(nth)} has left a connection`,
        take: () => this.#world.end(this.#state, nth, i),
      })
    }
    return steps
  }

  #localFaults(nth: number): Step[] {
    const { heldBack, links, local } = this.#process(nth)
    if (local.view.isDone || heldBack === 'process') return []
    const steps: Step[] = []
    if (links.some(({ isLeft }) => !isLeft)) steps.push(...this.#cut(nth))
    if (local.view.canAbort)
      steps.push(
        ...this.#fault('abort', `the caller of ${this.#name(nth)} gives up`, struck =>
          this.#world.give(struck, nth, { is: 'abort' }),
        ),
      )
    if (heldBack !== undefined) return steps
    if (this.#receiving(nth) !== -1) steps.push(...this.#hold(nth, 'answers'))
    return [...steps, ...this.#hold(nth, 'process')]
  }

  #serverFaults(nth: number, isQuiet: boolean): Step[] {
    const { heldBack, local } = this.#process(nth)
    const { session, isDone } = local.view
    const steps: Step[] = []
    const isSending = !isDone && this.#atServer(nth).length > 0
    if (!isQuiet && isSending && local.view.next === undefined) steps.push(...this.#cut(nth))
    if (heldBack === undefined && isSending) steps.push(...this.#hold(nth, 'requests'))
    const own = this.#state.servers.view.snapshot.sessions.find(({ id }) => id === session)
    const [path] = own?.ephemerals ?? []
    if (this.#world.scenario.hasOperator === true && path !== undefined)
      steps.push(
        ...this.#fault('delete', `an operator deletes ${path}, the node of ${this.#name(nth)}`, struck =>
          this.#world.giveServers(struck, { is: 'deleted', path }),
        ),
      )
    if (own !== undefined)
      steps.push(
        ...this.#fault('expire', `the server ends the session of ${this.#name(nth)}`, struck =>
          this.#world.giveServers(this.#world.record(struck, { is: 'killed', session }), { is: 'expired', session }),
        ),
      )
    return steps
  }

  #cut(nth: number): Step[] {
    return this.#fault('cut', `the connection of ${this.#name(nth)} breaks`, struck =>
      this.#world.give(struck, nth, { is: 'cut' }),
    )
  }

  #hold(nth: number, heldBack: HeldBack): Step[] {
    return this.#fault(heldBack, `${held[heldBack]} ${this.#name(nth)}`, struck =>
      withProcess(struck, nth, { heldBack, heldSince: struck.time }),
    )
  }

  #fault(fault: FaultKind, what: string, take: (struck: State) => State | Promise<State>): Step[] {
    if (!this.#faults.has(fault)) return []
    const { time, faultsLeft } = this.#state
    const strike = () => take({ ...this.#state, lastChange: time, faultsLeft: faultsLeft - 1 })
    return [{ what: () => what, fault, take: strike }]
  }

  #lag(): Step[] {
    if (this.#state.lagsSince === undefined) return []
    return [{ what: () => 'the last server catches up', take: () => this.#world.catchUp(this.#state) }]
  }

  #beginLag(): Step[] {
    if (this.#state.lagsSince !== undefined || this.#world.scenario.servers !== 3) return []
    return this.#fault('lag', 'the last server begins to lag', async struck => ({
      ...(await this.#world.giveServers(struck, { is: 'lags' })),
      lagsSince: struck.time,
    }))
  }

  #pass(): Step {
    const { time } = this.#state
    return { what: () => `${nextAt(this.#state) - time} ms pass`, take: () => this.#world.pass(this.#state) }
  }

  #canPass(optional: readonly Step[]): boolean {
    const { time, lastChange, processes, lagsSince } = this.#state
    const isHeldTooLong = processes.some(
      ({ heldBack, heldSince }) => heldBack !== undefined && time - heldSince >= LONGEST_HOLD,
    )
    const isLate = time - lastChange >= PATIENCE
    return (
      nextAt(this.#state) < Infinity && !isHeldTooLong && lagsSince === undefined && !(isLate && optional.length === 0)
    )
  }
}

const held: Record<HeldBack, string> = {
  answers: 'the network holds back what the server sends to',
  requests: 'the network holds back what is sent by',
  process: 'the system stops the process of',
}

const released: Record<HeldBack, string> = {
  answers: 'what the server sent arrives',
  requests: 'what it sent is on its way again',
  process: 'its process runs again',
}
